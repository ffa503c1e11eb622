// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The lines of a plot, drawn by Qt Charts: the one place that knows it; nobody else sees one of its
// types. Hidden linear axes (of log10 where logarithmic), one QLineSeries for each unbroken piece
// of a line, always replace() (append of a list is quadratic in 6.4), never OpenGL, dashes or
// animations.
#pragma once

#include "widgets/plot_layout.h"

#include <memory>

class QPainter;

namespace gradlab::widgets {

class PlotLines {
public:
    PlotLines();
    ~PlotLines();
    PlotLines(const PlotLines&) = delete;
    PlotLines& operator=(const PlotLines&) = delete;

    /// Other lines, ranges, or colours.
    void set(const PlotContent& content, const PlotRanges& ranges, const Theme& theme);
    void paint(QPainter& painter, const PlotLayout& layout, const QSizeF& size);

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

/// The one place where values become places on axes: finite, positive on a log axis (there log10),
/// and not so far outside that the path's numbers lose their digits. One list for each unbroken
/// piece, the latest 32 of them.
[[nodiscard]] std::vector<QList<QPointF>> piecesOf(const PlotLine& line, const PlotContent& content,
                                                   const PlotRanges& ranges);

} // namespace gradlab::widgets
