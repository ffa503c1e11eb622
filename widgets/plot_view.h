// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The part of a plot that is looked at, and how zooming and panning move it. No Qt; a logarithmic
// axis is zoomed and moved by factors.
#pragma once

#include "widgets/axis_ticks.h"

#include <optional>

namespace gradlab::widgets {

/// Along each axis a range of values; nothing: all there is, as it grows.
struct PlotWindow {
    std::optional<AxisRange> x;
    std::optional<AxisRange> y;
    [[nodiscard]] bool isZoomed() const noexcept { return x || y; }
    bool operator==(const PlotWindow&) const = default;
};

/// `factor` times as wide, with the value `at` where it is. @pre factor > 0; log: all values > 0
[[nodiscard]] AxisRange zoomed(AxisRange range, double at, double factor, bool logarithmic);
/// Moved by a share of its width; positive: towards larger values.
[[nodiscard]] AxisRange panned(AxisRange range, double share, bool logarithmic);
/// `wanted` moved and widened as little as needed to lie in `full` and to be no closer than 1e-5 of
/// it; nothing where that is all of `full`.
[[nodiscard]] std::optional<AxisRange> confined(AxisRange wanted, AxisRange full, bool logarithmic);

} // namespace gradlab::widgets
