// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Rates and durations as people write them: "100Mbit", "9600", "20us". Declared in field_text.h.
#include "engine/core/json_text.h"
#include "engine/training/field_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace gradlab::engine {

namespace {

/// A unit's name and its power of ten.
struct Unit {
    std::string_view name;
    int exponent;
};

/// Largest first, so that formatting finds the most readable one.
constexpr std::array<Unit, 5> kRateUnits = {
    {{"Tbit", 12}, {"Gbit", 9}, {"Mbit", 6}, {"kbit", 3}, {"bit", 0}}};
constexpr std::array<Unit, 4> kTimeUnits = {{{"s", 0}, {"ms", -3}, {"us", -6}, {"ns", -9}}};

constexpr std::string_view kUnlimited = "unlimited";
constexpr std::string_view kAsBandwidth = "as-bandwidth";

std::string lowered(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) {
        if (c >= 'A' && c <= 'Z')
            c = static_cast<char>(c - 'A' + 'a');
    }
    return lower;
}

/// number · 10^exponent, rounded once: the exponent is appended to the decimal text before it is
/// read.
std::optional<double> scaled(std::string_view number, int exponent) {
    if (number.empty() || number.front() == '+' || number.find_first_of("iInNxX") != number.npos)
        return std::nullopt;
    std::string text(number);
    const auto mark = text.find_first_of("eE");
    if (mark == std::string::npos) {
        text += 'e';
        text += std::to_string(exponent);
    } else {
        int own = 0;
        const char* first = text.data() + mark + 1;
        const char* last = text.data() + text.size();
        const auto [end, error] = std::from_chars(*first == '+' ? first + 1 : first, last, own);
        if (error != std::errc{} || end != last || std::abs(own) > 400)
            return std::nullopt;
        text.resize(mark + 1);
        text += std::to_string(own + exponent);
    }
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

template <std::size_t N>
std::optional<double> parseWithUnit(std::string_view text, const std::array<Unit, N>& units) {
    const std::string lower = lowered(text);
    // The unit is what follows the last digit or point; "1e6" has none.
    const auto lastDigit = lower.find_last_of("0123456789.");
    if (lastDigit == std::string::npos)
        return std::nullopt;
    const std::string_view number = std::string_view(lower).substr(0, lastDigit + 1);
    std::string_view unit = std::string_view(lower).substr(lastDigit + 1);
    while (unit.starts_with(' '))
        unit.remove_prefix(1);
    if (unit.empty())
        return scaled(number, 0);
    for (const Unit& known : units) {
        if (lowered(known.name) == unit)
            return scaled(number, known.exponent);
    }
    return std::nullopt;
}

/// The shortest number in the largest unit that gives at least 1 and reads back as the same double.
template <std::size_t N>
std::string formatWithUnit(double value, const std::array<Unit, N>& units) {
    for (const Unit& unit : units) {
        // Powers of ten up to 22 are exact, their inverses are not.
        const double power = std::pow(10.0, std::abs(unit.exponent));
        const double coefficient = unit.exponent < 0 ? value * power : value / power;
        if (std::abs(coefficient) < 1.0)
            continue;
        const std::string number = formatReal(coefficient);
        // Long digits mean that the unit does not fit; a smaller one or the plain number will.
        if (number.size() <= 8 && scaled(number, unit.exponent) == value)
            return number + std::string(unit.name);
    }
    return {};
}

} // namespace

std::optional<double> parseRate(std::string_view text, const std::vector<std::string>& words) {
    const std::string lower = lowered(text);
    if (std::find(words.begin(), words.end(), lower) != words.end()) {
        if (lower == kUnlimited)
            return std::numeric_limits<double>::infinity();
        if (lower == kAsBandwidth)
            return 0.0;
    }
    std::string_view rest = lower;
    if (rest.ends_with("/s"))
        rest.remove_suffix(2);
    return parseWithUnit(rest, kRateUnits);
}

std::string formatRate(double bitsPerSecond) {
    if (std::isinf(bitsPerSecond) && bitsPerSecond > 0.0)
        return std::string(kUnlimited);
    if (bitsPerSecond == 0.0)
        return std::string(kAsBandwidth);
    const std::string text = formatWithUnit(bitsPerSecond, kRateUnits);
    return text.empty() ? formatReal(bitsPerSecond) : text;
}

std::optional<double> parseDuration(std::string_view text) {
    return parseWithUnit(text, kTimeUnits);
}

std::string formatDuration(double seconds) {
    const std::string text = formatWithUnit(seconds, kTimeUnits);
    return text.empty() ? formatReal(seconds) + "s" : text;
}

} // namespace gradlab::engine
