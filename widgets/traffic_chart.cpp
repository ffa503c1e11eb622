// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/traffic_chart.h"

#include <QHBoxLayout>
#include <QStringList>

#include <algorithm>

namespace gradlab::widgets {

namespace {

constexpr double kDenseRatio = 1.05; ///< a run that saves less is a dense one

QString bytes(double value) {
    return QString::fromStdString(formatValue(value, ValueKind::Bytes, 3));
}

/// "5.1 MiB, 74 times fewer than the 377 MiB of dense messages".
QString bytesText(const RunInfo& run, Metric metric, XAxis axis, double x) {
    const Metric denseMetric =
        metric == Metric::MessageBytes ? Metric::DenseBytes : Metric::DenseBytesTotal;
    const auto sent = run.series->nearest(metric, axis, x);
    const auto dense = run.series->nearest(denseMetric, axis, x);
    if (!sent || !dense)
        return {};
    if (!(dense->value > kDenseRatio * sent->value && sent->value > 0.0))
        return bytes(sent->value);
    return TrafficChart::tr("%1, %2 times fewer than the %3 of dense messages")
        .arg(bytes(sent->value),
             QString::fromStdString(formatValue(dense->value / sent->value, ValueKind::Number)),
             bytes(dense->value));
}

bool isDense(const RunInfo& run) {
    return run.series->numbers().compressionRatio.value_or(1.0) < kDenseRatio;
}

} // namespace

TrafficChart::TrafficChart(QWidget* parent)
    : RunChart(parent), perStep_(new PlotWidget(this)), total_(new PlotWidget(this)) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(2);
    row->addWidget(perStep_);
    row->addWidget(total_);
    setObjectName(QStringLiteral("traffic-chart"));
    setAccessibleName(tr("Bytes"));
    perStep_->setTitle(tr("Bytes a step"));
    total_->setTitle(tr("Bytes in total"));
    addPlot(perStep_, QStringLiteral("bytes-per-step"));
    addPlot(total_, QStringLiteral("bytes-in-total"));
    const auto provide = [this](PlotWidget* plot, Metric metric) {
        plot->setYAxis(ValueKind::Bytes, true);
        plot->setHoverProvider([this, plot, metric](double x) {
            return hoverText(*plot, x, metric, [this, plot, metric, x](const RunInfo& run) {
                return bytesText(run, metric, axisOf(*plot), x);
            });
        });
    };
    provide(perStep_, Metric::MessageBytes);
    provide(total_, Metric::MessageBytesTotal);
}

/// What dense messages would have cost, where no run of its own shows it.
PlotLine TrafficChart::denseLine(const PlotWidget& plot, const RunInfo& run, Metric metric) const {
    PlotLine dense = line(plot, run, metric, false, tr("if dense"));
    dense.colour = theme().mark;
    return dense;
}

void TrafficChart::redraw() {
    std::vector<PlotLine> perStep;
    std::vector<PlotLine> total;
    QStringList words;
    const RunList runs = shownRuns();
    for (const RunInfo& run : runs) {
        perStep.push_back(line(*perStep_, run, Metric::MessageBytes, true, run.name));
        total.push_back(line(*total_, run, Metric::MessageBytesTotal, true, run.name));
        words << tr("%1 %2").arg(run.name, bytes(run.series->numbers().bytesTotal.value_or(0.0)));
    }
    if (!runs.empty() && std::none_of(runs.begin(), runs.end(), isDense)) {
        perStep.push_back(denseLine(*perStep_, runs.front(), Metric::DenseBytes));
        total.push_back(denseLine(*total_, runs.front(), Metric::DenseBytesTotal));
    }
    applyXAxis(*perStep_);
    applyXAxis(*total_);
    perStep_->setData(std::move(perStep), {}, changeMarks(*perStep_));
    total_->setData(std::move(total), {}, changeMarks(*total_));
    total_->setSummary(tr("Bytes in total: %1").arg(words.join(QStringLiteral(", "))));
}

/// Two plots side by side need room; a narrow chart shows the one that tells more.
void TrafficChart::chooseRoom() {
    perStep_->setVisible(hasRoomForTwo());
    layout()->activate();
}

void TrafficChart::resizeEvent(QResizeEvent* event) {
    RunChart::resizeEvent(event);
    chooseRoom();
}

QStringList TrafficChart::logFields() const {
    return {QStringLiteral("bytes_message"), QStringLiteral("bytes_up"),
            QStringLiteral("bytes_down"), QStringLiteral("bytes_dense"),
            QStringLiteral("bytes_paper")};
}

std::unique_ptr<RunChart> TrafficChart::fresh() const {
    return std::make_unique<TrafficChart>();
}

void TrafficChart::applyTheme() {
    chooseRoom();
    perStep_->setTheme(theme());
    total_->setTheme(theme());
}

} // namespace gradlab::widgets
