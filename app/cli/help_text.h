// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What --help prints: made from the schema and the registry, so that it lists what there is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gradlab::app {

[[nodiscard]] std::string programHelp();
[[nodiscard]] std::string trainHelp();
[[nodiscard]] std::string compressHelp();
[[nodiscard]] std::string benchHelp();

/// `text` in lines of at most `width` columns, each beginning with `indent` spaces. Words are not
/// broken.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t indent, std::size_t width);

/// Columns that UTF-8 text takes, one a character.
[[nodiscard]] std::size_t columnsOf(std::string_view text);

} // namespace gradlab::app
