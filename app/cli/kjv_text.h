// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// builtin:kjv, the King James text of Debian's package bible-kjv, as a cached text file: a verse a
// line, verse marks dropped, lower case, punctuation apart.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace gradlab::app {

/// "Ge1:1 In the beginning God …" → "in the beginning god …"; empty if the line has no verse mark.
[[nodiscard]] std::string normaliseVerse(std::string_view line);

/// $XDG_CACHE_HOME/gradlab/kjv.txt or ~/.cache/gradlab/kjv.txt; made by the program `bible` if it
/// is not there.
/// @throws DataError if `bible` is missing or the file cannot be written
[[nodiscard]] std::filesystem::path kjvTextFile();

} // namespace gradlab::app
