// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A file that appears whole or not at all: written aside in the same folder, synced, renamed, and
// the folder synced. Leaves out: locking against a second writer of the same path.
#pragma once

#include "engine/core/export.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace gradlab::engine {

/// Without commit() the destructor removes what was written and leaves an earlier file untouched.
class GRADLAB_ENGINE_EXPORT AtomicFile {
public:
    /// @throws DataError if the folder is missing or not writable, or `path` exists and is no
    /// regular file.
    explicit AtomicFile(std::filesystem::path path);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    /// Appends. @throws DataError when the disk is full or fails.
    void write(std::span<const std::byte> bytes);
    void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
    /// Makes the file visible under its name; nothing may be written afterwards. @throws DataError.
    void commit();

private:
    [[noreturn]] void fail(const char* what) const;
    void syncFolder() const;
    std::filesystem::path path_;
    std::filesystem::path aside_;
    int descriptor_ = -1;
};

} // namespace gradlab::engine
