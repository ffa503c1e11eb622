// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The gradient inspector with its supply: asks the run that is on for a snapshot twice a second
// while it can be seen, keeps the latest of every run, and reads those of opened runs. Leaves out:
// the drawing (widgets), the taking (engine).
#pragma once

#include "engine/metrics/gradient_snapshot.h"
#include "engine/metrics/inspection_log.h"
#include "engine/training/gradient_inspector.h"
#include "widgets/theme.h"

#include <QString>
#include <QTimer>
#include <QWidget>

#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace gradlab::widgets {
class GradientInspector;
} // namespace gradlab::widgets

namespace gradlab::app {

class GradientPanel : public QWidget {
    Q_OBJECT

public:
    using Snapshot = std::shared_ptr<const engine::GradientSnapshot>;
    struct Run {
        int id = 0;
        QString name;
        bool isOn = false; ///< it can be asked for a step
    };
    /// Snapshots kept of a run that is on or was; older ones go.
    static constexpr std::size_t kMostKept = 64;
    static constexpr int kRefreshMs = 500;

    explicit GradientPanel(QWidget* parent = nullptr);
    void setTheme(const widgets::Theme& theme);
    void setRuns(std::vector<Run> runs);
    void add(int runId, const Snapshot& snapshot);
    /// Of a run that was opened: its steps are read as they are chosen.
    void setRecorded(int runId, engine::InspectionFile file);
    /// Draws what has arrived; the timer does it while the panel can be seen.
    void refresh();
    [[nodiscard]] widgets::GradientInspector* inspector() const noexcept { return inspector_; }

Q_SIGNALS:
    void inspectionWanted(int runId, const gradlab::engine::InspectionRequest& request);

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    void tick();
    [[nodiscard]] const Run* current() const;
    [[nodiscard]] QString why() const;
    void showRecorded(const engine::InspectionFile& file);

    widgets::GradientInspector* inspector_;
    std::vector<Run> runs_;
    std::map<int, std::deque<Snapshot>> kept_;
    std::map<int, engine::InspectionFile> recorded_;
    std::pair<int, int> read_{0, -1}; ///< run and index of the recorded step that is shown
    QTimer timer_;
};

} // namespace gradlab::app
