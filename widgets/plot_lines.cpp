// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plot_lines.h"

#include <QChart>
#include <QGraphicsLayout>
#include <QGraphicsScene>
#include <QLegend>
#include <QLineSeries>
#include <QPainter>
#include <QValueAxis>

#include <algorithm>
#include <cmath>

namespace gradlab::widgets {

namespace {

constexpr std::size_t kMostPieces = 32; ///< of one line

double axisValue(double value, bool logarithmic) {
    return logarithmic ? std::log10(value) : value;
}

AxisRange axisRange(AxisRange range, bool logarithmic) {
    return {axisValue(range.from, logarithmic), axisValue(range.to, logarithmic)};
}

} // namespace

std::vector<QList<QPointF>> piecesOf(const PlotLine& line, const PlotContent& content,
                                     const PlotRanges& ranges) {
    const AxisRange y = axisRange(ranges.y, content.y.logarithmic);
    const double reach = 2.0 * (y.to - y.from);
    std::vector<QList<QPointF>> pieces(1);
    for (const PlotPoint& point : line.points) {
        if (!isDrawable(point.x, content.x.logarithmic))
            continue;
        if (!isDrawable(point.y, content.y.logarithmic)) {
            if (!pieces.back().isEmpty())
                pieces.emplace_back();
            continue;
        }
        const double value = axisValue(point.y, content.y.logarithmic);
        pieces.back().append(QPointF(axisValue(point.x, content.x.logarithmic),
                                     std::clamp(value, y.from - reach, y.to + reach)));
    }
    if (pieces.size() > kMostPieces)
        pieces.erase(pieces.begin(), pieces.end() - static_cast<std::ptrdiff_t>(kMostPieces));
    return pieces;
}

class PlotLines::Impl {
public:
    Impl() {
        scene.setItemIndexMethod(QGraphicsScene::NoIndex);
        chart->setAnimationOptions(QChart::NoAnimation);
        chart->setBackgroundVisible(false);
        chart->setPlotAreaBackgroundVisible(false);
        chart->legend()->hide();
        chart->setMargins(QMargins());
        chart->layout()->setContentsMargins(0, 0, 0, 0);
        chart->addAxis(x, Qt::AlignBottom);
        chart->addAxis(y, Qt::AlignLeft);
        x->setVisible(false);
        y->setVisible(false);
        scene.addItem(chart);
    }

    void show(std::size_t index, const QList<QPointF>& piece, const QPen& pen) {
        if (index == series.size()) {
            series.push_back(new QLineSeries(chart));
            chart->addSeries(series.back());
            series.back()->attachAxis(x);
            series.back()->attachAxis(y);
        }
        if (series[index]->pen() != pen)
            series[index]->setPen(pen);
        series[index]->replace(piece);
    }

    QGraphicsScene scene;
    QChart* chart = new QChart;       ///< owned by the scene
    QValueAxis* x = new QValueAxis;   ///< owned by the chart
    QValueAxis* y = new QValueAxis;   ///< owned by the chart
    std::vector<QLineSeries*> series; ///< owned by the chart; reused, never removed
    PlotRanges onAxes{{0.0, 0.0}, {0.0, 0.0}};
};

PlotLines::PlotLines() : impl_(std::make_unique<Impl>()) {}

PlotLines::~PlotLines() = default;

void PlotLines::set(const PlotContent& content, const PlotRanges& ranges, const Theme& theme) {
    const PlotRanges onAxes{axisRange(ranges.x, content.x.logarithmic),
                            axisRange(ranges.y, content.y.logarithmic)};
    // Each change of a range recomputes every line.
    if (!(onAxes == impl_->onAxes)) {
        impl_->onAxes = onAxes;
        impl_->x->setRange(onAxes.x.from, onAxes.x.to);
        impl_->y->setRange(onAxes.y.from, onAxes.y.to);
    }
    std::size_t used = 0;
    for (const PlotLine& line : content.lines) {
        const QPen pen(line.colour, line.thick ? theme.lineWidth : theme.thinLineWidth);
        for (const QList<QPointF>& piece : piecesOf(line, content, ranges))
            impl_->show(used++, piece, pen);
    }
    for (std::size_t i = used; i < impl_->series.size(); ++i)
        if (impl_->series[i]->count() > 0)
            impl_->series[i]->clear();
}

void PlotLines::paint(QPainter& painter, const PlotLayout& layout, const QSizeF& size) {
    impl_->chart->resize(size);
    impl_->chart->setPlotArea(layout.plot);
    impl_->scene.setSceneRect(QRectF(QPointF(), size));
    impl_->scene.render(&painter, impl_->scene.sceneRect(), impl_->scene.sceneRect());
}

} // namespace gradlab::widgets
