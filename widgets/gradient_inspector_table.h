// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// One worker's tensors in one step as a table, the whole gradient in the last row.
#pragma once

#include "engine/metrics/gradient_snapshot.h"

#include <QAbstractTableModel>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace gradlab::widgets {

class GradientInspectorTable : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column { Tensor, Elements, Density, Energy, Error, Residual, Waiting, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;
    /// Null: no rows.
    void setSnapshot(std::shared_ptr<const engine::GradientSnapshot> snapshot,
                     std::uint32_t worker);
    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                      int role) const override;
    /// The number of a cell; NaN where there is none.
    [[nodiscard]] double number(int row, int column) const;

private:
    std::shared_ptr<const engine::GradientSnapshot> snapshot_;
    std::vector<engine::TensorSnapshot> rows_; ///< of the worker, then their sum
};

/// Sums of a worker's tensors: counts and squared norms only.
[[nodiscard]] engine::TensorSnapshot sumOfTensors(const engine::WorkerSnapshot& worker);

} // namespace gradlab::widgets
