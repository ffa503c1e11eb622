// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/run_table_model.h"

#include "widgets/run_table_columns.h"

#include <QFont>

#include <algorithm>
#include <cmath>

namespace gradlab::widgets {

namespace {

QVariant variant(const std::optional<double>& value) {
    return value ? QVariant(*value) : QVariant();
}

bool sameRuns(const RunList& a, const RunList& b, std::size_t count) {
    return std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(count), b.begin(),
                      [](const RunInfo& x, const RunInfo& y) { return x.id == y.id; });
}

double at(const XValues& x, XAxis axis) {
    return x[static_cast<std::size_t>(axis)];
}

} // namespace

RunTableModel::RunTableModel(QObject* parent) : QAbstractTableModel(parent) {}

void RunTableModel::setRuns(const RunList& runs) {
    // Rows that stay keep their selection.
    const bool grows = runs.size() >= runs_.size() && sameRuns(runs_, runs, runs_.size());
    const auto take = [&] {
        runs_ = runs;
        rows_.assign(runs.size(), {});
        const auto pinned = std::find_if(runs_.begin(), runs_.end(),
                                         [](const RunInfo& run) { return run.baseline; });
        baseline_ = pinned == runs_.end() ? -1 : static_cast<int>(pinned - runs_.begin());
        compareSettings();
    };
    if (!grows) {
        beginResetModel();
        take();
        endResetModel();
    } else if (runs.size() > runs_.size()) {
        beginInsertRows({}, static_cast<int>(runs_.size()), static_cast<int>(runs.size()) - 1);
        take();
        endInsertRows();
    } else {
        take();
    }
    refresh();
    if (!runs_.empty())
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

void RunTableModel::compareSettings() {
    if (baseline_ < 0 || runs_[static_cast<std::size_t>(baseline_)].experiment == nullptr)
        return;
    const auto& base = *runs_[static_cast<std::size_t>(baseline_)].experiment;
    for (std::size_t row = 0; row < runs_.size(); ++row)
        if (runs_[row].experiment != nullptr)
            rows_[row].other = settingDifferences(*runs_[row].experiment, base);
}

void RunTableModel::setTheme(const Theme& theme) {
    theme_ = theme;
    if (!runs_.empty())
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1),
                           {Qt::DecorationRole, Qt::ForegroundRole});
}

void RunTableModel::setTarget(std::optional<double> perplexity) {
    if (target_ == perplexity)
        return;
    target_ = perplexity;
    for (std::size_t row = 0; row < runs_.size(); ++row)
        rows_[row].target = target_ ? runs_[row].series->reached(*target_) : std::nullopt;
    if (!runs_.empty())
        Q_EMIT dataChanged(index(0, TargetSteps), index(rowCount() - 1, TargetTime));
}

void RunTableModel::setDifferences(Differences shown) {
    shown_ = shown;
    if (!runs_.empty())
        Q_EMIT dataChanged(index(0, Step), index(rowCount() - 1, ColumnCount - 1));
}

const RunTableModel::Row* RunTableModel::baselineRow() const {
    return baseline_ < 0 ? nullptr : &rows_[static_cast<std::size_t>(baseline_)];
}

/// True if a cell of the row may have changed.
bool RunTableModel::refreshRow(std::size_t row, bool baselineChanged) {
    Row& own = rows_[row];
    const RunSeries& series = *runs_[row].series;
    const bool changed = series.revision() != own.revision;
    if (changed) {
        own.revision = series.revision();
        own.numbers = series.numbers();
        if (target_)
            own.target = series.reached(*target_);
    }
    if (baseline_ >= 0 && (changed || baselineChanged))
        own.loss.advance(series, *runs_[static_cast<std::size_t>(baseline_)].series);
    return changed || baselineChanged;
}

void RunTableModel::refresh() {
    int first = -1;
    int last = -1;
    const bool baselineChanged =
        baseline_ >= 0 &&
        runs_[static_cast<std::size_t>(baseline_)].series->revision() != baselineRow()->revision;
    for (std::size_t row = 0; row < runs_.size(); ++row) {
        if (!refreshRow(row, baselineChanged))
            continue;
        last = static_cast<int>(row);
        first = first < 0 ? last : first;
    }
    if (first >= 0)
        Q_EMIT dataChanged(index(first, Step), index(last, ColumnCount - 1));
}

int RunTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(runs_.size());
}

int RunTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant RunTableModel::number(int row, int column) const {
    const Row& own = rows_[static_cast<std::size_t>(row)];
    const RunNumbers& numbers = own.numbers;
    switch (column) {
    case Step:
        return QVariant::fromValue<qulonglong>(numbers.step);
    case TrainPerplexity:
        return variant(numbers.trainPerplexity);
    case ValidPerplexity:
        return variant(numbers.validPerplexity);
    case BestPerplexity:
        return variant(numbers.bestPerplexity);
    case TestPerplexity:
        return variant(numbers.testPerplexity);
    case BytesPerStep:
        return variant(numbers.bytesPerStep);
    case TotalBytes:
        return variant(numbers.bytesTotal);
    case Ratio:
        return variant(numbers.compressionRatio);
    case SimulatedTime:
        return numbers.simulatedS;
    case WallTime:
        return numbers.wallS;
    case TargetSteps:
        return own.target ? QVariant::fromValue<qulonglong>(
                                static_cast<qulonglong>(at(*own.target, XAxis::Step)))
                          : QVariant();
    case TargetBytes:
        return own.target ? QVariant(at(*own.target, XAxis::Bytes)) : QVariant();
    case TargetTime:
        return own.target ? QVariant(at(*own.target, XAxis::SimulatedTime)) : QVariant();
    case MaxLossDifference:
        return row != baseline_ && own.loss.steps() > 0 ? QVariant(own.loss.largest()) : QVariant();
    default:
        return {};
    }
}

std::optional<RunTableModel::Apart> RunTableModel::apart(int row, int column) const {
    if (baseline_ < 0 || row == baseline_ || !isNumber(column) ||
        runColumn(column).better == RunColumn::Better::Neither)
        return std::nullopt;
    const QVariant own = number(row, column);
    const QVariant base = number(baseline_, column);
    if (own.isNull() || base.isNull())
        return std::nullopt;
    Apart apart{own.toDouble() - base.toDouble(), std::nullopt};
    if (base.toDouble() != 0.0)
        apart.percent = 100.0 * apart.absolute / std::abs(base.toDouble());
    return apart;
}

QVariant RunTableModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const RunInfo& run = runs_[static_cast<std::size_t>(index.row())];
    const int column = index.column();
    const bool name = column == Name;
    switch (role) {
    case Qt::DisplayRole:
        return text(index.row(), column);
    case Qt::EditRole:
        return column == Note ? run.note : name ? run.name : text(index.row(), column);
    case Qt::ToolTipRole:
        return toolTip(index.row(), column);
    case Qt::CheckStateRole:
        return name ? QVariant(static_cast<int>(run.visible ? Qt::Checked : Qt::Unchecked))
                    : QVariant();
    case Qt::DecorationRole:
        return name ? swatch(run) : QVariant();
    case Qt::ForegroundRole:
        return foreground(index.row(), column);
    case Qt::FontRole: {
        QFont bold;
        bold.setBold(true);
        return run.baseline ? QVariant(bold) : QVariant();
    }
    case Qt::TextAlignmentRole:
        return static_cast<int>((isNumber(column) ? Qt::AlignRight : Qt::AlignLeft) |
                                Qt::AlignVCenter);
    case kSortRole:
        return isNumber(column) ? number(index.row(), column) : QVariant(text(index.row(), column));
    case kRunIdRole:
        return run.id;
    default:
        return {};
    }
}

QVariant RunTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return QAbstractTableModel::headerData(section, orientation, role);
    if (role == Qt::DisplayRole)
        return tr(runColumn(section).title);
    if (role == Qt::ToolTipRole)
        return tr(runColumn(section).tip);
    return QAbstractTableModel::headerData(section, orientation, role);
}

Qt::ItemFlags RunTableModel::flags(const QModelIndex& index) const {
    Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    if (index.isValid() && index.column() == Name)
        flags |= Qt::ItemIsUserCheckable | Qt::ItemIsEditable;
    if (index.isValid() && index.column() == Note)
        flags |= Qt::ItemIsEditable;
    return flags;
}

bool RunTableModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return false;
    RunInfo& run = runs_[static_cast<std::size_t>(index.row())];
    if (index.column() == Name && role == Qt::CheckStateRole) {
        run.visible = value.toInt() == Qt::Checked;
        Q_EMIT dataChanged(index, index, {role});
        Q_EMIT visibilityChanged(run.id, run.visible);
        return true;
    }
    if (role != Qt::EditRole)
        return false;
    const QString text = value.toString().trimmed();
    if (index.column() == Name && !text.isEmpty()) {
        run.name = text;
        Q_EMIT dataChanged(index, index);
        Q_EMIT renamed(run.id, text);
        return true;
    }
    if (index.column() != Note)
        return false;
    run.note = text;
    Q_EMIT dataChanged(index, index);
    Q_EMIT noteChanged(run.id, text);
    return true;
}

} // namespace gradlab::widgets
