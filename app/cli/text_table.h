// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of text as columns on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gradlab::app {

/// `text` with blanks behind it up to `columns`.
[[nodiscard]] std::string padded(const std::string& text, std::size_t columns);
/// `text` with blanks before it up to `columns`.
[[nodiscard]] std::string paddedLeft(const std::string& text, std::size_t columns);

/// A line a row; all rows are equally long. The first and the last column begin at the same place,
/// the others end at it.
[[nodiscard]] std::string textTable(const std::vector<std::vector<std::string>>& rows);

} // namespace gradlab::app
