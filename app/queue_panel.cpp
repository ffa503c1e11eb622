// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/queue_panel.h"

#include "app/action_tips.h"
#include "app/run_queue.h"

#include <QAction>
#include <QHBoxLayout>
#include <QLabel>
#include <QListView>
#include <QToolBar>
#include <QVBoxLayout>

namespace gradlab::app {

QueuePanel::QueuePanel(RunQueue* queue, QAction* enqueue, QWidget* parent)
    : QWidget(parent), queue_(queue), tools_(new QToolBar(this)), list_(new QListView(this)),
      state_(new QLabel(this)) {
    list_->setObjectName(QStringLiteral("runQueue"));
    list_->setAccessibleName(tr("Queue of runs"));
    list_->setToolTip(tr("Runs that start one after the other, from the top"));
    list_->setModel(queue_);
    list_->setMinimumHeight(3 * fontMetrics().height());
    state_->setObjectName(QStringLiteral("queueState"));
    state_->setAccessibleName(tr("What the queue does"));
    tools_->setAccessibleName(tr("Commands on the queue"));
    tools_->addAction(enqueue);
    up_ = addCommand(tr("Up"), Qt::ALT | Qt::Key_Up, tr("The selected run earlier"));
    down_ = addCommand(tr("Down"), Qt::ALT | Qt::Key_Down, tr("The selected run later"));
    remove_ = addCommand(tr("Remove"), QKeySequence::Delete, tr("Take the selected run out"));
    start_ = addCommand(tr("Start Queue"), {}, tr("Start the first run, or go on with the queue"));
    for (QAction* action : tools_->actions())
        tools_->widgetForAction(action)->setFocusPolicy(Qt::TabFocus);
    connect(up_, &QAction::triggered, this, [this] { move(-1); });
    connect(down_, &QAction::triggered, this, [this] { move(1); });
    connect(remove_, &QAction::triggered, this, [this] { queue_->removeAt(selected()); });
    connect(start_, &QAction::triggered, this, &QueuePanel::startRequested);
    connect(queue_, &RunQueue::changed, this, &QueuePanel::refresh);
    connect(list_->selectionModel(), &QItemSelectionModel::currentChanged, this,
            &QueuePanel::refresh);
    list_->addActions({up_, down_, remove_});
    list_->setContextMenuPolicy(Qt::ActionsContextMenu);
    auto* head = new QHBoxLayout;
    head->addWidget(state_, 1);
    head->addWidget(tools_);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(4, 0, 4, 0);
    column->setSpacing(2);
    column->addLayout(head);
    column->addWidget(list_, 1);
    refresh();
}

QAction* QueuePanel::addCommand(const QString& text, const QKeySequence& key, const QString& tip) {
    QAction* action = tools_->addAction(text);
    action->setShortcut(key);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    setTips(*action, tip);
    addAction(action);
    return action;
}

void QueuePanel::setRunning(bool running) {
    running_ = running;
    refresh();
}

int QueuePanel::selected() const {
    const QModelIndex index = list_->currentIndex();
    return index.isValid() ? index.row() : -1;
}

void QueuePanel::move(int places) {
    const int row = selected();
    if (queue_->moveBy(row, places))
        list_->setCurrentIndex(queue_->index(row + places));
}

void QueuePanel::refresh() {
    const int row = selected();
    up_->setEnabled(row > 0);
    down_->setEnabled(row >= 0 && row + 1 < queue_->waiting());
    remove_->setEnabled(row >= 0);
    start_->setEnabled(!queue_->isEmpty() && (!running_ || queue_->isHeld()));
    const int waiting = queue_->waiting();
    QString text = waiting == 1 ? tr("1 race waits") : tr("%1 races wait").arg(waiting);
    if (queue_->isEmpty())
        text = tr("Nothing waits");
    else if (queue_->isHeld())
        text += tr("; held since the run was stopped, Start Queue goes on");
    else if (running_)
        text += tr("; the next one starts when the run ends");
    state_->setText(text);
}

} // namespace gradlab::app
