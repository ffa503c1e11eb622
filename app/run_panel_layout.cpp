// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// How the panel of runs is built.
#include "app/action_tips.h"
#include "app/run_collection.h"
#include "app/run_filter.h"
#include "app/run_panel.h"
#include "widgets/run_table_columns.h"
#include "widgets/run_table_model.h"
#include "widgets/theme.h"

#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QTableView>
#include <QToolBar>
#include <QToolButton>
#include <QVBoxLayout>

#include <array>

namespace gradlab::app {

using widgets::RunTableModel;

namespace {

constexpr double kMostPerplexity = 100'000.0;

bool isShownAtFirst(int column) {
    return column != RunTableModel::Note && column != RunTableModel::Settings &&
           column < RunTableModel::TargetSteps;
}

} // namespace

RunPanel::RunPanel(RunCollection* runs, QWidget* parent)
    : QWidget(parent), runs_(runs), model_(new RunTableModel(this)), order_(new RunFilter(this)),
      table_(new QTableView(this)), filter_(new QLineEdit(this)), count_(new QLabel(this)),
      target_(new QDoubleSpinBox(this)), tools_(new QToolBar(this)), columns_(new QMenu(this)),
      differences_(new QMenu(tr("Differences"), this)) {
    buildTable();
    buildActions();
    buildColumnMenu();
    buildTools();
    layOut();
    for (int column = 0; column < RunTableModel::ColumnCount; ++column)
        setColumnShown(column, isShownAtFirst(column));
    connect(model_, &RunTableModel::visibilityChanged, runs_, &RunCollection::setVisible);
    connect(model_, &RunTableModel::renamed, runs_, &RunCollection::rename);
    connect(model_, &RunTableModel::noteChanged, runs_, &RunCollection::setNote);
    connect(runs_, &RunCollection::listChanged, this, &RunPanel::followRuns);
    connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            &RunPanel::followSelection);
    followRuns();
}

void RunPanel::buildTable() {
    order_->setSourceModel(model_);
    table_->setObjectName(QStringLiteral("runTable"));
    table_->setAccessibleName(tr("Runs of this session"));
    table_->setToolTip(tr("Check a run to show it on the charts; F2 changes its name"));
    table_->setTabKeyNavigation(false); // Tab leaves it, arrow keys move in it
    table_->setModel(order_);
    table_->setSortingEnabled(true);
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setAlternatingRowColors(true);
    table_->setContextMenuPolicy(Qt::ActionsContextMenu);
    table_->verticalHeader()->hide();
    table_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
    QHeaderView* header = table_->horizontalHeader();
    header->setSortIndicator(-1, Qt::AscendingOrder);
    header->setHighlightSections(false);
    header->setSectionsMovable(true);
    header->setFirstSectionMovable(false);
    header->setSectionResizeMode(QHeaderView::ResizeToContents);
    header->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(header, &QWidget::customContextMenuRequested, this,
            [this, header](const QPoint& at) { columns_->popup(header->mapToGlobal(at)); });
    table_->setMinimumHeight(3 * fontMetrics().height());
}

QAction* RunPanel::addCommand(const QString& text, const QKeySequence& key, const QString& tip) {
    auto* action = new QAction(text, this);
    action->setShortcut(key);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    setTips(*action, tip);
    addAction(action);
    return action;
}

