// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/worker_panel.h"

#include "widgets/worker_table_model.h"

#include <QAction>
#include <QClipboard>
#include <QComboBox>
#include <QDialog>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QToolBar>
#include <QToolButton>
#include <QVBoxLayout>

namespace gradlab::app {

using engine::MemberState;
using engine::WorkerAction;
using widgets::WorkerTableModel;

WorkerPanel::WorkerPanel(QWidget* parent)
    : QWidget(parent), run_(new QComboBox(this)), summary_(new QLabel(this)),
      tools_(new QToolBar(this)), model_(new WorkerTableModel(this)),
      order_(new QSortFilterProxyModel(this)), table_(new QTableView(this)) {
    freeze_ = addAct(tr("Freeze"), tr("Stop the process as it stands; after 2 s it counts as lost"),
                     WorkerAction::Freeze);
    thaw_ = addAct(tr("Thaw"), tr("Let a frozen process go on; it joins again by itself"),
                   WorkerAction::Thaw);
    kill_ = addAct(tr("Kill"), tr("End the process at once, as a crash would"), WorkerAction::Kill);
    leave_ =
        addAct(tr("Ask to Leave"), tr("The process says goodbye and ends"), WorkerAction::Leave);
    tools_->addSeparator();
    add_ = tools_->addAction(tr("Add Worker…"), this, &WorkerPanel::showAddDialog);
    const QString more = tr("Start one more process here, or copy the command for another machine");
    add_->setToolTip(more);
    add_->setStatusTip(more);
    for (QToolButton* button : tools_->findChildren<QToolButton*>())
        button->setFocusPolicy(Qt::TabFocus); // a tool bar's own are for the mouse
    order_->setSourceModel(model_);
    order_->setSortRole(WorkerTableModel::kSortRole);
    table_->setObjectName(QStringLiteral("workerTable"));
    table_->setAccessibleName(tr("Worker processes"));
    table_->setToolTip(tr("Select a worker to freeze, kill or dismiss it"));
    table_->setTabKeyNavigation(false); // Tab leaves it, arrow keys move in it
    table_->setModel(order_);
    table_->setSortingEnabled(true);
    table_->sortByColumn(WorkerTableModel::Rank, Qt::AscendingOrder);
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setSelectionMode(QAbstractItemView::SingleSelection);
    table_->setAlternatingRowColors(true);
    table_->verticalHeader()->hide();
    table_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
    table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table_->setMinimumHeight(8 * fontMetrics().height()); // the head and four workers
    connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            &WorkerPanel::updateActions);
    run_->setAccessibleName(tr("Run"));
    run_->setToolTip(tr("Whose worker processes are shown"));
    connect(run_, &QComboBox::currentIndexChanged, this, &WorkerPanel::refresh);
    summary_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    summary_->setAccessibleName(tr("The cluster in one line"));
    auto* head = new QHBoxLayout;
    head->addWidget(run_);
    head->addWidget(summary_, 1);
    head->addWidget(tools_);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(4, 0, 4, 0);
    column->setSpacing(2);
    column->addLayout(head);
    column->addWidget(table_, 1);
    updateActions();
}

QAction* WorkerPanel::addAct(const QString& text, const QString& tip, WorkerAction action) {
    QAction* command = tools_->addAction(text, this, [this, action] { request(action); });
    command->setToolTip(tip);
    command->setStatusTip(tip);
    return command;
}

QList<QAction*> WorkerPanel::commands() const {
    return tools_->actions();
}

void WorkerPanel::setClusters(const std::vector<ClusterSnapshot>& clusters) {
    const bool sameRuns = clusters.size() == clusters_.size() &&
                          std::equal(clusters.begin(), clusters.end(), clusters_.begin(),
                                     [](const auto& a, const auto& b) { return a.run == b.run; });
    clusters_ = clusters;
    over_ = false;
    if (!sameRuns) {
        const QSignalBlocker quiet(run_);
        run_->clear();
        for (const ClusterSnapshot& cluster : clusters_)
            run_->addItem(cluster.run);
    }
    run_->setVisible(clusters_.size() > 1);
    refresh();
}

void WorkerPanel::showEnd() {
    over_ = true;
    for (ClusterSnapshot& cluster : clusters_)
        for (engine::ClusterMember& member : cluster.view.members)
            if (member.state != MemberState::Lost)
                member.state = MemberState::Ended;
    refresh();
}

const ClusterSnapshot* WorkerPanel::current() const {
    const auto index = static_cast<std::size_t>(std::max(0, run_->currentIndex()));
    return index < clusters_.size() ? &clusters_[index] : nullptr;
}

