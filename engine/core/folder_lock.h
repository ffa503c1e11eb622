// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// One writer of a folder at a time. The lock is the kernel's: it goes with the process, however it
// ends, and leaves no file behind. Readers need none.
#pragma once

#include <filesystem>

namespace gradlab::engine {

class FolderLock {
public:
    /// @throws DataError if another holds it, or the folder cannot be opened
    explicit FolderLock(const std::filesystem::path& folder);
    ~FolderLock();
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;

private:
    int descriptor_ = -1;
};

} // namespace gradlab::engine
