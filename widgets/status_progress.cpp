// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/status_progress.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QProgressBar>

#include <cmath>

namespace gradlab::widgets {

namespace {
constexpr int kBarSteps = 1000;
}

StatusProgress::StatusProgress(QWidget* parent)
    : QWidget(parent), bar_(new QProgressBar(this)), label_(new QLabel(this)) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(4, 0, 4, 0);
    row->addWidget(label_);
    row->addWidget(bar_);
    bar_->setFixedWidth(160);
    bar_->setTextVisible(false);
    bar_->setRange(0, kBarSteps);
    bar_->setAccessibleName(tr("Progress"));
    label_->setAccessibleName(tr("Progress in words"));
    setIdle({});
}

void StatusProgress::setProgress(quint64 step, quint64 last, double secondsLeft,
                                 double stepsPerSecond) {
    const QLocale locale;
    QStringList parts;
    if (!prefix_.isEmpty())
        parts << prefix_;
    parts << (last > 0 ? tr("step %1 of %2").arg(locale.toString(step), locale.toString(last))
                       : tr("step %1").arg(locale.toString(step)));
    if (stepsPerSecond > 0.0)
        parts << tr("%1 steps/s")
                     .arg(locale.toString(stepsPerSecond, 'f', stepsPerSecond < 10.0 ? 1 : 0));
    if (secondsLeft > 0.0)
        parts << timeLeftText(secondsLeft);
    label_->setText(parts.join(QStringLiteral(" · ")));
    bar_->setVisible(last > 0);
    bar_->setRange(0, kBarSteps);
    if (last > 0)
        bar_->setValue(static_cast<int>(kBarSteps * std::min(step, last) / last));
}

void StatusProgress::setLoading(const QString& text, double share) {
    label_->setText(prefix_.isEmpty() ? text : prefix_ + QStringLiteral(" · ") + text);
    bar_->setVisible(true);
    bar_->setRange(0, share < 0.0 ? 0 : kBarSteps);
    if (share >= 0.0)
        bar_->setValue(static_cast<int>(std::lround(kBarSteps * std::min(share, 1.0))));
}

void StatusProgress::setIdle(const QString& text) {
    label_->setText(text);
    bar_->setVisible(false);
}

QString timeLeftText(double seconds) {
    if (seconds < 1.5)
        return StatusProgress::tr("about a second left");
    if (seconds < 90.0)
        return StatusProgress::tr("about %1 s left").arg(std::lround(seconds));
    if (seconds < 90.0 * 60.0)
        return StatusProgress::tr("about %1 min left").arg(std::lround(seconds / 60.0));
    return StatusProgress::tr("about %1 h left").arg(QLocale().toString(seconds / 3600.0, 'f', 1));
}

} // namespace gradlab::widgets
