// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A file that grows by whole records: each write goes to the system at once, so that another
// program can read it at any time and a crash loses nothing but the record being written.
#pragma once

#include "engine/core/export.h"

#include <filesystem>
#include <span>
#include <string_view>

namespace gradlab::engine {

class GRADLAB_ENGINE_EXPORT AppendFile {
public:
    /// Creates the file or goes on at its end. @throws DataError naming it.
    explicit AppendFile(std::filesystem::path path);
    ~AppendFile();
    AppendFile(const AppendFile&) = delete;
    AppendFile& operator=(const AppendFile&) = delete;

    /// @throws DataError when the disk is full or fails.
    void append(std::string_view bytes);
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
    int descriptor_ = -1;
};

} // namespace gradlab::engine
