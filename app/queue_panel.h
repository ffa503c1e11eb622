// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The queue of runs with its commands: add, up, down, remove, start.
#pragma once

#include <QWidget>

class QAction;
class QLabel;
class QListView;
class QToolBar;

namespace gradlab::app {

class RunQueue;

class QueuePanel : public QWidget {
    Q_OBJECT

public:
    /// `queue` outlives the panel; `enqueue` is the command that adds the form's experiments.
    QueuePanel(RunQueue* queue, QAction* enqueue, QWidget* parent = nullptr);

    [[nodiscard]] QListView* list() const noexcept { return list_; }
    [[nodiscard]] QAction* startAction() const noexcept { return start_; }
    [[nodiscard]] QAction* upAction() const noexcept { return up_; }
    [[nodiscard]] QAction* downAction() const noexcept { return down_; }
    [[nodiscard]] QAction* removeAction() const noexcept { return remove_; }
    /// Its commands, for a menu.
    [[nodiscard]] QList<QAction*> commands() const { return {start_, up_, down_, remove_}; }
    /// A run is on: the queue goes on by itself, unless it is held.
    void setRunning(bool running);

Q_SIGNALS:
    /// Let the queue go, and start its first run if none is on.
    void startRequested();

private:
    QAction* addCommand(const QString& text, const QKeySequence& key, const QString& tip);
    [[nodiscard]] int selected() const;
    void move(int places);
    void refresh();

    RunQueue* queue_;
    QToolBar* tools_;
    QListView* list_;
    QLabel* state_;
    QAction* up_ = nullptr;
    QAction* down_ = nullptr;
    QAction* remove_ = nullptr;
    QAction* start_ = nullptr;
    bool running_ = false;
};

} // namespace gradlab::app
