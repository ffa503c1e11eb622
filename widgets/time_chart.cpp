// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/time_chart.h"

#include "widgets/stacked_bars.h"

#include <QStringList>
#include <QVBoxLayout>

#include <algorithm>

namespace gradlab::widgets {

namespace {

// Hidden communication is shown from this share of a step on.
constexpr double kShownShare = 0.01;
constexpr float kFaint = 0.5F;

QString seconds(double value) {
    return QString::fromStdString(formatValue(value, ValueKind::Seconds, 3));
}

} // namespace

TimeChart::TimeChart(QWidget* parent) : RunChart(parent), bars_(new StackedBars(this)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(bars_);
    setObjectName(QStringLiteral("time-chart"));
    setAccessibleName(tr("Step time"));
    connect(bars_, &StackedBars::activated, this, &RunChart::activated);
    bars_->setTitle(tr("Step time, modelled cluster"));
}

std::vector<BarPart> TimeChart::parts(const StepParts& step) const {
    return {{tr("compute"), theme().compute, step.compute},
            {tr("compression"), theme().compression, step.compression},
            {tr("server"), theme().server, step.server},
            {tr("network"), theme().network, step.network},
            {tr("sharing cores"), theme().turn, step.turn}};
}

void TimeChart::redraw() {
    std::vector<BarRow> rows;
    QStringList words;
    const RunList runs = shownRuns();
    for (const RunInfo& run : runs) {
        const StepParts modelled = run.series->simulatedParts();
        const StepParts here = run.series->measuredParts();
        rows.push_back({run.name, theme().runColour(run.colour), seconds(modelled.total()), false,
                        parts(modelled)});
        rows.push_back({tr("here"), {}, seconds(here.total()), true, parts(here)});
        if (here.hidden > kShownShare * here.total()) {
            QColor faint = theme().network;
            faint.setAlphaF(kFaint);
            rows.push_back({tr("hidden"),
                            {},
                            tr("%1 network behind computing").arg(seconds(here.hidden)),
                            true,
                            {{tr("network"), faint, here.hidden}}});
        }
        words << tr("%1 %2, network %3")
                     .arg(run.name, seconds(modelled.total()), seconds(modelled.network));
    }
    const bool cpuTime = std::any_of(runs.begin(), runs.end(),
                                     [](const RunInfo& run) { return run.series->cpuTimeShown(); });
    bars_->setNote(cpuTime ? tr("CPU time: more workers than cores") : QString());
    bars_->setSummary(
        tr("Time of a step on the modelled cluster: %1").arg(words.join(QStringLiteral("; "))));
    bars_->setRows(std::move(rows), ValueKind::Seconds);
}

QStringList TimeChart::logFields() const {
    QStringList fields{QStringLiteral("link_s"), QStringLiteral("aggregate_cpu")};
    for (const char* clock : {"t", "cpu"})
        for (const char* part : {"forward", "backward", "compress", "encode", "transfer", "wait",
                                 "turn", "decode", "update", "transfer_hidden"})
            fields << QStringLiteral("%1.%2").arg(QLatin1String(clock), QLatin1String(part));
    return fields;
}

void TimeChart::paintParts(QPainter& painter) {
    bars_->paint(painter);
}

std::unique_ptr<RunChart> TimeChart::fresh() const {
    return std::make_unique<TimeChart>();
}

void TimeChart::applyTheme() {
    bars_->setTheme(theme());
}

} // namespace gradlab::widgets
