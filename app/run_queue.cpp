// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/run_queue.h"

#include "app/run_collection.h"

#include <algorithm>
#include <utility>

namespace gradlab::app {

void RunQueue::add(RunPlan plan) {
    beginInsertRows({}, waiting(), waiting());
    plans_.push_back(std::move(plan));
    endInsertRows();
    Q_EMIT changed();
}

void RunQueue::removeAt(int row) {
    if (row < 0 || row >= waiting())
        return;
    beginRemoveRows({}, row, row);
    plans_.erase(plans_.begin() + row);
    endRemoveRows();
    held_ = held_ && !plans_.empty();
    Q_EMIT changed();
}

bool RunQueue::moveBy(int row, int places) {
    const int to = row + places;
    if (places == 0 || row < 0 || row >= waiting() || to < 0 || to >= waiting())
        return false;
    beginMoveRows({}, row, row, {}, places > 0 ? to + 1 : to);
    const auto first = plans_.begin() + std::min(row, to);
    const auto last = plans_.begin() + std::max(row, to) + 1;
    std::rotate(first, places > 0 ? first + 1 : last - 1, last);
    endMoveRows();
    Q_EMIT changed();
    return true;
}

std::optional<RunPlan> RunQueue::takeNext() {
    if (held_ || plans_.empty())
        return std::nullopt;
    RunPlan plan = plans_.front();
    removeAt(0);
    return plan;
}

void RunQueue::setHeld(bool held) {
    const bool next = held && !plans_.empty();
    if (next == held_)
        return;
    held_ = next;
    Q_EMIT changed();
}

void RunQueue::countStart() {
    ++begun_;
    Q_EMIT changed();
}

void RunQueue::countEnd() {
    begun_ = 0;
}

QString RunQueue::countText() const {
    const int total = begun_ + waiting();
    return total > 1 ? tr("%1 of %2").arg(std::max(1, begun_)).arg(total) : QString();
}

int RunQueue::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : waiting();
}

QString RunQueue::title(const RunPlan& plan) {
    QStringList names;
    for (const engine::Experiment& experiment : plan.experiments)
        names << experimentTitle(experiment);
    return names.join(tr(", "));
}

QVariant RunQueue::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const RunPlan& plan = plans_[static_cast<std::size_t>(index.row())];
    if (role == Qt::DisplayRole)
        return title(plan);
    if (role != Qt::ToolTipRole)
        return {};
    QStringList lines;
    for (const engine::Experiment& experiment : plan.experiments)
        lines << tr("%1: %2").arg(experimentTitle(experiment), methodText(experiment));
    if (plan.fork)
        lines << tr("Fork of %1 from step %2").arg(plan.fork->run).arg(plan.fork->point.step);
    lines << (plan.folder.empty()
                  ? tr("Not kept")
                  : tr("Kept in %1").arg(QString::fromStdString(plan.folder.string())));
    return lines.join(QLatin1Char('\n'));
}

} // namespace gradlab::app
