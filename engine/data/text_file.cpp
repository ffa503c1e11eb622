// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/text_file.h"

#include "engine/core/errors.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <system_error>

namespace gradlab::engine {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

[[noreturn]] void failRead(const std::filesystem::path& path, const std::string& why) {
    throw DataError("cannot read the text (" + why + "): " + path.string() + "; check the path");
}

void checkIsText(const std::string& text, const std::filesystem::path& path) {
    const std::size_t zero = text.find('\0');
    if (zero == std::string::npos)
        return;
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(zero);
    throw DataError("not a text file (it holds a NUL byte): " + path.string() + " line " +
                    std::to_string(1 + std::count(text.begin(), end, '\n')) + " (byte " +
                    std::to_string(zero) + "); give plain text in UTF-8");
}

} // namespace

std::string readTextFile(const std::filesystem::path& path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status))
        failRead(path, error ? error.message() : "no such file");
    if (!std::filesystem::is_regular_file(status))
        failRead(path, "not a regular file");
    const auto size = std::filesystem::file_size(path, error);
    std::ifstream stream(path, std::ios::binary);
    if (error || !stream)
        failRead(path, std::generic_category().message(errno));
    std::string text(size, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(size));
    if (static_cast<std::uintmax_t>(stream.gcount()) != size)
        failRead(path, "it ended early");
    if (text.starts_with(kByteOrderMark))
        text.erase(0, kByteOrderMark.size());
    checkIsText(text, path);
    if (std::ranges::all_of(text, isAsciiSpace))
        throw DataError("the file is empty: " + path.string() + "; give one with text");
    return text;
}

std::vector<TextLine> nonBlankLines(std::string_view text) {
    std::vector<TextLine> lines;
    std::size_t number = 0;
    while (!text.empty()) {
        ++number;
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        if (!std::ranges::all_of(line, isAsciiSpace))
            lines.push_back({line, number});
    }
    return lines;
}

std::size_t codePointBytes(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned lead = byte(0);
    if (lead < 0x80)
        return 1;
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() < length)
        return 0;
    // The second byte's range excludes overlong forms, surrogates and what lies beyond U+10FFFF.
    const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (byte(1) < low || byte(1) > high)
        return 0;
    for (std::size_t i = 2; i < length; ++i)
        if ((byte(i) & 0xC0U) != 0x80U)
            return 0;
    return length;
}

} // namespace gradlab::engine
