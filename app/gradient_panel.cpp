// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gradient_panel.h"

#include "engine/core/errors.h"
#include "widgets/gradient_inspector.h"

#include <QVBoxLayout>

#include <algorithm>

namespace gradlab::app {

GradientPanel::GradientPanel(QWidget* parent)
    : QWidget(parent), inspector_(new widgets::GradientInspector(this)) {
    setObjectName(QStringLiteral("gradientPanel"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(inspector_);
    connect(inspector_, &widgets::GradientInspector::runChosen, this, &GradientPanel::refresh);
    connect(inspector_, &widgets::GradientInspector::stepChosen, this, &GradientPanel::refresh);
    timer_.setInterval(kRefreshMs);
    connect(&timer_, &QTimer::timeout, this, &GradientPanel::tick);
    refresh();
}

void GradientPanel::setTheme(const widgets::Theme& theme) {
    inspector_->setTheme(theme);
}

void GradientPanel::setRuns(std::vector<Run> runs) {
    runs_ = std::move(runs);
    const auto gone = [this](const auto& entry) {
        return std::none_of(runs_.begin(), runs_.end(),
                            [&](const Run& run) { return run.id == entry.first; });
    };
    std::erase_if(kept_, gone);
    std::erase_if(recorded_, gone);
    std::vector<widgets::GradientInspector::Run> names;
    for (const Run& run : runs_)
        names.push_back({run.id, run.name});
    inspector_->setRuns(names);
    if (isVisible())
        tick(); // a short run may be over before the timer's next turn
}

void GradientPanel::add(int runId, const Snapshot& snapshot) {
    std::deque<Snapshot>& kept = kept_[runId];
    if (kept.size() == kMostKept)
        kept.pop_front();
    kept.push_back(snapshot);
}

const GradientPanel::Run* GradientPanel::current() const {
    const auto found = std::find_if(runs_.begin(), runs_.end(),
                                    [this](const Run& run) { return run.id == inspector_->run(); });
    return found == runs_.end() ? nullptr : &*found;
}

/// Why there is nothing to see.
QString GradientPanel::why() const {
    const Run* run = current();
    if (run == nullptr)
        return tr("Start a run: what its workers send of their gradients, and what they keep, is "
                  "shown here.");
    if (run->isOn)
        return tr("Waiting for the next step of %1.").arg(run->name);
    return tr("No step of %1 was looked into. A run keeps such looks in its folder when \"Look "
              "into every\" (--inspect-every) is not 0.")
        .arg(run->name);
}

void GradientPanel::setRecorded(int runId, engine::InspectionFile file) {
    if (!file.steps().empty())
        recorded_.insert_or_assign(runId, std::move(file));
    if (isVisible())
        refresh();
}

void GradientPanel::showRecorded(const engine::InspectionFile& file) {
    inspector_->setSteps(file.steps());
    const std::pair wanted{inspector_->run(), inspector_->stepIndex()};
    if (wanted == read_)
        return;
    read_ = wanted;
    try {
        inspector_->setSnapshot(std::make_shared<const engine::GradientSnapshot>(
                                    file.read(static_cast<std::size_t>(wanted.second))),
                                QString());
    } catch (const engine::Error& error) {
        inspector_->setSnapshot(nullptr, QString::fromStdString(error.what()));
    }
}

void GradientPanel::refresh() {
    const auto recorded = recorded_.find(inspector_->run());
    if (recorded != recorded_.end()) {
        showRecorded(recorded->second);
        return;
    }
    read_ = {0, -1};
    const auto kept = kept_.find(inspector_->run());
    if (kept == kept_.end() || kept->second.empty()) {
        inspector_->setSteps({});
        inspector_->setSnapshot(nullptr, why());
        return;
    }
    std::vector<std::uint64_t> steps;
    for (const Snapshot& snapshot : kept->second)
        steps.push_back(snapshot->step);
    inspector_->setSteps(std::move(steps));
    inspector_->setSnapshot(kept->second[static_cast<std::size_t>(inspector_->stepIndex())],
                            QString());
}

void GradientPanel::tick() {
    if (window()->isMinimized())
        return;
    refresh();
    const Run* run = current();
    if (run != nullptr && run->isOn && inspector_->follows())
        Q_EMIT inspectionWanted(run->id, {inspector_->rank(), inspector_->tensor()});
}

void GradientPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    timer_.start();
    tick();
}

void GradientPanel::hideEvent(QHideEvent* event) {
    timer_.stop();
    QWidget::hideEvent(event);
}

} // namespace gradlab::app
