// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plot_painter.h"

#include <QPainter>
#include <QPolygonF>

#include <algorithm>
#include <cmath>
#include <vector>

namespace gradlab::widgets {

namespace {

constexpr std::size_t kMostDots = 80; ///< a line with more points is drawn without them
constexpr int kPlateAlpha = 215;      ///< behind text inside the plot
constexpr int kBandAlpha = 60;

void paintText(QPainter& painter, const QRectF& box, int flags, const QString& text,
               const QColor& colour) {
    painter.setPen(colour);
    painter.drawText(box, flags | Qt::TextSingleLine, text);
}

void paintGrid(QPainter& painter, const PlotLayout& layout, const Theme& theme) {
    painter.setPen(QPen(theme.grid, 1.0));
    for (const PlotTick& tick : layout.yTicks)
        painter.drawLine(QPointF(layout.plot.left(), std::round(tick.position) + 0.5),
                         QPointF(layout.plot.right(), std::round(tick.position) + 0.5));
    for (const PlotTick& tick : layout.xTicks)
        if (!tick.text.isEmpty())
            painter.drawLine(QPointF(std::round(tick.position) + 0.5, layout.plot.top()),
                             QPointF(std::round(tick.position) + 0.5, layout.plot.bottom()));
    painter.setPen(QPen(theme.axis, 1.0));
    painter.drawLine(layout.plot.bottomLeft(), layout.plot.bottomRight());
    painter.drawLine(layout.plot.topLeft(), layout.plot.bottomLeft());
}

void paintPlate(QPainter& painter, const QRectF& box, const Theme& theme) {
    QColor plate = theme.background;
    plate.setAlpha(kPlateAlpha);
    painter.fillRect(box, plate);
}

/// With a thin line from where the data end.
void paintLineLabel(QPainter& painter, const PlotLabel& label, const Theme& theme) {
    const double middle = label.box.center().y();
    const double swatch = theme.textPixels * 0.5;
    painter.setPen(QPen(label.colour, 1.0));
    painter.drawLine(label.tip, QPointF(label.box.left(), middle));
    painter.fillRect(QRectF(label.box.left(), middle - swatch / 2, swatch, swatch), label.colour);
    paintText(painter, label.box.adjusted(swatch + 4.0, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft,
              label.text, theme.text);
}

void paintBorderMark(QPainter& painter, const BorderMark& mark, double size) {
    const QPointF tip = mark.tip;
    painter.setPen(QPen(mark.colour, 1.5));
    painter.setBrush(mark.colour);
    if (mark.kind == BorderMark::Kind::NotANumber) {
        painter.drawLine(tip + QPointF(-size, 0), tip + QPointF(size, 2 * size));
        painter.drawLine(tip + QPointF(-size, 2 * size), tip + QPointF(size, 0));
        return;
    }
    const double down = mark.kind == BorderMark::Kind::Above ? size * 1.6 : -size * 1.6;
    painter.drawPolygon(QPolygonF({tip, tip + QPointF(-size, down), tip + QPointF(size, down)}));
}

/// Dots where a line has few points, and where a single point would otherwise not be seen.
void paintDots(QPainter& painter, const PlotLine& line, const PlotLayout& layout,
               const Theme& theme) {
    const bool all = line.markers && line.points.size() <= kMostDots;
    const double radius = (line.thick ? theme.lineWidth : theme.thinLineWidth) * (all ? 1.5 : 0.8);
    painter.setPen(Qt::NoPen);
    painter.setBrush(line.colour);
    for (std::size_t i = 0; i < line.points.size(); ++i) {
        const auto broken = [&](std::size_t at) {
            return at >= line.points.size() || !isDrawable(line.points[at].y, layout.logY);
        };
        const PlotPoint& point = line.points[i];
        if (broken(i) || !isDrawable(point.x, layout.logX) ||
            !(all || (broken(i - 1) && broken(i + 1))))
            continue;
        const QPointF at(layout.mapX(point.x), layout.mapY(point.y));
        if (layout.plot.contains(at))
            painter.drawEllipse(at, radius, radius);
    }
}

/// What of the segment lies in `area` (Liang and Barsky); false if nothing does.
bool cut(QPointF& from, QPointF& to, const QRectF& area) {
    const QPointF way = to - from;
    double first = 0.0;
    double last = 1.0;
    const auto side = [&](double speed, double room) {
        if (speed == 0.0)
            return room >= 0.0;
        const double at = room / speed;
        (speed < 0.0 ? first : last) = speed < 0.0 ? std::max(first, at) : std::min(last, at);
        return true;
    };
    const bool meets =
        side(-way.x(), from.x() - area.left()) && side(way.x(), area.right() - from.x()) &&
        side(-way.y(), from.y() - area.top()) && side(way.y(), area.bottom() - from.y());
    if (!meets || first > last)
        return false;
    if (last < 1.0)
        to = from + last * way;
    if (first > 0.0)
        from += first * way;
    return true;
}

/// In pixels. A piece ends at gaps and where the line leaves the plot.
std::vector<QPolygonF> piecesInside(const PlotLine& line, const PlotLayout& layout) {
    std::vector<QPolygonF> pieces;
    QPointF before;
    bool hasBefore = false;
    bool joined = false; // the last piece ends at `before`
    for (const PlotPoint& point : line.points) {
        if (!isDrawable(point.x, layout.logX))
            continue;
        if (!isDrawable(point.y, layout.logY)) {
            hasBefore = false;
            joined = false;
            continue;
        }
        const QPointF at(layout.mapX(point.x), layout.mapY(point.y));
        QPointF from = before;
        QPointF to = at;
        if (hasBefore && cut(from, to, layout.plot)) {
            if (!joined)
                pieces.push_back(QPolygonF({from}));
            pieces.back().append(to);
            joined = to == at;
        } else {
            joined = false;
        }
        before = at;
        hasBefore = true;
    }
    return pieces;
}

/// What of a band lies in the plot. On a logarithmic axis what has no place there ends at its foot.
void paintBand(QPainter& painter, const PlotBand& band, const PlotLayout& layout) {
    const auto pixel = [&](double x, double y) {
        const double value = isDrawable(y, layout.logY) ? layout.mapY(y) : layout.plot.bottom();
        return QPointF(layout.mapX(x), value);
    };
    QPolygonF area;
    for (const PlotBand::Point& point : band.points)
        if (isDrawable(point.x, layout.logX))
            area.append(pixel(point.x, point.high));
    for (auto point = band.points.rbegin(); point != band.points.rend(); ++point)
        if (isDrawable(point->x, layout.logX))
            area.append(pixel(point->x, point->low));
    QColor colour = band.colour;
    colour.setAlpha(kBandAlpha);
    painter.save();
    painter.setClipRect(layout.plot);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    painter.drawPolygon(area);
    painter.restore();
}

} // namespace

void paintPlotBackground(QPainter& painter, const PlotContent& content, const PlotLayout& layout,
                         const Theme& theme) {
    paintGrid(painter, layout, theme);
    for (const PlotBand& band : content.bands)
        paintBand(painter, band, layout);
    painter.setPen(QPen(theme.mark, theme.thinLineWidth));
    for (const ReferenceLine& reference : content.references) {
        const double y = layout.mapY(reference.y);
        if (y >= layout.plot.top() && y <= layout.plot.bottom())
            painter.drawLine(QPointF(layout.plot.left(), y), QPointF(layout.plot.right(), y));
    }
    for (const EventMark& event : content.events) {
        const double x = layout.mapX(event.x);
        painter.setPen(QPen(event.colour.isValid() ? event.colour : theme.mark, 1.5));
        if (x >= layout.plot.left() && x <= layout.plot.right())
            painter.drawLine(QPointF(x, layout.plot.top()), QPointF(x, layout.plot.bottom()));
    }
}

void paintPlotLines(QPainter& painter, const PlotContent& content, const PlotLayout& layout,
                    const Theme& theme) {
    painter.setBrush(Qt::NoBrush);
    for (const PlotLine& line : content.lines) {
        painter.setPen(QPen(line.colour, line.thick ? theme.lineWidth : theme.thinLineWidth,
                            Qt::SolidLine, Qt::FlatCap, Qt::RoundJoin));
        for (const QPolygonF& piece : piecesInside(line, layout))
            painter.drawPolyline(piece);
    }
}

void paintPlotForeground(QPainter& painter, const PlotContent& content, const PlotLayout& layout,
                         const Theme& theme) {
    for (const PlotLine& line : content.lines)
        paintDots(painter, line, layout, theme);
    for (const BorderMark& mark : layout.borderMarks)
        paintBorderMark(painter, mark, theme.textPixels * 0.3);
    painter.setFont(theme.font(theme.titlePixels, true));
    paintText(painter, layout.title.box, Qt::AlignLeft | Qt::AlignVCenter, layout.title.text,
              theme.text);
    painter.setFont(theme.font(theme.textPixels));
    for (const PlotTick& tick : layout.yTicks)
        paintText(painter, tick.box, Qt::AlignRight | Qt::AlignVCenter, tick.text, theme.mutedText);
    for (const PlotTick& tick : layout.xTicks)
        paintText(painter, tick.box, Qt::AlignCenter, tick.text, theme.mutedText);
    paintText(painter, layout.xTitle.box, Qt::AlignRight | Qt::AlignVCenter, layout.xTitle.text,
              theme.mutedText);
    for (const PlotLabel& label : layout.referenceLabels) {
        paintPlate(painter, label.box, theme);
        paintText(painter, label.box, Qt::AlignLeft | Qt::AlignVCenter, label.text,
                  theme.mutedText);
    }
    for (const PlotLabel& label : layout.eventLabels) {
        paintPlate(painter, label.box, theme);
        paintText(painter, label.box, Qt::AlignLeft | Qt::AlignVCenter, label.text, theme.text);
    }
    for (const PlotLabel& label : layout.lineLabels)
        paintLineLabel(painter, label, theme);
}

} // namespace gradlab::widgets
