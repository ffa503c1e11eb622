// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Where an axis has ticks and what they say: nice linear steps, logarithmic axes that label narrow
// ranges too, bytes in KiB/MiB/GiB, seconds in ms/s/min/h. No Qt; numbers with '.'.
#pragma once

#include <string>
#include <vector>

namespace gradlab::widgets {

enum class ValueKind { Number, Bytes, Seconds, Share };

struct AxisTick {
    double value = 0.0;
    std::string label; ///< empty: a minor tick
};

struct AxisRange {
    double from = 0.0;
    double to = 1.0;
    bool operator==(const AxisRange&) const = default;
};

/// A value for people, about `digits` significant ones: "12.4", "5.1 KiB", "231 ms", "1 %".
[[nodiscard]] std::string formatValue(double value, ValueKind kind, int digits = 3);

/// The step of about `count` ticks: 1, 2 or 5 times a power of ten (bytes: a power of two; seconds:
/// also 15, 30 of minutes and hours).
[[nodiscard]] double niceStep(double span, int count, ValueKind kind = ValueKind::Number);
/// At most about `count` + 1 ticks inside [from, to]. @pre finite, from < to
[[nodiscard]] std::vector<AxisTick> linearTicks(AxisRange range, int count, ValueKind kind);
/// Inside [from, to] at least two labels whatever the range; minor ticks between. @pre 0 < from <
/// to
[[nodiscard]] std::vector<AxisTick> logTicks(AxisRange range, int count, ValueKind kind);

/// A range around [from, to] that ends on nice values, so that it need not change with every point.
[[nodiscard]] AxisRange niceRange(AxisRange range, ValueKind kind);
[[nodiscard]] AxisRange niceLogRange(AxisRange range);

} // namespace gradlab::widgets
