// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/gradient_inspector_table.h"

#include "widgets/axis_ticks.h"

#include <QFont>
#include <QLocale>

#include <cmath>
#include <limits>

namespace gradlab::widgets {

namespace {

double ratio(double part, double whole) {
    return whole > 0.0 ? part / whole : std::numeric_limits<double>::quiet_NaN();
}

/// Everything but histograms and maps.
engine::TensorSnapshot numbersOf(const engine::TensorSnapshot& tensor) {
    engine::TensorSnapshot out;
    out.elements = tensor.elements;
    out.selected = tensor.selected;
    out.squaredGradient = tensor.squaredGradient;
    out.squaredNorm = tensor.squaredNorm;
    out.squaredKept = tensor.squaredKept;
    out.squaredError = tensor.squaredError;
    out.squaredResidual = tensor.squaredResidual;
    return out;
}

} // namespace

engine::TensorSnapshot sumOfTensors(const engine::WorkerSnapshot& worker) {
    engine::TensorSnapshot sum;
    for (const engine::TensorSnapshot& tensor : worker.tensors) {
        sum.elements += tensor.elements;
        sum.selected += tensor.selected;
        sum.squaredGradient += tensor.squaredGradient;
        sum.squaredNorm += tensor.squaredNorm;
        sum.squaredKept += tensor.squaredKept;
        sum.squaredError += tensor.squaredError;
        sum.squaredResidual += tensor.squaredResidual;
    }
    return sum;
}

void GradientInspectorTable::setSnapshot(std::shared_ptr<const engine::GradientSnapshot> snapshot,
                                         std::uint32_t worker) {
    const int before = rowCount();
    const bool known = snapshot != nullptr && worker < snapshot->workers.size();
    const int after = known ? static_cast<int>(snapshot->workers[worker].tensors.size()) + 1 : 0;
    if (before != after)
        beginResetModel();
    snapshot_ = known ? std::move(snapshot) : nullptr;
    rows_.clear();
    if (snapshot_) {
        for (const engine::TensorSnapshot& tensor : snapshot_->workers[worker].tensors)
            rows_.push_back(numbersOf(tensor));
        rows_.push_back(sumOfTensors(snapshot_->workers[worker]));
    }
    if (before != after)
        endResetModel();
    else if (after > 0)
        Q_EMIT dataChanged(index(0, 0), index(after - 1, ColumnCount - 1));
}

int GradientInspectorTable::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int GradientInspectorTable::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

double GradientInspectorTable::number(int row, int column) const {
    const engine::TensorSnapshot& tensor = rows_.at(static_cast<std::size_t>(row));
    switch (column) {
    case Elements:
        return static_cast<double>(tensor.elements);
    case Density:
        return ratio(static_cast<double>(tensor.selected), static_cast<double>(tensor.elements));
    case Energy:
        return ratio(tensor.squaredKept, tensor.squaredNorm);
    case Error:
        return std::sqrt(ratio(tensor.squaredError, tensor.squaredNorm));
    case Residual:
        return std::sqrt(tensor.squaredResidual);
    case Waiting:
        return ratio(tensor.squaredResidual, tensor.squaredGradient);
    default:
        return std::numeric_limits<double>::quiet_NaN();
    }
}

QVariant GradientInspectorTable::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || !snapshot_)
        return {};
    const int row = index.row();
    const bool sum = row + 1 == rowCount();
    if (role == Qt::FontRole && sum) {
        QFont font;
        font.setBold(true);
        return font;
    }
    if (role == Qt::TextAlignmentRole)
        return index.column() == Tensor ? int(Qt::AlignLeft | Qt::AlignVCenter)
                                        : int(Qt::AlignRight | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    if (index.column() == Tensor)
        return sum ? tr("whole gradient")
                   : QString::fromStdString(snapshot_->tensors[static_cast<std::size_t>(row)].name);
    const double value = number(row, index.column());
    if (!std::isfinite(value))
        return QStringLiteral("–");
    if (index.column() == Elements)
        return QLocale().toString(value, 'f', 0);
    const bool share = index.column() == Density || index.column() == Energy;
    return QString::fromStdString(formatValue(value, share ? ValueKind::Share : ValueKind::Number));
}

QVariant GradientInspectorTable::headerData(int section, Qt::Orientation orientation,
                                            int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    struct Text {
        QString name;
        QString tip;
    };
    const std::array<Text, ColumnCount> texts = {
        {{tr("Tensor"), tr("x is what the compressor saw, gradient and memory; C(x) what arrives")},
         {tr("Elements"), tr("n")},
         {tr("Density"), tr("Elements in the message: selected / n")},
         {tr("Energy"), tr("Energy that arrives: ‖C(x)‖² / ‖x‖²")},
         {tr("Error"), tr("‖x − C(x)‖ / ‖x‖")},
         {tr("Residual"), tr("What waits in the memory after the step: ‖e‖; 0 without a memory")},
         {tr("Waits"),
          tr("Energy that waits, in gradients of this size: ‖e‖² / ‖g‖², g being this step's "
             "gradient as the memory takes it in. If the gradients of successive steps were "
             "independent of each other, this would be the mean number of steps that a gradient "
             "has waited; where they agree it is more, where they cancel it is less. With DGC e "
             "is v, in which velocities add up: a gradient counts up to 1/(1 − m) times.")}}};
    const Text& text = texts[static_cast<std::size_t>(section)];
    if (role == Qt::DisplayRole)
        return text.name;
    return role == Qt::ToolTipRole ? QVariant(text.tip) : QVariant();
}

} // namespace gradlab::widgets
