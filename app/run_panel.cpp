// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What the panel does; run_panel_layout.cpp builds it.
#include "app/run_panel.h"

#include "app/run_collection.h"
#include "app/run_filter.h"
#include "widgets/run_table_columns.h"
#include "widgets/run_table_model.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QDoubleSpinBox>
#include <QEvent>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QSettings>
#include <QTableView>

#include <algorithm>

namespace gradlab::app {

using widgets::RunTableModel;

std::vector<int> RunPanel::selectedRuns() const {
    QModelIndexList rows = table_->selectionModel()->selectedRows();
    std::sort(rows.begin(), rows.end());
    std::vector<int> ids;
    for (const QModelIndex& row : rows)
        ids.push_back(row.data(RunTableModel::kRunIdRole).toInt());
    return ids;
}

void RunPanel::setTheme(const widgets::Theme& theme) {
    model_->setTheme(theme);
}

void RunPanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && actions_.colour != nullptr)
        fillColourMenu();
}

void RunPanel::setColumnShown(int column, bool shown) {
    if (column == RunTableModel::Name)
        return; // every row has a name, a colour and a check box
    table_->setColumnHidden(column, !shown);
    columns_->actions().at(column)->setChecked(shown);
}

void RunPanel::setTarget(double perplexity) {
    target_->setValue(perplexity);
}

void RunPanel::followSelection() {
    const std::vector<int> selected = selectedRuns();
    const CollectedRun* run = selected.size() == 1 ? runs_->find(selected.front()) : nullptr;
    actions_.pin->setEnabled(run != nullptr);
    actions_.pin->setChecked(run != nullptr && run->info.baseline);
    actions_.rename->setEnabled(run != nullptr);
    actions_.note->setEnabled(run != nullptr);
    actions_.colour->setEnabled(!selected.empty());
}

void RunPanel::followFilter() {
    order_->setWords(filter_->text());
    const bool narrows = !filter_->text().trimmed().isEmpty();
    count_->setText(tr("%1 of %2").arg(order_->rowCount()).arg(model_->rowCount()));
    count_->setVisible(narrows);
}

void RunPanel::followRuns() {
    const widgets::RunList runs = runs_->list();
    model_->setRuns(runs);
    const bool hasBaseline = std::any_of(runs.begin(), runs.end(),
                                         [](const widgets::RunInfo& run) { return run.baseline; });
    if (hasBaseline && !hadBaseline_) {
        setColumnShown(RunTableModel::Settings, true);
        setColumnShown(RunTableModel::MaxLossDifference, true);
    }
    hadBaseline_ = hasBaseline;
    differences_->setEnabled(hasBaseline);
    followFilter();
    followSelection();
}

void RunPanel::pin(bool on) {
    const std::vector<int> selected = selectedRuns();
    if (selected.size() == 1)
        runs_->setBaseline(on ? std::optional<int>(selected.front()) : std::nullopt);
}

void RunPanel::editCell(int column) {
    const QModelIndexList rows = table_->selectionModel()->selectedRows(column);
    if (rows.size() != 1)
        return;
    setColumnShown(column, true);
    table_->setCurrentIndex(rows.front());
    table_->scrollTo(rows.front());
    table_->edit(rows.front());
}

std::vector<int> RunPanel::shownColumns() const {
    std::vector<int> columns;
    for (int place = 0; place < RunTableModel::ColumnCount; ++place) {
        const int column = table_->horizontalHeader()->logicalIndex(place);
        if (!table_->isColumnHidden(column))
            columns.push_back(column);
    }
    return columns;
}

/// The selected rows, or all that are shown, as they stand in the table.
void RunPanel::copy(bool markdown) const {
    QModelIndexList shown = table_->selectionModel()->selectedRows();
    std::sort(shown.begin(), shown.end());
    if (shown.isEmpty())
        for (int row = 0; row < order_->rowCount(); ++row)
            shown << order_->index(row, 0);
    if (shown.isEmpty())
        return;
    QModelIndexList rows;
    for (const QModelIndex& row : shown)
        rows << order_->mapToSource(row);
    const std::vector<int> columns = shownColumns();
    QApplication::clipboard()->setText(markdown ? model_->toMarkdown(rows, columns)
                                                : model_->toTsv(rows, columns));
}

void RunPanel::saveView(QSettings& settings) const {
    QStringList shown;
    QStringList order;
    for (int place = 0; place < RunTableModel::ColumnCount; ++place) {
        const int column = table_->horizontalHeader()->logicalIndex(place);
        const QString key = QString::fromLatin1(widgets::runColumn(column).key);
        order << key;
        if (!table_->isColumnHidden(column))
            shown << key;
    }
    settings.setValue(QStringLiteral("runs/columns"), shown);
    settings.setValue(QStringLiteral("runs/order"), order);
    settings.setValue(QStringLiteral("runs/differences"), static_cast<int>(model_->differences()));
    settings.setValue(QStringLiteral("runs/target"), target_->value());
}

void RunPanel::restoreView(const QSettings& settings) {
    const QStringList shown = settings.value(QStringLiteral("runs/columns")).toStringList();
    if (shown.isEmpty())
        return;
    for (int column = 0; column < RunTableModel::ColumnCount; ++column)
        setColumnShown(column, shown.contains(QLatin1String(widgets::runColumn(column).key)));
    int place = 0;
    for (const QString& key : settings.value(QStringLiteral("runs/order")).toStringList()) {
        const int column = widgets::runColumnOf(key);
        if (column >= 0)
            table_->horizontalHeader()->moveSection(table_->horizontalHeader()->visualIndex(column),
                                                    place++);
    }
    const int differences = settings.value(QStringLiteral("runs/differences")).toInt();
    if (differences >= 0 && differences < differences_->actions().size())
        differences_->actions().at(differences)->trigger();
    // Last, and without showing columns that were hidden.
    const double target = settings.value(QStringLiteral("runs/target")).toDouble();
    const QSignalBlocker quiet(target_);
    target_->setValue(target);
    model_->setTarget(target_->value() > 1.0 ? std::optional<double>(target_->value())
                                             : std::nullopt);
}

} // namespace gradlab::app
