// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/core/json_text.h"

#include "engine/core/check.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace gradlab::engine {

namespace {

constexpr std::uint64_t kLargestExact = std::uint64_t{1} << 53U;

/// Bytes of the well-formed UTF-8 character at `text`'s start, 0 if there is none (RFC 3629).
std::size_t characterLength(std::string_view text) {
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
    const unsigned lead = byte(0);
    if (lead < 0x80)
        return 1;
    if (lead >= 0xC2 && lead <= 0xDF)
        return continues(1) ? 2 : 0;
    if (lead >= 0xE0 && lead <= 0xEF) {
        const unsigned low = lead == 0xE0 ? 0xA0 : 0x80;  // no overlong forms
        const unsigned high = lead == 0xED ? 0x9F : 0xBF; // no surrogates
        return byte(1) >= low && byte(1) <= high && continues(2) ? 3 : 0;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        const unsigned low = lead == 0xF0 ? 0x90 : 0x80;
        const unsigned high = lead == 0xF4 ? 0x8F : 0xBF;
        return byte(1) >= low && byte(1) <= high && continues(2) && continues(3) ? 4 : 0;
    }
    return 0;
}

void appendEscaped(std::string& out, char c) {
    constexpr std::string_view kHex = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
        out += '\\';
        out += c;
    } else if (c == '\n') {
        out += "\\n";
    } else if (c == '\t') {
        out += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
        out += "\\u00";
        out += kHex[byte >> 4U];
        out += kHex[byte & 15U];
    } else {
        out += c;
    }
}

} // namespace

std::string formatReal(double value) {
    if (std::isnan(value))
        return "nan"; // whatever its sign
    std::array<char, 32> text{};
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
    GRADLAB_CHECK(error == std::errc{}, value);
    return {text.data(), end};
}

std::string jsonString(std::string_view text) {
    std::string out = "\"";
    while (!text.empty()) {
        const std::size_t length = characterLength(text);
        if (length == 1)
            appendEscaped(out, text.front());
        else if (length == 0)
            out += "\xEF\xBF\xBD";
        else
            out += text.substr(0, length);
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return out + "\"";
}

void JsonLine::key(std::string_view name) {
    if (!first_)
        text_ += ",";
    first_ = false;
    text_ += jsonString(name);
    text_ += ":";
}

void JsonLine::add(std::string_view name, std::string_view text) {
    key(name);
    text_ += jsonString(text);
}

void JsonLine::add(std::string_view name, double value) {
    key(name);
    if (std::isfinite(value)) {
        text_ += formatReal(value);
        return;
    }
    text_ += "null";
    if (!nonfinite_.empty())
        nonfinite_ += ",";
    nonfinite_ += jsonString(group_ + std::string(name)) + ":" + jsonString(formatReal(value));
}

void JsonLine::add(std::string_view name, bool value) {
    key(name);
    text_ += value ? "true" : "false";
}

void JsonLine::add(std::string_view name, std::uint64_t value) {
    key(name);
    const std::string digits = std::to_string(value);
    text_ += value > kLargestExact ? jsonString(digits) : digits;
}

void JsonLine::addJson(std::string_view name, std::string_view json) {
    key(name);
    text_ += json;
}

void JsonLine::begin(std::string_view name) {
    GRADLAB_CHECK(group_.empty(), group_, name);
    key(name);
    text_ += "{";
    group_ = std::string(name) + ".";
    first_ = true;
}

void JsonLine::end() {
    GRADLAB_CHECK(!group_.empty());
    text_ += "}";
    group_.clear();
    first_ = false;
}

std::string JsonLine::finish() {
    GRADLAB_CHECK(group_.empty(), group_);
    if (!nonfinite_.empty())
        addJson("nonfinite", "{" + nonfinite_ + "}");
    text_ += "}\n";
    return std::move(text_);
}

} // namespace gradlab::engine
