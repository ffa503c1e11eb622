// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/run_table_model.h"

#include "widgets/axis_ticks.h"

#include <QLocale>
#include <QPixmap>
#include <QStringList>

#include <algorithm>

namespace gradlab::widgets {

namespace {

QVariant variant(const std::optional<double>& value) {
    return value ? QVariant(*value) : QVariant();
}

ValueKind kindOf(int column) {
    switch (column) {
    case RunTableModel::BytesPerStep:
    case RunTableModel::TotalBytes:
        return ValueKind::Bytes;
    case RunTableModel::SimulatedTime:
    case RunTableModel::WallTime:
        return ValueKind::Seconds;
    default:
        return ValueKind::Number;
    }
}

bool isNumber(int column) {
    return column >= RunTableModel::Step;
}

/// Text that a spreadsheet takes for a formula gets an apostrophe; cells keep no tabs or line ends.
QString tsvCell(QString text) {
    text.replace(QChar(u'\t'), QChar(u' ')).replace(QChar(u'\n'), QChar(u' '));
    if (!text.isEmpty() && QStringLiteral("=+-@").contains(text.front()))
        text.prepend(QChar(u'\''));
    return text;
}

bool sameRuns(const RunList& a, const RunList& b, std::size_t count) {
    return std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(count), b.begin(),
                      [](const RunInfo& x, const RunInfo& y) { return x.id == y.id; });
}

} // namespace

RunTableModel::RunTableModel(QObject* parent) : QAbstractTableModel(parent) {}

void RunTableModel::setRuns(const RunList& runs) {
    // Rows that stay keep their selection.
    const bool grows = runs.size() >= runs_.size() && sameRuns(runs_, runs, runs_.size());
    const auto take = [&] {
        runs_ = runs;
        numbers_.resize(runs.size());
        revisions_.assign(runs.size(), 0);
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

void RunTableModel::setTheme(const Theme& theme) {
    theme_ = theme;
    if (!runs_.empty())
        Q_EMIT dataChanged(index(0, Name), index(rowCount() - 1, Name), {Qt::DecorationRole});
}

void RunTableModel::refresh() {
    int first = -1;
    int last = -1;
    for (std::size_t row = 0; row < runs_.size(); ++row) {
        const std::uint64_t revision = runs_[row].series->revision();
        if (revision == revisions_[row])
            continue;
        revisions_[row] = revision;
        numbers_[row] = runs_[row].series->numbers();
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
    const RunNumbers& numbers = numbers_[static_cast<std::size_t>(row)];
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
    default:
        return {};
    }
}

QString RunTableModel::text(int row, int column) const {
    const RunInfo& run = runs_[static_cast<std::size_t>(row)];
    if (column == Name)
        return run.name;
    if (column == Method)
        return run.method;
    if (column == State)
        return run.state;
    const QVariant value = number(row, column);
    if (value.isNull())
        return QStringLiteral("–");
    if (column == Step)
        return QLocale().toString(value.toULongLong());
    const QString shown = QString::fromStdString(formatValue(value.toDouble(), kindOf(column), 4));
    return column == Ratio ? shown + QStringLiteral("×") : shown;
}

QVariant RunTableModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const RunInfo& run = runs_[static_cast<std::size_t>(index.row())];
    const bool name = index.column() == Name;
    switch (role) {
    case Qt::DisplayRole:
        return text(index.row(), index.column());
    case Qt::EditRole:
        return name ? run.name : text(index.row(), index.column());
    case Qt::ToolTipRole:
        return name ? run.name : QVariant();
    case Qt::CheckStateRole:
        return name ? QVariant(static_cast<int>(run.visible ? Qt::Checked : Qt::Unchecked))
                    : QVariant();
    case Qt::DecorationRole: {
        if (!name)
            return {};
        QPixmap swatch(12, 12);
        swatch.fill(theme_.runColour(run.colour));
        return swatch;
    }
    case Qt::TextAlignmentRole:
        return static_cast<int>((isNumber(index.column()) ? Qt::AlignRight : Qt::AlignLeft) |
                                Qt::AlignVCenter);
    case kSortRole: {
        const QVariant value = number(index.row(), index.column());
        return value.isNull() && !isNumber(index.column())
                   ? QVariant(text(index.row(), index.column()))
                   : value;
    }
    case kRunIdRole:
        return run.id;
    default:
        return {};
    }
}

QVariant RunTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return QAbstractTableModel::headerData(section, orientation, role);
    const QStringList titles{
        tr("Run"),       tr("Method"),         tr("State"),    tr("Step"),       tr("Train ppl"),
        tr("Valid ppl"), tr("Best ppl"),       tr("Test ppl"), tr("Bytes/step"), tr("Bytes"),
        tr("Ratio"),     tr("Simulated time"), tr("Wall time")};
    return titles.value(section);
}

Qt::ItemFlags RunTableModel::flags(const QModelIndex& index) const {
    Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    if (index.isValid() && index.column() == Name)
        flags |= Qt::ItemIsUserCheckable | Qt::ItemIsEditable;
    return flags;
}

bool RunTableModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid) || index.column() != Name)
        return false;
    RunInfo& run = runs_[static_cast<std::size_t>(index.row())];
    if (role == Qt::CheckStateRole) {
        run.visible = value.toInt() == Qt::Checked;
        Q_EMIT dataChanged(index, index, {role});
        Q_EMIT visibilityChanged(run.id, run.visible);
        return true;
    }
    const QString name = value.toString().trimmed();
    if (role != Qt::EditRole || name.isEmpty())
        return false;
    run.name = name;
    Q_EMIT dataChanged(index, index);
    Q_EMIT renamed(run.id, name);
    return true;
}

QString RunTableModel::toTsv(const QModelIndexList& rows) const {
    QStringList lines;
    QStringList header;
    for (int column = 0; column < ColumnCount; ++column)
        header << headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
    lines << header.join(QChar(u'\t'));
    const auto addRow = [&](int row) {
        QStringList cells;
        for (int column = 0; column < ColumnCount; ++column) {
            const QVariant value = number(row, column);
            if (!isNumber(column))
                cells << tsvCell(text(row, column));
            else if (column == Step)
                cells << value.toString();
            else
                cells << (value.isNull() ? QString()
                                         : QString::number(value.toDouble(), 'g',
                                                           QLocale::FloatingPointShortest));
        }
        lines << cells.join(QChar(u'\t'));
    };
    if (rows.isEmpty())
        for (int row = 0; row < rowCount(); ++row)
            addRow(row);
    for (const QModelIndex& index : rows)
        addRow(index.row());
    return lines.join(QChar(u'\n')) + QChar(u'\n');
}

} // namespace gradlab::widgets
