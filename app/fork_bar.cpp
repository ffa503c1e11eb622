// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/fork_bar.h"

#include "engine/core/errors.h"
#include "engine/training/checkpoint.h"

#include <QComboBox>
#include <QCoreApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QSignalBlocker>
#include <QToolButton>

namespace gradlab::app {

ForkBar::ForkBar(QWidget* parent)
    : QWidget(parent), text_(new QLabel(this)), steps_(new QComboBox(this)) {
    setObjectName(QStringLiteral("forkBar"));
    setAccessibleName(tr("Fork"));
    text_->setWordWrap(true);
    steps_->setAccessibleName(tr("Step that the fork begins at"));
    steps_->setToolTip(tr("The run's checkpoints; the fork begins with parameters, memories and "
                          "hidden states of this one"));
    connect(steps_, &QComboBox::currentIndexChanged, this, &ForkBar::choose);
    auto* cancel = new QToolButton(this);
    cancel->setObjectName(QStringLiteral("forkCancel"));
    cancel->setText(tr("No Fork"));
    cancel->setToolTip(tr("Begin from the start instead, with what the form says"));
    cancel->setFocusPolicy(Qt::TabFocus);
    connect(cancel, &QToolButton::clicked, this, &ForkBar::clear);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(text_, 1);
    row->addWidget(steps_);
    row->addWidget(cancel);
    hide();
}

void ForkBar::offer(const QString& run, const std::filesystem::path& folder,
                    const std::vector<engine::ForkPoint>& points, std::uint64_t completedAt) {
    const engine::ForkPoint& last = points.back();
    source_ = ForkSource{run, folder, last, engine::readCheckpointExperiment(last.checkpoint),
                         completedAt};
    points_ = points;
    {
        const QSignalBlocker quiet(steps_);
        steps_->clear();
        for (const engine::ForkPoint& point : points_)
            steps_->addItem(
                tr("step %1").arg(QLocale().toString(static_cast<qulonglong>(point.step))));
        steps_->setCurrentIndex(steps_->count() - 1);
    }
    text_->setText(tr("Fork of %1 from").arg(run));
    show();
    Q_EMIT sourceChanged();
}

void ForkBar::clear() {
    hide();
    if (!source_)
        return;
    source_.reset();
    Q_EMIT sourceChanged();
}

void ForkBar::choose(int index) {
    if (!source_ || index < 0 || static_cast<std::size_t>(index) >= points_.size())
        return;
    const engine::ForkPoint& point = points_[static_cast<std::size_t>(index)];
    try {
        source_->origin = engine::readCheckpointExperiment(point.checkpoint);
    } catch (const engine::DataError& error) {
        Q_EMIT failed(QString::fromUtf8(error.what()));
        return;
    }
    source_->point = point;
    Q_EMIT sourceChanged();
}

engine::Experiment forkedExperiment(const ForkSource& source) {
    engine::Experiment experiment = source.origin;
    const QString name = QCoreApplication::translate("ForkBar", "%1 from %2");
    experiment.name = name.arg(source.run, QString::number(source.point.step)).toStdString();
    const auto step = static_cast<std::int64_t>(source.point.step);
    engine::TrainingSettings& training = experiment.training;
    if (training.steps > 0 && training.steps <= step)
        training.steps = step + training.steps;
    else if (source.completedAt > 0 && source.completedAt <= source.point.step)
        training.epochs *= 2;
    return experiment;
}

} // namespace gradlab::app
