// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The worker processes of a run as a table: who, where, in what state, how fast. kSortRole gives
// numbers for a QSortFilterProxyModel.
#pragma once

#include "engine/training/cluster_coordinator.h"

#include <QAbstractTableModel>

#include <vector>

namespace gradlab::widgets {

class WorkerTableModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column {
        Rank,
        Name,
        Host,
        Process, ///< pid, "here" where this program started it
        State,
        Step,
        StepTime,
        BytesUp,
        BytesDown,
        Heard, ///< seconds since its last sign of life
        RoundTrip,
        ColumnCount
    };
    static constexpr int kSortRole = Qt::UserRole;

    explicit WorkerTableModel(QObject* parent = nullptr);
    /// Takes a new view; rows that stay keep their selection.
    void setMembers(const std::vector<engine::ClusterMember>& members);
    [[nodiscard]] const engine::ClusterMember* member(int row) const;

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                      int role) const override;

private:
    [[nodiscard]] QString text(const engine::ClusterMember& member, int column) const;

    std::vector<engine::ClusterMember> members_;
};

/// The state in words: "computing", "frozen on purpose", …
[[nodiscard]] QString stateText(const engine::ClusterMember& member);

} // namespace gradlab::widgets
