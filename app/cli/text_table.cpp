// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/text_table.h"

#include "app/cli/help_text.h"

#include <algorithm>

namespace gradlab::app {

std::string padded(const std::string& text, std::size_t columns) {
    const std::size_t width = columnsOf(text);
    return width >= columns ? text : text + std::string(columns - width, ' ');
}

std::string paddedLeft(const std::string& text, std::size_t columns) {
    const std::size_t width = columnsOf(text);
    return width >= columns ? text : std::string(columns - width, ' ') + text;
}

std::string textTable(const std::vector<std::vector<std::string>>& rows) {
    std::string text;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t column = 0; column < row.size(); ++column) {
            std::size_t width = 0;
            for (const auto& other : rows)
                width = std::max(width, columnsOf(other[column]));
            line += column == 0
                        ? padded(row[column], width)
                        : "  " + (column + 1 == row.size() ? row[column]
                                                           : paddedLeft(row[column], width));
        }
        while (line.ends_with(' '))
            line.pop_back();
        text += line + "\n";
    }
    return text;
}

} // namespace gradlab::app
