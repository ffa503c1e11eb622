// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The words of RunTableModel: cells, what sets them apart from the baseline, tooltips, copies.
#include "widgets/run_table_columns.h"
#include "widgets/run_table_model.h"

#include <QLocale>
#include <QPainter>
#include <QPixmap>
#include <QStringList>

#include <cmath>
#include <numeric>

namespace gradlab::widgets {

namespace {

constexpr int kSwatch = 12;
constexpr int kSettingsShown = 3;

/// Text that a spreadsheet takes for a formula gets an apostrophe; cells keep no tabs or line ends.
QString tsvCell(QString text) {
    text.replace(QChar(u'\t'), QChar(u' ')).replace(QChar(u'\n'), QChar(u' '));
    if (!text.isEmpty() && QStringLiteral("=+-@").contains(text.front()))
        text.prepend(QChar(u'\''));
    return text;
}

QString markdownCell(QString text) {
    text.replace(QChar(u'\n'), QChar(u' '));
    for (const QChar special : {QChar(u'\\'), QChar(u'|'), QChar(u'*'), QChar(u'_'), QChar(u'`'),
                                QChar(u'<'), QChar(u'['), QChar(u'~')})
        text.replace(special, QString(QChar(u'\\')) + special);
    return text;
}

QString percentText(double percent) {
    const double size = std::abs(percent);
    const int digits = size < 0.1 ? 3 : size < 10.0 ? 2 : size < 100.0 ? 1 : 0;
    return QLocale().toString(size, 'f', digits) + QStringLiteral(" %");
}

std::vector<int> orAll(const std::vector<int>& columns) {
    if (!columns.empty())
        return columns;
    std::vector<int> all(RunTableModel::ColumnCount);
    std::iota(all.begin(), all.end(), 0);
    return all;
}

std::vector<int> rowsOf(const QModelIndexList& rows, int count) {
    std::vector<int> numbers;
    for (const QModelIndex& index : rows)
        numbers.push_back(index.row());
    if (rows.isEmpty()) {
        numbers.resize(static_cast<std::size_t>(count));
        std::iota(numbers.begin(), numbers.end(), 0);
    }
    return numbers;
}

} // namespace

QString RunTableModel::text(int row, int column) const {
    const RunInfo& run = runs_[static_cast<std::size_t>(row)];
    switch (column) {
    case Name:
        return run.name;
    case Method:
        return run.method;
    case State:
        return run.state;
    case Note:
        return run.note;
    case Settings:
        return settingsText(row);
    default:
        break;
    }
    const QString shown = numberText(number(row, column), column);
    const std::optional<Apart> difference = apart(row, column);
    return difference && shown_ != Differences::Hidden
               ? shown + QStringLiteral("  ") + apartText(*difference, column, shown_)
               : shown;
}

QString RunTableModel::numberText(const QVariant& value, int column) const {
    if (value.isNull())
        return QStringLiteral("–");
    if (column == Step || column == TargetSteps)
        return QLocale().toString(value.toULongLong());
    if (column == MaxLossDifference)
        return value.toDouble() == 0.0 ? tr("0 (same bits)")
                                       : QString::number(value.toDouble(), 'g', 3);
    const QString shown =
        QString::fromStdString(formatValue(value.toDouble(), runColumn(column).kind, 4));
    return column == Ratio ? shown + QStringLiteral("×") : shown;
}

QString RunTableModel::settingsText(int row) const {
    if (baseline_ < 0)
        return QStringLiteral("–");
    if (row == baseline_)
        return tr("baseline");
    if (runs_[static_cast<std::size_t>(row)].experiment == nullptr)
        return QStringLiteral("–");
    const auto& other = rows_[static_cast<std::size_t>(row)].other;
    if (other.empty())
        return tr("as the baseline");
    QStringList words;
    for (const SettingDifference& difference : other) {
        if (words.size() == kSettingsShown)
            break;
        words << difference.label + QLatin1Char(' ') + difference.value;
    }
    const int more = static_cast<int>(other.size()) - static_cast<int>(words.size());
    if (more > 0)
        words << tr("%n more", nullptr, more);
    return QStringLiteral("≠ ") + words.join(QStringLiteral(", "));
}

/// "▲ +3.1 %": which way it is apart is told by arrow and sign, not by colour alone.
QString RunTableModel::apartText(const Apart& apart, int column, Differences shown) const {
    if (apart.absolute == 0.0)
        return QStringLiteral("=");
    const bool up = apart.absolute > 0.0;
    const QString sign = up ? QStringLiteral("+") : QStringLiteral("−");
    const QString absolute =
        sign + (column == TargetSteps
                    ? QLocale().toString(static_cast<qulonglong>(std::abs(apart.absolute)))
                    : QString::fromStdString(
                          formatValue(std::abs(apart.absolute), runColumn(column).kind, 3)));
    const QString percent = apart.percent ? sign + percentText(*apart.percent) : absolute;
    QString words = shown == Differences::Absolute ? absolute : percent;
    if (shown == Differences::Both && apart.percent)
        words = tr("%1 (%2)").arg(absolute, percent);
    return (up ? QStringLiteral("▲ ") : QStringLiteral("▼ ")) + words;
}

QVariant RunTableModel::foreground(int row, int column) const {
    if (column == Settings && row != baseline_ &&
        !rows_[static_cast<std::size_t>(row)].other.empty())
        return theme_.warning;
    const std::optional<Apart> difference = apart(row, column);
    if (!difference || difference->absolute == 0.0 || shown_ == Differences::Hidden)
        return {};
    const bool more = difference->absolute > 0.0;
    const bool better = more == (runColumn(column).better == RunColumn::Better::More);
    return better ? theme_.better : theme_.worse;
}

QString RunTableModel::toolTip(int row, int column) const {
    const RunInfo& run = runs_[static_cast<std::size_t>(row)];
    if (column == Name)
        return run.baseline ? tr("%1, the baseline of the other runs").arg(run.name) : run.name;
    if (column == Note)
        return run.note.isEmpty() ? tr("Double-click or F2 to write a note") : run.note;
    if (column == MaxLossDifference)
        return lossToolTip(row);
    if (column == Settings) {
        QStringList lines;
        for (const SettingDifference& difference : rows_[static_cast<std::size_t>(row)].other)
            lines << tr("%1: %2, baseline %3")
                         .arg(difference.label, difference.value, difference.baseline);
        return lines.join(QLatin1Char('\n'));
    }
    const std::optional<Apart> difference = apart(row, column);
    if (!difference)
        return {};
    const QString base = numberText(number(baseline_, column), column);
    return tr("%1 of the baseline: %2; apart by %3")
        .arg(tr(runColumn(column).title), base, apartText(*difference, column, Differences::Both));
}

QString RunTableModel::lossToolTip(int row) const {
    const LossDifference& loss = rows_[static_cast<std::size_t>(row)].loss;
    if (row == baseline_ || loss.steps() == 0)
        return tr("Pin a baseline that has the same steps to see how far the losses part");
    const QLocale locale;
    return tr("Largest |loss − baseline's loss|: %1, at step %2\nMean: %3\nOver %4 steps that both "
              "have, of the first %5 of each run, in f64 as recorded")
        .arg(QString::number(loss.largest(), 'g', 6), locale.toString(loss.largestAt()),
             QString::number(loss.mean(), 'g', 6), locale.toString(loss.steps()),
             locale.toString(static_cast<qulonglong>(RunSeries::kExactLosses)));
}

/// A square in the run's colour; the baseline's has a frame and a core.
QVariant RunTableModel::swatch(const RunInfo& run) const {
    QPixmap picture(kSwatch, kSwatch);
    picture.fill(theme_.runColour(run.colour));
    if (run.baseline) {
        QPainter painter(&picture);
        painter.setPen(theme_.text);
        painter.drawRect(0, 0, kSwatch - 1, kSwatch - 1);
        painter.fillRect(4, 4, kSwatch - 8, kSwatch - 8, theme_.background);
    }
    return picture;
}

QString RunTableModel::toTsv(const QModelIndexList& rows, const std::vector<int>& columns) const {
    QStringList lines;
    QStringList header;
    for (const int column : orAll(columns))
        header << headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
    lines << header.join(QChar(u'\t'));
    for (const int row : rowsOf(rows, rowCount())) {
        QStringList cells;
        for (const int column : orAll(columns)) {
            const QVariant value = number(row, column);
            if (!isNumber(column))
                cells << tsvCell(text(row, column));
            else if (value.typeId() == QMetaType::ULongLong)
                cells << value.toString();
            else
                cells << (value.isNull() ? QString()
                                         : QString::number(value.toDouble(), 'g',
                                                           QLocale::FloatingPointShortest));
        }
        lines << cells.join(QChar(u'\t'));
    }
    return lines.join(QChar(u'\n')) + QChar(u'\n');
}

QString RunTableModel::toMarkdown(const QModelIndexList& rows,
                                  const std::vector<int>& columns) const {
    const auto line = [](const QStringList& cells) {
        return QStringLiteral("| ") + cells.join(QStringLiteral(" | ")) + QStringLiteral(" |\n");
    };
    QStringList header;
    QStringList rule;
    for (const int column : orAll(columns)) {
        header << markdownCell(headerData(column, Qt::Horizontal, Qt::DisplayRole).toString());
        rule << (isNumber(column) ? QStringLiteral("---:") : QStringLiteral("---"));
    }
    QString table = line(header) + line(rule);
    for (const int row : rowsOf(rows, rowCount())) {
        QStringList cells;
        for (const int column : orAll(columns))
            cells << markdownCell(text(row, column));
        table += line(cells);
    }
    return table;
}

} // namespace gradlab::widgets
