// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What a plot shows, and where each piece of it goes: ranges, ticks, labels that neither overlap
// nor leave the picture. Pure geometry; leaves out painting and Qt Charts.
#pragma once

#include "widgets/plot_view.h"
#include "widgets/series_store.h"
#include "widgets/theme.h"

#include <QColor>
#include <QPointF>
#include <QRectF>
#include <QSizeF>
#include <QString>

#include <cmath>
#include <optional>
#include <vector>

namespace gradlab::widgets {

struct PlotLine {
    QString label; ///< at the line's right end; empty: none
    QColor colour;
    bool thick = true;
    bool markers = false; ///< a dot at every point while there are few
    std::vector<PlotPoint> points;
    std::vector<NonFiniteMark> nonFinite;
};

/// An area on both sides of a line.
struct PlotBand {
    struct Point {
        double x = 0.0;
        double low = 0.0;
        double high = 0.0;
    };
    QColor colour; ///< of the line; the band is paler
    std::vector<Point> points;
};

struct ReferenceLine {
    double y = 0.0;
    QString text;
};

struct EventMark {
    double x = 0.0;
    QString text;
    QColor colour;
};

struct PlotAxis {
    QString title;
    ValueKind kind = ValueKind::Number;
    bool logarithmic = false;
};

struct PlotContent {
    QString title;
    PlotAxis x;
    PlotAxis y;
    std::optional<AxisRange> yLimits; ///< the range never reaches beyond
    std::optional<AxisRange> xExtent; ///< of all data, where the lines hold a part of them
    PlotWindow window;
    double titleRoom = 0.0; ///< pixels to leave free at the title's right
    double labelRoom = 0.0; ///< pixels at least for labels at the lines' ends
    std::vector<PlotLine> lines;
    std::vector<ReferenceLine> references;
    std::vector<EventMark> events;
    std::vector<PlotBand> bands; ///< behind everything; the ranges do not follow them
};

struct PlotRanges {
    AxisRange x;
    AxisRange y;
    bool operator==(const PlotRanges&) const = default;
};

struct PlotLabel {
    QString text;
    QRectF box;
    QColor colour{};     ///< of the swatch; invalid: none
    double anchor = 0.0; ///< pixel of what it names, across the axis
    QPointF tip{};       ///< of a line's label: where the line ends
};

struct PlotTick {
    double position = 0.0; ///< pixel
    QString text;          ///< empty: minor
    QRectF box;
};

/// A value that lies outside the range, or is none: drawn at the border.
struct BorderMark {
    enum class Kind { Above, Below, NotANumber };
    QPointF tip;
    Kind kind = Kind::Above;
    QColor colour;
};

/// All boxes in the widget's coordinates.
struct PlotLayout {
    QRectF plot;
    PlotRanges ranges;
    bool logX = false;
    bool logY = false;
    PlotLabel title;
    PlotLabel xTitle;
    std::vector<PlotTick> xTicks;
    std::vector<PlotTick> yTicks;
    std::vector<PlotLabel> lineLabels;
    std::vector<PlotLabel> referenceLabels; ///< one a reference; empty text where there is no room
    std::vector<PlotLabel> eventLabels;     ///< one an event; empty text where there is no room
    std::vector<BorderMark> borderMarks;

    [[nodiscard]] double mapX(double value) const;
    [[nodiscard]] double mapY(double value) const;
    [[nodiscard]] double valueAtX(double pixel) const;
    [[nodiscard]] double valueAtY(double pixel) const;
};

/// Whether an axis has a place for the value at all.
[[nodiscard]] inline bool isDrawable(double value, bool logarithmic) {
    return std::isfinite(value) && (!logarithmic || value > 0.0);
}

/// The window, and where it is open the ranges of the drawable values and reference lines, rounded
/// outwards so that they rarely change. Of a part of the x axis: y of the values in it.
[[nodiscard]] PlotRanges rangesOf(const PlotContent& content);
/// Without the window.
[[nodiscard]] PlotRanges fullRangesOf(const PlotContent& content);
[[nodiscard]] PlotLayout layOutPlot(const PlotContent& content, const PlotRanges& ranges,
                                    const Theme& theme, const QSizeF& size);

/// Shifts intervals of `height`, wanted at their centres, as little as needed so that none overlap
/// and all lie in [top, bottom]. Sorted input gives sorted output. @pre they fit
[[nodiscard]] std::vector<double> spread(const std::vector<double>& centres, double height,
                                         double top, double bottom);

} // namespace gradlab::widgets
