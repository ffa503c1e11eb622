// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/axis_ticks.h"

#include "engine/core/check.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>

namespace gradlab::widgets {

namespace {

constexpr double kKibi = 1024.0;

struct Unit {
    double size;
    const char* name;
};
constexpr std::array kByteUnits{Unit{1.0, "B"}, Unit{kKibi, "KiB"}, Unit{kKibi * kKibi, "MiB"},
                                Unit{kKibi * kKibi * kKibi, "GiB"},
                                Unit{kKibi * kKibi * kKibi * kKibi, "TiB"}};
constexpr std::array kSecondUnits{Unit{1e-6, "µs"}, Unit{1e-3, "ms"}, Unit{1.0, "s"},
                                  Unit{60.0, "min"}, Unit{3600.0, "h"}};
constexpr std::array kNumberUnits{Unit{1.0, ""}, Unit{1e3, "k"}, Unit{1e6, "M"}, Unit{1e9, "G"}};

/// `digits` significant digits, without an exponent where that stays short, no trailing zeros.
std::string plainNumber(double value, int digits) {
    if (value == 0.0)
        return "0";
    std::array<char, 64> buffer{};
    const double magnitude = std::abs(value);
    const bool scientific = magnitude < 1e-4 || magnitude >= 1e15;
    const int decimals =
        std::clamp(digits - 1 - static_cast<int>(std::floor(std::log10(magnitude))), 0, 18);
    const auto written = scientific
                             ? std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                             std::chars_format::scientific, digits - 1)
                             : std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                             std::chars_format::fixed, decimals);
    std::string text(buffer.data(), written.ptr);
    const std::size_t exponent = text.find('e');
    std::string mantissa = text.substr(0, exponent);
    if (mantissa.find('.') != std::string::npos) {
        mantissa.erase(mantissa.find_last_not_of('0') + 1);
        if (mantissa.back() == '.')
            mantissa.pop_back();
    }
    return exponent == std::string::npos ? mantissa : mantissa + text.substr(exponent);
}

/// The largest unit of which `magnitude` is at least one; rounding to `digits` must not reach the
/// next unit ("1000 ms").
const Unit& unitFor(std::span<const Unit> units, double magnitude) {
    const Unit* found = &units.front();
    for (const Unit& unit : units)
        if (magnitude >= unit.size * 0.9995)
            found = &unit;
    return *found;
}

std::span<const Unit> unitsOf(ValueKind kind) {
    switch (kind) {
    case ValueKind::Bytes:
        return kByteUnits;
    case ValueKind::Seconds:
        return kSecondUnits;
    case ValueKind::Number:
    case ValueKind::Share:
        break;
    }
    return kNumberUnits;
}

std::string withUnit(const std::string& number, const Unit& unit, ValueKind kind) {
    const std::string name = unit.name;
    if (name.empty())
        return number;
    return kind == ValueKind::Number ? number + name : number + " " + name;
}