void RunPanel::buildActions() {
    actions_.pin = addCommand(tr("&Baseline"), Qt::CTRL | Qt::Key_B,
                              tr("Compare the other runs with the selected one"));
    actions_.pin->setCheckable(true);
    actions_.rename = addCommand(tr("Re&name"), {}, tr("Change the name of the selected run"));
    actions_.note =
        addCommand(tr("&Note"), Qt::CTRL | Qt::Key_N, tr("Write a note to the selected run"));
    actions_.find = addCommand(tr("&Filter"), QKeySequence::Find, tr("Show some of the runs only"));
    actions_.copyTsv =
        addCommand(tr("Copy as &Tab-Separated Text"), Qt::CTRL | Qt::SHIFT | Qt::Key_T,
                   tr("The runs with all digits, for a spreadsheet"));
    actions_.copyMarkdown = addCommand(tr("Copy as &Markdown"), Qt::CTRL | Qt::SHIFT | Qt::Key_M,
                                       tr("The runs as they are shown, for a document"));
    connect(actions_.pin, &QAction::triggered, this, &RunPanel::pin);
    connect(actions_.rename, &QAction::triggered, this, [this] { editCell(RunTableModel::Name); });
    connect(actions_.note, &QAction::triggered, this, [this] { editCell(RunTableModel::Note); });
    connect(actions_.find, &QAction::triggered, this, [this] {
        filter_->setFocus();
        filter_->selectAll();
    });
    for (QAction* copies : {actions_.copyTsv, actions_.copyMarkdown})
        copies->setShortcutContext(Qt::WindowShortcut); // the Edit menu has them too
    connect(actions_.copyTsv, &QAction::triggered, this, [this] { copy(false); });
    connect(actions_.copyMarkdown, &QAction::triggered, this, [this] { copy(true); });
    buildColourMenu();
    table_->addActions({actions_.pin, actions_.rename, actions_.note, actions_.colour->menuAction(),
                        actions_.copyTsv, actions_.copyMarkdown});
}

void RunPanel::buildColourMenu() {
    actions_.colour = new QMenu(tr("&Colour"), this);
    for (int colour = 0; colour < widgets::Theme::kRunColours; ++colour) {
        QAction* action = actions_.colour->addAction(QString());
        connect(action, &QAction::triggered, this, [this, colour] {
            for (const int id : selectedRuns())
                runs_->setColour(id, colour);
        });
    }
    fillColourMenu();
}

void RunPanel::fillColourMenu() {
    const widgets::Theme theme = widgets::Theme::fromPalette(QApplication::palette(), false);
    const std::array<QString, widgets::Theme::kRunColours> names = {tr("Blue"),
                                                                    tr("Vermilion"),
                                                                    tr("Green"),
                                                                    tr("Purple"),
                                                                    tr("Brown"),
                                                                    tr("Sky"),
                                                                    theme.dark ? tr("Yellow")
                                                                               : tr("Dark Green"),
                                                                    tr("Grey")};
    int colour = 0;
    for (QAction* action : actions_.colour->actions()) {
        action->setText(names.at(static_cast<std::size_t>(colour)));
        setTips(*action, tr("The selected runs in this colour: %1").arg(action->text().toLower()));
        QPixmap swatch(14, 14);
        swatch.fill(theme.runColour(colour++));
        action->setIcon(swatch);
    }
}

void RunPanel::buildColumnMenu() {
    columns_->setObjectName(QStringLiteral("runColumns"));
    columns_->setTitle(tr("Columns"));
    columns_->setToolTipsVisible(true);
    for (int column = 0; column < RunTableModel::ColumnCount; ++column) {
        QAction* action = columns_->addAction(
            model_->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString());
        action->setToolTip(model_->headerData(column, Qt::Horizontal, Qt::ToolTipRole).toString());
        action->setCheckable(true);
        action->setChecked(true);
        action->setEnabled(column != RunTableModel::Name);
        connect(action, &QAction::toggled, this,
                [this, column](bool shown) { setColumnShown(column, shown); });
    }
}

void RunPanel::buildDifferenceMenu(QMenu* menu) {
    menu->setToolTipsVisible(true);
    auto* group = new QActionGroup(menu);
    // In the order of RunTableModel::Differences.
    const std::array<QString, 4> names = {tr("&Hidden"), tr("In &Percent"), tr("&Absolute"),
                                          tr("&Both")};
    const std::array<QString, 4> tips = {tr("The runs' numbers alone"),
                                         tr("How much more or less than the baseline, in percent"),
                                         tr("How much more or less than the baseline"),
                                         tr("Differences from the baseline, both ways")};
    for (std::size_t i = 0; i < names.size(); ++i) {
        QAction* action = group->addAction(names.at(i));
        setTips(*action, tips.at(i));
        action->setCheckable(true);
        const auto shown = static_cast<RunTableModel::Differences>(i);
        action->setChecked(shown == model_->differences());
        connect(action, &QAction::triggered, this,
                [this, shown] { model_->setDifferences(shown); });
    }
    menu->addActions(group->actions());
}

