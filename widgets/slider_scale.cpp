// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/slider_scale.h"

#include "engine/core/check.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gradlab::widgets {
namespace {

/// Two digits, nearly the same factor apart (the E24 series).
constexpr std::array<int, 24> kMantissas = {10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30,
                                            33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91};

std::vector<double> logarithmicValues(const engine::SliderRange& range) {
    std::vector<double> values;
    const auto first = static_cast<int>(std::floor(std::log10(range.from))) - 1;
    const auto last = static_cast<int>(std::ceil(std::log10(range.to)));
    const double slack = 1e-9; // of what the powers are rounded by
    for (int power = first; power <= last; ++power)
        for (const int mantissa : kMantissas) {
            // A quotient for small ones: 11 / 1000 is the double that "0.011" is.
            const double value = power <= 0 ? mantissa / std::pow(10.0, 1 - power)
                                            : mantissa * std::pow(10.0, power - 1);
            if (value >= range.from * (1.0 - slack) && value <= range.to * (1.0 + slack))
                values.push_back(value);
        }
    return values;
}

std::vector<double> linearValues(const engine::SliderRange& range) {
    std::vector<double> values;
    const auto steps = static_cast<int>(std::round((range.to - range.from) / range.step));
    for (int i = 0; i <= steps; ++i) {
        const double value = range.from + i * range.step;
        values.push_back(std::round(value * 1e9) / 1e9);
    }
    return values;
}

} // namespace

SliderScale::SliderScale(const engine::FieldSpec& field)
    : logarithmic_(field.slider.has_value() && field.slider->step == 0.0) {
    GRADLAB_CHECK(field.slider.has_value(), field.path);
    values_ = logarithmic_ ? logarithmicValues(*field.slider) : linearValues(*field.slider);
    if (field.type == engine::FieldType::Integer) {
        for (double& value : values_)
            value = std::round(value);
        values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
    }
    if (logarithmic_ && field.minimum == 0.0 && !field.minimumExcluded)
        values_.insert(values_.begin(), 0.0);
}

double SliderScale::valueAt(int position) const {
    GRADLAB_CHECK(position >= 0 && position <= last(), position, last());
    return values_[static_cast<std::size_t>(position)];
}

int SliderScale::positionOf(double value) const {
    const auto above = std::lower_bound(values_.begin(), values_.end(), value);
    if (above == values_.begin())
        return 0;
    if (above == values_.end())
        return last();
    const double low = *(above - 1);
    const bool byRatio = logarithmic_ && low > 0.0;
    const bool upper = byRatio ? value * value > low * *above : value - low > *above - value;
    return static_cast<int>(above - values_.begin()) - (upper ? 0 : 1);
}

} // namespace gradlab::widgets
