// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/prediction_tool.h"

#include "widgets/perplexity_chart.h"
#include "widgets/plot_widget.h"
#include "widgets/run_series.h"

#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>

#include <algorithm>
#include <cmath>

namespace gradlab::app {
namespace {

constexpr double kMostPerplexity = 1e6;
constexpr int kMostStep = 2'000'000'000;

QString shortNumber(double value) {
    return QString::number(value, 'g', 3);
}

double stepOf(const widgets::SeriesStore::Sample& sample) {
    return sample.x[static_cast<std::size_t>(widgets::XAxis::Step)];
}

} // namespace

PredictionTool::PredictionTool(widgets::PerplexityChart* chart, QWidget* parent)
    : QFrame(parent), chart_(chart), perplexity_(new QDoubleSpinBox(this)),
      step_(new QSpinBox(this)), curtain_(new QCheckBox(tr("Hide the curves until then"), this)) {
    setObjectName(QStringLiteral("predictionTool"));
    setAccessibleName(tr("Prediction"));
    setFrameShape(QFrame::StyledPanel);
    build();
    connect(chart_, &widgets::PerplexityChart::predictionDrawn, this, &PredictionTool::takeDrawn);
    hide();
}

void PredictionTool::build() {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(6, 3, 6, 3);
    auto* hint =
        new QLabel(tr("Draw with the mouse what the perplexity will be, or type it:"), this);
    hint->setWordWrap(true);
    row->addWidget(hint, 1);
    perplexity_->setRange(1.0, kMostPerplexity);
    perplexity_->setDecimals(2);
    perplexity_->setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
    perplexity_->setValue(20.0);
    perplexity_->setPrefix(tr("perplexity "));
    perplexity_->setAccessibleName(tr("Predicted perplexity"));
    perplexity_->setToolTip(tr("The perplexity at that step, from 1; a straight line leads to it "
                               "from where the runs are"));
    step_->setRange(1, kMostStep);
    step_->setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
    step_->setValue(kFirstHorizon);
    step_->setPrefix(tr("at step "));
    step_->setAccessibleName(tr("Step of the prediction"));
    step_->setToolTip(tr("Where the prediction ends; the chart reaches as far"));
    curtain_->setToolTip(tr("Nothing of the perplexity chart's curves is seen before the runs have "
                            "come to the prediction's end; the strip and the table go on"));
    const auto button = [&](const QString& text, const QString& tip) {
        auto* made = new QPushButton(text, this);
        made->setToolTip(tip);
        return made;
    };
    QPushButton* set = button(tr("Set"), tr("Predict what is typed (Return)"));
    QPushButton* erase = button(tr("Erase"), tr("Forget the prediction"));
    QPushButton* done = button(tr("Done"), tr("Put the pen away; the prediction stays (Esc)"));
    for (QWidget* part :
         std::initializer_list<QWidget*>{perplexity_, step_, set, curtain_, erase, done})
        row->addWidget(part);
    connect(step_, &QSpinBox::valueChanged, this, [this](int step) {
        chart_->setPredicting(isVisible() ? std::optional<double>(step) : std::nullopt);
    });
    connect(set, &QPushButton::clicked, this, &PredictionTool::takeTyped);
    connect(erase, &QPushButton::clicked, this, &PredictionTool::erase);
    connect(done, &QPushButton::clicked, this, &PredictionTool::closed);
    connect(curtain_, &QCheckBox::toggled, this, [this] {
        known_ = now_;
        drawCurtain();
    });
}

void PredictionTool::setOpen(bool open) {
    setVisible(open);
    chart_->setPredicting(open ? std::optional<double>(step_->value()) : std::nullopt);
    if (open)
        perplexity_->setFocus(Qt::ShortcutFocusReason);
}

void PredictionTool::setHorizon(std::uint64_t step) {
    const QSignalBlocker blocker(step_);
    if (chart_->prediction().isEmpty())
        step_->setValue(step == 0 ? std::max(kFirstHorizon, static_cast<int>(2.0 * now_))
                                  : static_cast<int>(std::min<std::uint64_t>(step, kMostStep)));
}

void PredictionTool::begin() {
    now_ = known_ = 0.0;
    told_ = false;
    drawCurtain();
}

void PredictionTool::takeTyped() {
    perplexity_->interpretText();
    step_->interpretText();
    widgets::Prediction typed;
    const widgets::PlotPoint end{static_cast<double>(step_->value()), perplexity_->value()};
    const std::optional<double> current = chart_->currentPerplexity();
    const bool leads = current && now_ > 0.0 && now_ < end.x;
    typed.stroke(leads ? widgets::PlotPoint{now_, *current} : end, end);
    chart_->setPrediction(typed);
    changed();
}

void PredictionTool::takeDrawn() {
    const widgets::PlotPoint& end = chart_->prediction().end();
    perplexity_->setValue(end.y);
    changed();
}

void PredictionTool::erase() {
    chart_->setPrediction({});
    changed();
}

void PredictionTool::changed() {
    told_ = false;
    known_ = now_;
    drawCurtain();
    chart_->refresh();
}

void PredictionTool::drawCurtain() {
    const bool hides = curtain_->isChecked() && !told_ && !chart_->prediction().isEmpty();
    chart_->setCurtain(hides ? std::optional<double>(known_) : std::nullopt);
}

void PredictionTool::check(const widgets::RunList& race, bool active) {
    for (const widgets::RunInfo& run : race)
        now_ = std::max(now_, static_cast<double>(run.series->numbers().step));
    if (told_ || chart_->prediction().isEmpty() || race.empty())
        return;
    const double end = chart_->prediction().end().x;
    const bool there = std::all_of(race.begin(), race.end(), [&](const widgets::RunInfo& run) {
        const auto valid = run.series->last(widgets::Metric::ValidPerplexity);
        return run.series->end() || (valid && stepOf(*valid) >= end);
    });
    if (!there && active)
        return;
    const QString sentence = verdict(race);
    if (sentence.isEmpty())
        return; // no run has got far enough to compare anything
    told_ = true;
    drawCurtain();
    Q_EMIT revealed(sentence);
}

/// A run that ended before is compared with the prediction at its own end.
QString PredictionTool::verdict(const widgets::RunList& race) const {
    const widgets::Prediction& prediction = chart_->prediction();
    const double end = prediction.end().x;
    QStringList parts;
    for (const widgets::RunInfo& run : race) {
        const auto axis = widgets::XAxis::Step;
        auto actual = run.series->nearest(widgets::Metric::ValidPerplexity, axis, end);
        const bool valid = actual.has_value();
        if (!valid)
            actual = run.series->nearest(widgets::Metric::TrainPerplexity, axis, end);
        if (!actual)
            continue;
        const double at = std::min(stepOf(*actual), end);
        const auto predicted = prediction.valueAt(at);
        if (!predicted)
            continue;
        const QString kind = valid ? tr("validation") : tr("training");
        parts << tr("%1 has %2 at step %3 (%4): %5 times the predicted %6")
                     .arg(run.name, shortNumber(actual->value))
                     .arg(stepOf(*actual))
                     .arg(kind, shortNumber(actual->value / *predicted), shortNumber(*predicted));
    }
    return parts.isEmpty() ? QString()
                           : tr("Prediction: %1.").arg(parts.join(QStringLiteral("; ")));
}

/// Return sets, Escape puts the pen away; before the window's own keys.
bool PredictionTool::event(QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride &&
        static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape)
        event->accept();
    return QFrame::event(event);
}

void PredictionTool::keyPressEvent(QKeyEvent* event) {
    const int key = event->key();
    if (key == Qt::Key_Escape)
        Q_EMIT closed();
    else if (key == Qt::Key_Return || key == Qt::Key_Enter) {
        auto* button = qobject_cast<QPushButton*>(focusWidget());
        if (button != nullptr)
            button->click();
        else
            takeTyped();
    } else
        QFrame::keyPressEvent(event);
}

} // namespace gradlab::app
