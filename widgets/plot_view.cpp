// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plot_view.h"

#include <algorithm>
#include <cmath>

namespace gradlab::widgets {

namespace {

constexpr double kClosest = 1e-5; ///< of the whole axis

AxisRange onAxis(AxisRange range, bool logarithmic) {
    return logarithmic ? AxisRange{std::log(range.from), std::log(range.to)} : range;
}

AxisRange ofAxis(AxisRange range, bool logarithmic) {
    return logarithmic ? AxisRange{std::exp(range.from), std::exp(range.to)} : range;
}

} // namespace

AxisRange zoomed(AxisRange range, double at, double factor, bool logarithmic) {
    const AxisRange before = onAxis(range, logarithmic);
    const double fixed = logarithmic ? std::log(at) : at;
    return ofAxis({fixed + (before.from - fixed) * factor, fixed + (before.to - fixed) * factor},
                  logarithmic);
}

AxisRange panned(AxisRange range, double share, bool logarithmic) {
    const AxisRange before = onAxis(range, logarithmic);
    const double shift = share * (before.to - before.from);
    return ofAxis({before.from + shift, before.to + shift}, logarithmic);
}

std::optional<AxisRange> confined(AxisRange wanted, AxisRange full, bool logarithmic) {
    const AxisRange all = onAxis(full, logarithmic);
    // A window of a linear axis may reach below what a logarithmic one can show.
    if (logarithmic)
        wanted = {std::max(wanted.from, full.from), std::max(wanted.to, full.from)};
    const AxisRange asked = onAxis(wanted, logarithmic);
    const double whole = all.to - all.from;
    const double span = std::max(asked.to - asked.from, kClosest * whole);
    if (!(span < whole * (1.0 - 1e-9)))
        return std::nullopt;
    const double from = std::clamp((asked.from + asked.to - span) / 2.0, all.from, all.to - span);
    return ofAxis({from, from + span}, logarithmic);
}

} // namespace gradlab::widgets
