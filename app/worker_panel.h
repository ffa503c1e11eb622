// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The worker processes of the run that is on: a table, how to add more, and buttons that freeze or
// end one on purpose, to watch what the others do. Leaves out: the cluster itself (TrainingRun).
#pragma once

#include "engine/training/cluster_coordinator.h"

#include <QString>
#include <QWidget>

#include <cstdint>
#include <string>
#include <vector>

class QAction;
class QComboBox;
class QLabel;
class QSortFilterProxyModel;
class QTableView;
class QToolBar;

namespace gradlab::widgets {
class WorkerTableModel;
} // namespace gradlab::widgets

namespace gradlab::app {

/// One run's cluster as it is now.
struct ClusterSnapshot {
    QString run; ///< its name
    engine::ClusterView view;
    std::string keys; ///< the cluster file, or empty
};

class WorkerPanel : public QWidget {
    Q_OBJECT

public:
    explicit WorkerPanel(QWidget* parent = nullptr);
    /// Call it at the rate of the window's numbers. Empty: no processes.
    void setClusters(const std::vector<ClusterSnapshot>& clusters);
    /// The run is over: what was shown stays, nobody can be acted on.
    void showEnd();
    /// What can be done with the selected worker, for a menu.
    [[nodiscard]] QList<QAction*> commands() const;
    [[nodiscard]] QTableView* table() const noexcept { return table_; }
    [[nodiscard]] bool isEmpty() const noexcept { return clusters_.empty(); }
    /// What to type on another machine; empty without a cluster.
    [[nodiscard]] QString joinCommand() const;
    /// One line about the chosen run's cluster.
    [[nodiscard]] QString summary() const;

Q_SIGNALS:
    /// `cluster` = index into what setClusters() was given.
    void actionRequested(std::size_t cluster, std::uint32_t rank,
                         gradlab::engine::WorkerAction action);
    void workerWanted(std::size_t cluster);

private:
    QAction* addAct(const QString& text, const QString& tip, engine::WorkerAction action);
    void request(engine::WorkerAction action);
    void refresh();
    void updateActions();
    void showAddDialog();
    [[nodiscard]] const ClusterSnapshot* current() const;
    [[nodiscard]] const engine::ClusterMember* selected() const;

    std::vector<ClusterSnapshot> clusters_;
    QComboBox* run_;
    QLabel* summary_;
    QToolBar* tools_;
    widgets::WorkerTableModel* model_;
    QSortFilterProxyModel* order_;
    QTableView* table_;
    QAction* freeze_;
    QAction* thaw_;
    QAction* kill_;
    QAction* leave_;
    QAction* add_;
    bool over_ = false;
};

} // namespace gradlab::app
