// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Text from disk, checked to be text. Leaves out: what a token is (vocabulary.h).
#pragma once

#include "engine/core/export.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace gradlab::engine {

/// A whole file; a byte order mark of UTF-8 at its start is dropped.
/// @throws DataError if it is missing, unreadable, no regular file, empty, or holds a NUL byte.
[[nodiscard]] std::string readTextFile(const std::filesystem::path& path);

/// One line that holds more than white space, without its end; `number` counts all lines from 1.
struct TextLine {
    std::string_view text;
    std::size_t number = 0;
};

/// The lines of `text` that are not blank. Lines end with LF or CR LF.
[[nodiscard]] std::vector<TextLine> nonBlankLines(std::string_view text);

/// White space as the tokens' rule has it: ASCII's six characters, whatever the locale.
[[nodiscard]] constexpr bool isAsciiSpace(char c) noexcept {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/// Bytes of the code point that starts `text`: 1 … 4, or 0 if it is not valid UTF-8 (overlong
/// forms, surrogates and values beyond U+10FFFF are not). `text` must not be empty.
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::size_t codePointBytes(std::string_view text) noexcept;

} // namespace gradlab::engine