const engine::ClusterMember* WorkerPanel::selected() const {
    const QModelIndexList rows = table_->selectionModel()->selectedRows();
    return rows.isEmpty() ? nullptr : model_->member(order_->mapToSource(rows.front()).row());
}

void WorkerPanel::refresh() {
    const ClusterSnapshot* cluster = current();
    model_->setMembers(cluster == nullptr ? std::vector<engine::ClusterMember>()
                                          : cluster->view.members);
    summary_->setText(summary());
    updateActions();
}

QString WorkerPanel::summary() const {
    const ClusterSnapshot* cluster = current();
    if (cluster == nullptr)
        return tr("No worker processes");
    const engine::ClusterView& view = cluster->view;
    if (over_)
        return tr("The run is over; %1 of %2 workers took part to the end")
            .arg(view.active)
            .arg(view.wanted);
    QString text = view.waiting
                       ? tr("Waiting for workers: %1 of %2").arg(view.active).arg(view.wanted)
                       : tr("%1 of %2 workers take part").arg(view.active).arg(view.wanted);
    text += tr(" · membership %1").arg(view.epoch);
    if (!view.endpoint.empty())
        text += tr(" · %1").arg(QString::fromStdString(view.endpoint));
    return text + (view.secure ? tr(" · encrypted") : QString());
}

QString WorkerPanel::joinCommand() const {
    const ClusterSnapshot* cluster = current();
    if (cluster == nullptr || cluster->view.endpoint.empty())
        return {};
    QString command = QStringLiteral("gradlab-cli worker --connect ") +
                      QString::fromStdString(cluster->view.endpoint);
    if (!cluster->keys.empty())
        command += QStringLiteral(" --keys ") + QString::fromStdString(cluster->keys);
    return command;
}

void WorkerPanel::updateActions() {
    const engine::ClusterMember* member = selected();
    const bool alive = !over_ && member != nullptr && member->state != MemberState::Lost;
    const bool here = alive && member->local;
    freeze_->setEnabled(here && !member->suspended);
    thaw_->setEnabled(here && member->suspended);
    kill_->setEnabled(here);
    leave_->setEnabled(alive);
    add_->setEnabled(!over_ && current() != nullptr);
}

void WorkerPanel::request(WorkerAction action) {
    if (const engine::ClusterMember* member = selected())
        Q_EMIT actionRequested(static_cast<std::size_t>(std::max(0, run_->currentIndex())),
                               member->rank, action);
}

void WorkerPanel::showAddDialog() {
    auto* dialog = new QDialog(this);
    dialog->setObjectName(QStringLiteral("addWorkerDialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Add Worker"));
    auto* column = new QVBoxLayout(dialog);
    auto* intro =
        new QLabel(tr("A free place is taken at the next step; otherwise the worker waits "
                      "as a spare until one is lost. On another machine, type:"),
                   dialog);
    intro->setWordWrap(true);
    auto* command = new QLineEdit(joinCommand(), dialog);
    command->setObjectName(QStringLiteral("joinCommand"));
    command->setReadOnly(true);
    command->setAccessibleName(tr("Command for another machine"));
    command->setToolTip(tr("Joins this run from any machine that reaches this one"));
    command->setMinimumWidth(fontMetrics().averageCharWidth() * 60);
    command->setCursorPosition(0);
    // Not a button box: Qt 6.4's leaves one of three out of the order of the Tab key.
    auto* buttons = new QHBoxLayout;
    const auto addButton = [&](const QString& text) {
        auto* button = new QPushButton(text, dialog);
        buttons->addWidget(button);
        return button;
    };
    QPushButton* copy = addButton(tr("Copy Command"));
    QPushButton* here = addButton(tr("Start One Here"));
    buttons->addStretch(1);
    QPushButton* shut = addButton(tr("Close"));
    connect(copy, &QPushButton::clicked, dialog,
            [command] { QGuiApplication::clipboard()->setText(command->text()); });
    connect(here, &QPushButton::clicked, dialog, [this, dialog] {
        Q_EMIT workerWanted(static_cast<std::size_t>(std::max(0, run_->currentIndex())));
        dialog->close();
    });
    connect(shut, &QPushButton::clicked, dialog, &QDialog::close);
    column->addWidget(intro);
    column->addWidget(command);
    column->addLayout(buttons);
    dialog->show(); // not modal: the run goes on in sight
}

} // namespace gradlab::app
