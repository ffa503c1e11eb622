// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What tests look for in pictures of charts: texts that overlap or are cut, colours; and all charts
// of the window at once. With GRADLAB_PICTURES set to a folder the pictures are kept there.
#pragma once

#include "widgets/perplexity_chart.h"
#include "widgets/run_strip.h"
#include "widgets/sparsity_chart.h"
#include "widgets/time_chart.h"
#include "widgets/traffic_chart.h"

#include <QDir>
#include <QGridLayout>
#include <QSet>
#include <QTest>

#include <algorithm>
#include <vector>

namespace gradlab::tests {

using namespace gradlab::widgets;

/// Strip on top, perplexity left, the others stacked on the right: as the window has them.
class Board : public QWidget {
public:
    Board() {
        auto* grid = new QGridLayout(this);
        grid->addWidget(&strip, 0, 0, 1, 2);
        grid->addWidget(&perplexity, 1, 0, 3, 1);
        grid->addWidget(&traffic, 1, 1);
        grid->addWidget(&time, 2, 1);
        grid->addWidget(&sparsity, 3, 1);
        grid->setColumnStretch(0, 3);
        grid->setColumnStretch(1, 2);
        for (int row = 1; row < 4; ++row)
            grid->setRowStretch(row, 1);
    }
    [[nodiscard]] QList<RunChart*> charts() { return {&perplexity, &traffic, &time, &sparsity}; }
    void show(const RunList& runs, const Theme& theme, XAxis axis) {
        setPalette(themePalette(theme.dark));
        strip.setTheme(theme);
        strip.setRuns(runs);
        for (RunChart* chart : charts()) {
            chart->setTheme(theme);
            chart->setXAxis(axis);
            chart->setRuns(runs);
        }
        QWidget::show();
        strip.refresh();
        for (RunChart* chart : charts())
            chart->refresh();
    }

    RunStrip strip;
    PerplexityChart perplexity;
    TrafficChart traffic;
    TimeChart time;
    SparsityChart sparsity;
};

struct NamedBox {
    QString text;
    QRectF box;
};

inline std::vector<NamedBox> textOf(const PlotLayout& layout) {
    std::vector<NamedBox> boxes{{layout.title.text, layout.title.box},
                                {layout.xTitle.text, layout.xTitle.box}};
    for (const auto* labels : {&layout.lineLabels, &layout.referenceLabels, &layout.eventLabels})
        for (const PlotLabel& label : *labels)
            boxes.push_back({label.text, label.box});
    for (const auto* ticks : {&layout.xTicks, &layout.yTicks})
        for (const PlotTick& tick : *ticks)
            boxes.push_back({tick.text, tick.box});
    std::erase_if(boxes, [](const NamedBox& box) { return box.text.isEmpty(); });
    return boxes;
}

/// Empty if all is well, else what overlaps or leaves the picture.
inline QByteArray faults(const std::vector<NamedBox>& boxes, const QSizeF& size) {
    const QRectF picture(QPointF(-0.5, -0.5), size + QSizeF(1.0, 1.0));
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        if (!picture.contains(boxes[i].box))
            return "cut: " + boxes[i].text.toUtf8();
        for (std::size_t j = i + 1; j < boxes.size(); ++j)
            if (boxes[i].box.adjusted(0, 1, 0, -1).intersects(boxes[j].box.adjusted(0, 1, 0, -1)))
                return "overlap: " + boxes[i].text.toUtf8() + " / " + boxes[j].text.toUtf8();
    }
    return {};
}

inline QByteArray faults(const std::vector<QRectF>& boxes, const QSizeF& size) {
    std::vector<NamedBox> named;
    for (const QRectF& box : boxes)
        named.push_back({QString::number(named.size()), box});
    return faults(named, size);
}

inline void keepPicture(QWidget& widget, const QString& name) {
    const QString folder = qEnvironmentVariable("GRADLAB_PICTURES");
    if (folder.isEmpty())
        return;
    QVERIFY(QDir().mkpath(folder));
    QVERIFY(widget.grab().save(QDir(folder).filePath(name + QStringLiteral(".png"))));
}

inline int coloursIn(const QImage& image) {
    QSet<QRgb> seen;
    for (int y = 0; y < image.height(); y += 2)
        for (int x = 0; x < image.width(); x += 2)
            seen.insert(image.pixel(x, y));
    return static_cast<int>(seen.size());
}

inline bool hasColour(const QImage& image, const QColor& colour) {
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x)
            if (image.pixelColor(x, y) == colour)
                return true;
    return false;
}

inline PlotLine lineOf(std::vector<PlotPoint> points) {
    return {.label = QStringLiteral("line"),
            .colour = QColor(0x0072b2),
            .thick = true,
            .markers = false,
            .points = std::move(points),
            .nonFinite = {}};
}

} // namespace gradlab::tests
