// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/quantity_format.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace gradlab::app {

namespace {

std::string fixed(double value, int decimals) {
    std::array<char, 400> text{}; // the largest double has 309 digits
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value,
                                            std::chars_format::fixed, decimals);
    return error == std::errc{} ? std::string(text.data(), end) : std::string("?");
}

} // namespace

std::string shortNumber(double value) {
    if (std::isnan(value))
        return "nan";
    if (std::isinf(value))
        return value > 0.0 ? "inf" : "-inf";
    const double size = std::abs(value);
    if (size >= 1e6 || (size > 0.0 && size < 1e-3)) {
        std::array<char, 32> text{};
        const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value,
                                                std::chars_format::scientific, 2);
        return error == std::errc{} ? std::string(text.data(), end) : std::string("?");
    }
    if (size >= 100.0)
        return fixed(value, 0);
    return fixed(value, size >= 10.0 ? 1 : 2);
}

std::string shortBytes(double bytes) {
    constexpr std::array<std::string_view, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    for (; bytes >= 1023.5 && unit + 1 < kUnits.size(); ++unit)
        bytes /= 1024.0;
    const bool whole = unit == 0 || bytes >= 99.95;
    return fixed(bytes, whole ? 0 : bytes >= 9.995 ? 1 : 2) + " " + std::string(kUnits[unit]);
}

std::string shortDuration(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0.0)
        return "?";
    if (seconds < 9.995)
        return fixed(seconds, 2) + " s";
    const double rounded = std::round(seconds);
    if (rounded < 60.0)
        return fixed(rounded, 0) + " s";
    const double minutes = std::floor(rounded / 60.0);
    if (minutes < 60.0)
        return fixed(minutes, 0) + " min " + fixed(rounded - 60.0 * minutes, 0) + " s";
    const double hours = std::floor(minutes / 60.0);
    return fixed(hours, 0) + " h " + fixed(minutes - 60.0 * hours, 0) + " min";
}

std::string fewerBytes(double dense, double sent) {
    if (!(sent > 0.0))
        return "no bytes";
    const double factor = dense / sent;
    if (factor < 1.05)
        return "as many bytes";
    return fixed(factor, factor < 9.95 ? 1 : 0) + "× fewer bytes";
}

} // namespace gradlab::app
