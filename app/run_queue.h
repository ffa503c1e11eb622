// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Races that wait for the one that is on, in order, as a list for views. Leaves out: starting them.
#pragma once

#include "app/fork_bar.h"

#include <QAbstractListModel>

#include <filesystem>
#include <optional>
#include <vector>

namespace gradlab::app {

/// All that a start needs.
struct RunPlan {
    std::vector<engine::Experiment> experiments; ///< valid
    std::filesystem::path folder;                ///< empty: not kept
    std::optional<ForkSource> fork;
};

class RunQueue : public QAbstractListModel {
    Q_OBJECT

public:
    using QAbstractListModel::QAbstractListModel;

    void add(RunPlan plan);
    void removeAt(int row);
    /// @return whether there was such a place
    bool moveBy(int row, int places);
    /// The first one, taken off; nothing while the queue is held or empty.
    [[nodiscard]] std::optional<RunPlan> takeNext();
    [[nodiscard]] bool isEmpty() const noexcept { return plans_.empty(); }
    [[nodiscard]] int waiting() const noexcept { return static_cast<int>(plans_.size()); }

    /// Held: nothing is taken until it is let go. An empty queue is never held.
    void setHeld(bool held);
    [[nodiscard]] bool isHeld() const noexcept { return held_; }

    /// A run begins, from the queue or not; counts for "1 of 3".
    void countStart();
    /// Nothing runs and nothing waits: the count begins anew.
    void countEnd();
    [[nodiscard]] int begun() const noexcept { return begun_; }
    /// "1 of 3"; empty where there is just one.
    [[nodiscard]] QString countText() const;

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;

Q_SIGNALS:
    void changed();

private:
    [[nodiscard]] static QString title(const RunPlan& plan);

    std::vector<RunPlan> plans_;
    bool held_ = false;
    int begun_ = 0;
};

} // namespace gradlab::app