/// 1, 2 or 5 times a power of ten, the nearest at or above.
double roundUp125(double value) {
    const double power = std::pow(10.0, std::floor(std::log10(value)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (value <= factor * power * (1.0 + 1e-9))
            return factor * power;
    return 10.0 * power;
}

double secondsStep(double raw) {
    constexpr std::array kSteps{60.0,   120.0,  300.0,   600.0,   900.0,  1800.0,
                                3600.0, 7200.0, 10800.0, 21600.0, 43200.0};
    if (raw <= 30.0)
        return roundUp125(raw) > 20.0 && raw > 10.0 ? 30.0 : roundUp125(raw);
    for (const double step : kSteps)
        if (raw <= step)
            return step;
    return 86400.0 * roundUp125(raw / 86400.0);
}

double bytesStep(double raw) {
    if (raw <= 1.0)
        return 1.0;
    const Unit& unit = unitFor(kByteUnits, raw);
    const double step = roundUp125(raw / unit.size);
    // 1000 KiB is no tick of bytes.
    return step >= 1000.0 ? unit.size * kKibi : step * unit.size;
}

/// Of a narrow range far from zero a smaller one, of which the step is a number with few digits.
const Unit& tickUnit(std::span<const Unit> units, double step, double largest, ValueKind kind) {
    const Unit* unit = &unitFor(units, largest);
    const auto isRough = [&] { // 3.083 min, 0.500001M
        const bool clock = kind == ValueKind::Seconds && unit->size >= 60.0;
        return step / unit->size < (clock ? 0.25 : 1e-3) * (1 - 1e-9);
    };
    while (unit != &units.front() && isRough())
        --unit;
    return *unit;
}

/// All labels of one linear axis share the unit of its largest value and the digits of its step.
std::string tickLabel(double value, double step, double largest, ValueKind kind) {
    if (value == 0.0)
        return "0";
    const int digits = std::clamp(
        static_cast<int>(std::floor(std::log10(std::abs(value) / step) + 1e-9)) + 3, 1, 15);
    if (kind == ValueKind::Share)
        return formatValue(value, kind, digits);
    const Unit unit = kind == ValueKind::Number && largest < 1e4
                          ? kNumberUnits.front()
                          : tickUnit(unitsOf(kind), step, largest, kind);
    return withUnit(plainNumber(value / unit.size, digits), unit, kind);
}

bool inside(AxisRange range, double value) {
    return value >= range.from * (1 - 1e-9) && value <= range.to * (1 + 1e-9);
}

std::vector<AxisTick> decadeTicks(AxisRange range, ValueKind kind, std::span<const double> factors,
                                  int decades) {
    std::vector<AxisTick> ticks;
    const int first = static_cast<int>(std::floor(std::log10(range.from)));
    const int last = static_cast<int>(std::ceil(std::log10(range.to)));
    for (int power = first; power <= last; ++power)
        for (const double factor : factors) {
            const double value = factor * std::pow(10.0, power);
            if (power % decades == 0 && inside(range, value))
                ticks.push_back({value, formatValue(value, kind)});
        }
    return ticks;
}

std::vector<AxisTick> powerOfTwoTicks(AxisRange range, int exponentStep) {
    std::vector<AxisTick> ticks;
    const int first = static_cast<int>(std::floor(std::log2(range.from)));
    const int last = static_cast<int>(std::ceil(std::log2(range.to)));
    for (int exponent = first; exponent <= last; ++exponent) {
        const double value = std::exp2(exponent);
        if (exponent % exponentStep == 0 && inside(range, value))
            ticks.push_back({value, formatValue(value, ValueKind::Bytes)});
    }
    return ticks;
}

/// Tenths and tens of seconds, then of minutes, then of hours: "30 s", "1 min", never "1.67 min".
std::vector<AxisTick> clockTicks(AxisRange range, std::span<const double> factors) {
    struct Part {
        double unit;
        double below;
    };
    std::vector<AxisTick> ticks;
    for (const Part part : {Part{1.0, 60.0}, Part{60.0, 3600.0}, Part{3600.0, range.to * 2.0}})
        for (int power = part.unit > 1.0 ? 0 : -9; power <= 9; ++power)
            for (const double factor : factors) {
                const double value = factor * std::pow(10.0, power) * part.unit;
                if (value < part.below * (1 - 1e-9) && inside(range, value))
                    ticks.push_back({value, formatValue(value, ValueKind::Seconds)});
            }
    return ticks;
}

/// From many ticks to few: whoever chooses takes the first that fits.
std::vector<std::vector<AxisTick>> logCandidates(AxisRange range, ValueKind kind) {
    constexpr std::array kFine{1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0};
    constexpr std::array kMedium{1.0, 1.5, 2.0, 3.0, 5.0, 7.0};
    constexpr std::array k125{1.0, 2.0, 5.0};
    constexpr std::array k13{1.0, 3.0};
    constexpr std::array kOne{1.0};
    if (kind == ValueKind::Bytes) {
        std::vector<std::vector<AxisTick>> candidates;
        for (const int step : {1, 2, 5, 10, 20, 40, 80, 160, 320, 640})
            candidates.push_back(powerOfTwoTicks(range, step));
        return candidates;
    }
    if (kind == ValueKind::Seconds)
        return {clockTicks(range, k125), clockTicks(range, k13), clockTicks(range, kOne)};
    std::vector<std::vector<AxisTick>> candidates{
        decadeTicks(range, kind, kFine, 1), decadeTicks(range, kind, kMedium, 1),
        decadeTicks(range, kind, k125, 1), decadeTicks(range, kind, k13, 1)};
    for (const int decades : {1, 2, 3, 5, 10, 20, 50, 100, 200})
        candidates.push_back(decadeTicks(range, kind, kOne, decades));
    return candidates;
}

/// Grid lines between labels, only where a decade is wide enough to tell them apart.
void addMinorTicks(std::vector<AxisTick>& ticks, AxisRange range) {
    const int first = static_cast<int>(std::floor(std::log10(range.from)));
    const int last = static_cast<int>(std::ceil(std::log10(range.to)));
    if (last - first > 4)
        return;
    for (int power = first; power <= last; ++power)
        for (int factor = 1; factor < 10; ++factor) {
            const double value = factor * std::pow(10.0, power);
            const bool labelled = std::any_of(ticks.begin(), ticks.end(), [&](const AxisTick& t) {
                return std::abs(t.value / value - 1.0) < 1e-6;
            });
            if (inside(range, value) && !labelled)
                ticks.push_back({value, {}});
        }
}

} // namespace

std::string formatValue(double value, ValueKind kind, int digits) {
    if (std::isnan(value))
        return "NaN";
    if (std::isinf(value))
        return value > 0 ? "∞" : "−∞";
    if (kind == ValueKind::Share)
        return plainNumber(value * 100.0, digits) + " %";
    if (value == 0.0)
        return kind == ValueKind::Bytes ? "0 B" : kind == ValueKind::Seconds ? "0 s" : "0";
    const double magnitude = std::abs(value);
    if (kind == ValueKind::Number && magnitude < 1e4)
        return plainNumber(value, digits);
    const Unit& unit = unitFor(unitsOf(kind), magnitude);
    return withUnit(plainNumber(value / unit.size, digits), unit, kind);
}

double niceStep(double span, int count, ValueKind kind) {
    GRADLAB_CHECK(std::isfinite(span) && span > 0.0 && count > 0, span, count);
    const double raw = span / count;
    if (kind == ValueKind::Bytes)
        return bytesStep(raw);
    return kind == ValueKind::Seconds ? secondsStep(raw) : roundUp125(raw);
}

std::vector<AxisTick> linearTicks(AxisRange range, int count, ValueKind kind) {
    GRADLAB_CHECK(range.from < range.to && std::isfinite(range.to - range.from), range.from,
                  range.to);
    std::vector<AxisTick> ticks;
    const double step = niceStep(range.to - range.from, count, kind);
    const double largest = std::max(std::abs(range.from), std::abs(range.to));
    const double first = std::ceil(range.from / step - 1e-9);
    const double last = std::floor(range.to / step + 1e-9);
    // A step lost in the digits of huge values would never end.
    for (double i = first; i <= last && ticks.size() < 100; i += 1.0)
        ticks.push_back({i * step, tickLabel(i * step, step, largest, kind)});
    return ticks;
}

std::vector<AxisTick> logTicks(AxisRange range, int count, ValueKind kind) {
    GRADLAB_CHECK(range.from > 0.0 && range.from < range.to && std::isfinite(range.to), range.from,
                  range.to);
    std::vector<AxisTick> ticks;
    for (std::vector<AxisTick>& candidate : logCandidates(range, kind))
        if (static_cast<int>(candidate.size()) <= count + 1) {
            ticks = std::move(candidate);
            break;
        }
    // Narrower than any set: linear ticks, closer together until two are inside.
    for (int more = std::max(2, count); ticks.size() < 2 && more < 64; more *= 2)
        ticks = linearTicks(range, more, kind);
    if (kind == ValueKind::Number || kind == ValueKind::Share)
        addMinorTicks(ticks, range);
    std::sort(ticks.begin(), ticks.end(),
              [](const AxisTick& a, const AxisTick& b) { return a.value < b.value; });
    return ticks;
}

AxisRange niceRange(AxisRange range, ValueKind kind) {
    const double span = range.to - range.from;
    const double pad = span > 0.0 ? span : std::max(1.0, std::abs(range.to)) * 0.1;
    const double step = niceStep(pad, 5, kind);
    return {std::floor(range.from / step) * step,
            std::max(std::ceil(range.to / step), std::floor(range.from / step) + 1.0) * step};
}

AxisRange niceLogRange(AxisRange range) {
    // Ends on twentieths of a decade: near enough to the data for narrow ranges, rare to move.
    constexpr double kPart = 20.0;
    const double low = std::floor(std::log10(range.from) * kPart) / kPart;
    const double high = std::ceil(std::log10(range.to) * kPart) / kPart;
    return {std::pow(10.0, low), std::pow(10.0, std::max(high, low + 2.0 / kPart))};
}

} // namespace gradlab::widgets
