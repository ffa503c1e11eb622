// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What a person thinks that a curve will be: drawn stroke by stroke, or one value at one step. A
// stroke over a part of x takes the place of what was there. No Qt.
#pragma once

#include "widgets/series_store.h"

#include <optional>
#include <vector>

namespace gradlab::widgets {

class Prediction {
public:
    static constexpr std::size_t kMostPoints = 1000;

    /// Ends of a straight piece; x is a step, y a perplexity > 0.
    void stroke(const PlotPoint& from, const PlotPoint& to);
    void clear() noexcept { points_.clear(); }

    [[nodiscard]] bool isEmpty() const noexcept { return points_.empty(); }
    /// Ascending in x.
    [[nodiscard]] const std::vector<PlotPoint>& points() const noexcept { return points_; }
    /// Where it ends; not of an empty one.
    [[nodiscard]] const PlotPoint& end() const { return points_.back(); }
    /// Between points along a straight line of the logarithm; nothing outside.
    [[nodiscard]] std::optional<double> valueAt(double step) const;
    bool operator==(const Prediction&) const = default;

private:
    std::vector<PlotPoint> points_;
};

} // namespace gradlab::widgets
