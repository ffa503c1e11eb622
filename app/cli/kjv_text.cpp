// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/kjv_text.h"

#include "engine/core/atomic_file.h"
#include "engine/core/errors.h"

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace gradlab::app {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kVerses = 31102;

bool isLetter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool isDigit(char c) {
    return c >= '0' && c <= '9';
}

/// Length of "1Sa12:3 " at the line's start, 0 if there is none.
std::size_t verseMarkLength(std::string_view line) {
    std::size_t at = 0;
    const auto skip = [&](bool (*matches)(char)) {
        const std::size_t start = at;
        while (at < line.size() && matches(line[at]))
            ++at;
        return at > start;
    };
    skip(isDigit);
    if (!skip(isLetter) || !skip(isDigit) || at >= line.size() || line[at] != ':')
        return 0;
    ++at;
    if (!skip(isDigit) || at >= line.size() || line[at] != ' ')
        return 0;
    return at + 1;
}

/// An apostrophe or hyphen between letters belongs to the word: "lord's", "beth-el".
bool joinsLetters(std::string_view text, std::size_t at) {
    return (text[at] == '\'' || text[at] == '-') && at > 0 && at + 1 < text.size() &&
           isLetter(text[at - 1]) && isLetter(text[at + 1]);
}

std::string bibleOutput() {
    // Without a terminal to ask, and without its remarks on ours.
    FILE* pipe = ::popen("bible -f gen1:1-rev22:21 </dev/null 2>/dev/null", "r");
    if (pipe == nullptr)
        throw engine::DataError("cannot start a program: bible; free some memory");
    std::string text;
    std::array<char, 65536> block{};
    while (const std::size_t size = std::fread(block.data(), 1, block.size(), pipe))
        text.append(block.data(), size);
    const int status = ::pclose(pipe);
    if (status != 0 && text.empty())
        throw engine::DataError("the King James text is missing: builtin:kjv; install it with "
                                "'apt-get install bible-kjv' or give another --corpus");
    return text;
}

std::string makeText() {
    const std::string output = bibleOutput();
    std::string text;
    std::size_t verses = 0;
    for (std::size_t at = 0; at < output.size();) {
        const std::size_t end = std::min(output.find('\n', at), output.size());
        const std::string verse = normaliseVerse(std::string_view(output).substr(at, end - at));
        at = end + 1;
        if (verse.empty())
            continue;
        text += verse;
        text += '\n';
        ++verses;
    }
    if (verses != kVerses)
        throw engine::DataError("the King James text has " + std::to_string(verses) +
                                " verses instead of " + std::to_string(kVerses) +
                                ": program bible; install Debian's bible-kjv anew");
    return text;
}

fs::path cacheFolder() {
    // Nothing in these programs changes the environment.
    const char* cache = std::getenv("XDG_CACHE_HOME"); // NOLINT(concurrency-mt-unsafe)
    if (cache != nullptr && *cache == '/')
        return fs::path(cache) / "gradlab";
    const char* home = std::getenv("HOME"); // NOLINT(concurrency-mt-unsafe)
    if (home != nullptr && *home == '/')
        return fs::path(home) / ".cache" / "gradlab";
    throw engine::DataError("no place for the King James text: neither XDG_CACHE_HOME nor HOME is "
                            "set; set one of them");
}

} // namespace

std::string normaliseVerse(std::string_view line) {
    const std::size_t mark = verseMarkLength(line);
    if (mark == 0)
        return {};
    const std::string_view text = line.substr(mark);
    std::string verse;
    const auto separate = [&] {
        if (!verse.empty() && verse.back() != ' ')
            verse += ' ';
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == ' ' || c == '\t' || c == '\r') {
            separate();
        } else if (isLetter(c) || isDigit(c) || joinsLetters(text, i)) {
            verse += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        } else {
            separate();
            verse += c;
            separate();
        }
    }
    while (verse.ends_with(' '))
        verse.pop_back();
    return verse;
}

fs::path kjvTextFile() {
    fs::path file = cacheFolder() / "kjv.txt";
    std::error_code error;
    if (fs::is_regular_file(file, error) && fs::file_size(file, error) > 0)
        return file;
    const std::string text = makeText();
    fs::create_directories(file.parent_path(), error);
    if (error)
        throw engine::DataError("cannot make the folder (" + error.message() +
                                "): " + file.parent_path().string() + "; set XDG_CACHE_HOME");
    engine::AtomicFile out(file);
    out.write(std::string_view(text));
    out.commit();
    return file;
}

} // namespace gradlab::app