void RunPanel::buildTools() {
    buildDifferenceMenu(differences_);
    const auto addMenu = [this](QMenu* menu, const QString& text, const QString& tip) {
        auto* button = new QToolButton(this);
        button->setMenu(menu);
        button->setText(text);
        button->setToolTip(tip);
        button->setAccessibleName(text);
        button->setPopupMode(QToolButton::InstantPopup);
        button->setFocusPolicy(Qt::TabFocus);
        tools_->addWidget(button);
    };
    tools_->setAccessibleName(tr("Commands on runs"));
    tools_->addActions({actions_.pin, actions_.note});
    for (QAction* action : {actions_.pin, actions_.note})
        tools_->widgetForAction(action)->setFocusPolicy(Qt::TabFocus);
    addMenu(actions_.colour, tr("Colour"), tr("Another colour for the selected runs"));
    addMenu(differences_, tr("Differences"),
            tr("How numbers are compared with the baseline: ▲ more, ▼ less; blue is better, "
               "orange is worse"));
    addMenu(columns_, tr("Columns"), tr("Which columns are shown; drag a head to move one"));
    auto* copies = new QMenu(this);
    copies->addActions({actions_.copyTsv, actions_.copyMarkdown});
    addMenu(copies, tr("Copy"), tr("The selected runs, or all of them, to the clipboard"));
}

void RunPanel::layOut() {
    filter_->setObjectName(QStringLiteral("runFilter"));
    filter_->setAccessibleName(tr("Filter of the runs"));
    filter_->setPlaceholderText(tr("Filter"));
    filter_->setToolTip(tr("Only runs that have these words in name, method, state, note or "
                           "settings (Ctrl+F); the charts show what is checked"));
    filter_->setClearButtonEnabled(true);
    filter_->setMaxLength(200);
    filter_->setMinimumWidth(12 * fontMetrics().averageCharWidth());
    filter_->setMaximumWidth(28 * fontMetrics().averageCharWidth());
    connect(filter_, &QLineEdit::textChanged, this, &RunPanel::followFilter);
    count_->setObjectName(QStringLiteral("runCount"));
    count_->setAccessibleName(tr("Runs that the filter leaves"));
    target_->setObjectName(QStringLiteral("runTarget"));
    target_->setAccessibleName(tr("Target perplexity"));
    target_->setToolTip(tr("Steps, bytes and simulated time until a validation perplexity was at "
                           "this or below for the first time; – for none"));
    target_->setRange(0.0, kMostPerplexity);
    target_->setDecimals(2);
    target_->setPrefix(tr("Target ppl "));
    target_->setSpecialValueText(tr("Target ppl –"));
    target_->setKeyboardTracking(false);
    connect(target_, &QDoubleSpinBox::valueChanged, this, [this](double value) {
        model_->setTarget(value > 1.0 ? std::optional<double>(value) : std::nullopt);
        if (value > 1.0)
            for (const int column : {RunTableModel::TargetSteps, RunTableModel::TargetBytes,
                                     RunTableModel::TargetTime})
                setColumnShown(column, true);
    });
    auto* head = new QHBoxLayout;
    head->addWidget(filter_, 1);
    head->addWidget(count_);
    head->addWidget(target_);
    head->addStretch(1);
    head->addWidget(tools_);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(4, 0, 4, 0);
    column->setSpacing(2);
    column->addLayout(head);
    column->addWidget(table_, 1);
}

QList<QAction*> RunPanel::commands() const {
    return {actions_.pin,          actions_.rename,
            actions_.note,         actions_.colour->menuAction(),
            actions_.find,         differences_->menuAction(),
            columns_->menuAction()};
}

void RunPanel::addRunActions(const QList<QAction*>& actions) {
    table_->insertActions(actions_.pin, actions);
}

} // namespace gradlab::app
