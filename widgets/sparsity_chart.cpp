// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/sparsity_chart.h"

#include <QHBoxLayout>
#include <QStringList>

namespace gradlab::widgets {

namespace {

constexpr int kAskedAlpha = 110;

QString number(const RunInfo& run, Metric metric, XAxis axis, double x, ValueKind kind) {
    const auto sample = run.series->nearest(metric, axis, x);
    return sample ? QString::fromStdString(formatValue(sample->value, kind, 4)) : QString();
}

/// More than all of it was decoded: values that are scaled up to be right on average, as random-k's
/// without memory. Then a share would mislead.
bool isScaledUp(double energy) {
    constexpr double kRounding = 1.001;
    return energy > kRounding;
}

QString energyText(const RunInfo& run, XAxis axis, double x) {
    const auto sample = run.series->nearest(Metric::EnergyKept, axis, x);
    if (!sample)
        return {};
    if (isScaledUp(sample->value))
        return SparsityChart::tr("%1× the energy, scaled up")
            .arg(QString::fromStdString(formatValue(sample->value, ValueKind::Number, 3)));
    return SparsityChart::tr("%1 of the energy")
        .arg(QString::fromStdString(formatValue(sample->value, ValueKind::Share, 4)));
}

} // namespace

SparsityChart::SparsityChart(QWidget* parent)
    : RunChart(parent), kept_(new PlotWidget(this)), waiting_(new PlotWidget(this)) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(2);
    row->addWidget(kept_);
    row->addWidget(waiting_);
    setObjectName(QStringLiteral("sparsity-chart"));
    setAccessibleName(tr("Kept and waiting"));
    addPlot(kept_, QStringLiteral("kept-energy"));
    addPlot(waiting_, QStringLiteral("waits-in-memory"));
    kept_->setTitle(tr("Kept energy (thin: share)"));
    kept_->setYAxis(ValueKind::Share, true);
    kept_->setHoverProvider([this](double x) {
        return hoverText(*kept_, x, Metric::EnergyKept, [this, x](const RunInfo& run) {
            const auto share = [&](Metric metric) {
                return number(run, metric, xAxis(), x, ValueKind::Share);
            };
            return tr("%1, %2 of the elements (asked %3)")
                .arg(energyText(run, xAxis(), x), share(Metric::KeptAchieved),
                     share(Metric::KeptAsked));
        });
    });
    waiting_->setTitle(tr("Waits in memory (norm)"));
    waiting_->setYAxis(ValueKind::Number, false);
    waiting_->setHoverProvider([this](double x) {
        return hoverText(*waiting_, x, Metric::ResidualNorm, [this, x](const RunInfo& run) {
            return number(run, Metric::ResidualNorm, xAxis(), x, ValueKind::Number);
        });
    });
}

void SparsityChart::redraw() {
    std::vector<PlotLine> kept;
    std::vector<PlotLine> waiting;
    QStringList words;
    bool scaledUp = false;
    for (const RunInfo& run : shownRuns()) {
        PlotLine asked = line(*kept_, run, Metric::KeptAsked, false, {});
        asked.colour.setAlpha(kAskedAlpha);
        kept.push_back(std::move(asked));
        kept.push_back(line(*kept_, run, Metric::KeptAchieved, false, {}));
        addNoisyLine(kept, *kept_, run, Metric::EnergyKept, true, run.name);
        addNoisyLine(waiting, *waiting_, run, Metric::ResidualNorm, true, run.name);
        const double now = run.series->now()[static_cast<std::size_t>(xAxis())];
        words << tr("%1 %2").arg(run.name, energyText(run, xAxis(), now));
        const auto energy = run.series->nearest(Metric::EnergyKept, xAxis(), now);
        scaledUp = scaledUp || (energy && isScaledUp(energy->value));
    }
    applyXAxis(*kept_);
    applyXAxis(*waiting_);
    kept_->setData(std::move(kept), {}, changeMarks(*kept_));
    waiting_->setData(std::move(waiting), {}, changeMarks(*waiting_));
    kept_->setTitle(scaledUp ? tr("Decoded energy (thin: share)")
                             : tr("Kept energy (thin: share)"));
    kept_->setSummary(tr("Energy kept: %1").arg(words.join(QStringLiteral(", "))));
}

/// Two plots side by side need room; a narrow chart shows the one that tells more.
void SparsityChart::chooseRoom() {
    waiting_->setVisible(hasRoomForTwo());
    layout()->activate();
}

void SparsityChart::resizeEvent(QResizeEvent* event) {
    RunChart::resizeEvent(event);
    chooseRoom();
}

QStringList SparsityChart::logFields() const {
    return {QStringLiteral("ratio"),        QStringLiteral("selected"),
            QStringLiteral("nonzero"),      QStringLiteral("density"),
            QStringLiteral("error"),        QStringLiteral("energy_kept"),
            QStringLiteral("residual_norm")};
}

std::unique_ptr<RunChart> SparsityChart::fresh() const {
    return std::make_unique<SparsityChart>();
}

void SparsityChart::applyTheme() {
    chooseRoom();
    kept_->setTheme(theme());
    waiting_->setTheme(theme());
}

} // namespace gradlab::widgets
