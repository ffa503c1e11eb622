// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Named layouts, the program's and a person's own, and the session that was last. Nothing here
// touches a run: docks, bars and charts only.
#include "app/action_tips.h"
#include "app/chart_board.h"
#include "app/cli/program_error.h"
#include "app/experiment_panel.h"
#include "app/last_session.h"
#include "app/main_window.h"
#include "app/run_collection.h"
#include "app/tuning_bar.h"
#include "app/worker_panel.h"
#include "engine/training/experiment_schema.h"
#include "widgets/message_banner.h"

#include <QAction>
#include <QDockWidget>
#include <QInputDialog>
#include <QLineEdit>
#include <QMenu>
#include <QTemporaryDir>

#include <algorithm>

namespace gradlab::app {

using Severity = widgets::MessageBanner::Severity;

namespace {

constexpr int kFirstOwnKey = 4; ///< Ctrl+1 … Ctrl+3 are the program's layouts
constexpr int kLastOwnKey = 9;

} // namespace

void MainWindow::buildLayoutActions() {
    const std::initializer_list<std::tuple<const char*, QString, QString>> layouts = {
        {"teach", tr("&Teach"),
         tr("For a projector: strip and charts in large type, and the tuning bar")},
        {"tune", tr("T&une"),
         tr("Knobs under the charts, the gradient beside them, the runs below")},
        {"network", tr("&Network"),
         tr("Bytes and time: the Pareto front, worker processes, simulated time along x")}};
    int key = Qt::Key_1;
    for (const auto& [name, text, tip] : layouts) {
        QAction* action =
            addCommand(text, {QKeySequence(Qt::CTRL | static_cast<Qt::Key>(key++))}, tip);
        action->setObjectName(QString::fromLatin1(name));
        connect(action, &QAction::triggered, this,
                [this, id = action->objectName()] { applyNamedLayout(id); });
        actions_.layouts << action;
    }
    actions_.saveLayout =
        addCommand(tr("&Save Layout As…"), {}, tr("Keep where everything is now under a name"));
    connect(actions_.saveLayout, &QAction::triggered, this, &MainWindow::saveLayoutAs);
    actions_.layoutMenu = new QMenu(tr("L&ayout"), this);
    actions_.deleteLayout = new QMenu(tr("&Delete Layout"), this);
    fillLayoutMenu();
}

/// The program's layouts, then one's own; these with keys too, as far as there are some.
void MainWindow::fillLayoutMenu() {
    qDeleteAll(ownLayouts_);
    ownLayouts_.clear();
    actions_.layoutMenu->clear();
    actions_.deleteLayout->clear();
    actions_.layoutMenu->addActions(actions_.layouts);
    actions_.layoutMenu->addSeparator();
    int key = kFirstOwnKey;
    for (const QString& name : keepSettings_ ? LayoutStore::names() : QStringList()) {
        QString shown = name;
        shown.replace(u'&', QStringLiteral("&&"));
        QAction* use = addCommand(shown, {}, tr("The layout that was saved as %1").arg(name));
        if (key <= kLastOwnKey)
            use->setShortcut(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_0 + key++));
        connect(use, &QAction::triggered, this, [this, name] { applyNamedLayout(name); });
        auto* drop = new QAction(shown, this);
        setTips(*drop, tr("Forget the layout %1").arg(name));
        connect(drop, &QAction::triggered, this, [this, name] {
            LayoutStore::remove(name);
            // Not while the menu is on its way out of this very action.
            QMetaObject::invokeMethod(this, &MainWindow::fillLayoutMenu, Qt::QueuedConnection);
        });
        actions_.layoutMenu->addAction(use);
        actions_.deleteLayout->addAction(drop);
        ownLayouts_ << use << drop;
    }
    actions_.layoutMenu->addSeparator();
    actions_.layoutMenu->addAction(actions_.saveLayout);
    actions_.layoutMenu->addMenu(actions_.deleteLayout)
        ->setEnabled(!actions_.deleteLayout->isEmpty());
    actions_.layoutMenu->addAction(actions_.resetLayout);
}

QStringList MainWindow::layoutNames() const {
    QStringList names;
    for (const QAction* action : actions_.layouts)
        names << action->objectName();
    return names + LayoutStore::names();
}

bool MainWindow::applyNamedLayout(const QString& name) {
    const QString plain = name.toLower();
    if (plain == QLatin1String("teach"))
        applyTeach();
    else if (plain == QLatin1String("tune"))
        applyTune();
    else if (plain == QLatin1String("network"))
        applyNetwork();
    else if (const std::optional<WindowLayout> own = LayoutStore::find(name))
        applyLayout(*own);
    else
        return false;
    return true;
}

void MainWindow::applyTeach() {
    resetLayout();
    setPresenting(true);
    setTuningShown(true);
}

void MainWindow::applyTune() {
    resetLayout();
    panelDock_->hide();
    showGradient(QStringLiteral("tensors"));
    setTuningShown(true);
    sizeDocks();
}

void MainWindow::applyNetwork() {
    resetLayout();
    panelDock_->hide();
    workersDock_->show();
    (workers_->isEmpty() ? tableDock_ : workersDock_)->raise();
    board_->setXAxis(widgets::XAxis::SimulatedTime);
    board_->showPareto(true);
    board_->setShares(50, {40, 35, 25});
    sizeDocks();
}

WindowLayout MainWindow::currentLayout() const {
    WindowLayout layout;
    layout.presenting = presenting_;
    layout.docks = presenting_ ? stateBeforePresenting_ : saveDocks();
    layout.splitters = board_->saveSplitters();
    layout.xAxis = static_cast<int>(board_->xAxis());
    layout.tuning = tuning_->isVisibleTo(this);
    layout.pareto = board_->isParetoShown();
    return layout;
}

void MainWindow::applyLayout(const WindowLayout& layout) {
    resetLayout();
    restoreDocks(layout.docks);
    if (!layout.splitters.isEmpty())
        board_->restoreSplitters(layout.splitters);
    if (layout.xAxis >= 0 && layout.xAxis < static_cast<int>(widgets::kXAxisCount))
        board_->setXAxis(static_cast<widgets::XAxis>(layout.xAxis));
    board_->showPareto(layout.pareto);
    setPresenting(layout.presenting);
    setTuningShown(layout.tuning);
}

void MainWindow::saveLayoutAs() {
    auto* dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Save Layout"));
    dialog->setLabelText(tr("Name of the layout"));
    dialog->setTextValue(tr("My layout"));
    if (auto* line = dialog->findChild<QLineEdit*>())
        line->setMaxLength(LayoutStore::kLongestName);
    connect(dialog, &QInputDialog::textValueSelected, this,
            [this, layout = currentLayout()](const QString& name) mutable {
                layout.name = name.trimmed();
                saveLayout(layout);
            });
    dialog->open();
}

void MainWindow::saveLayout(const WindowLayout& layout) {
    const auto own = [&](const QAction* action) {
        return action->objectName().compare(layout.name, Qt::CaseInsensitive) == 0;
    };
    if (layout.name.isEmpty() || std::any_of(actions_.layouts.begin(), actions_.layouts.end(), own))
        banner_->showMessage(Severity::Error,
                             tr("The layout was not saved: %1 is a name of the program's own; "
                                "choose another")
                                 .arg(layout.name.isEmpty() ? tr("nothing") : layout.name));
    else if (!LayoutStore::save(layout))
        banner_->showMessage(Severity::Error,
                             tr("The layout was not saved: there are %1 already; delete one first")
                                 .arg(LayoutStore::kMostLayouts));
    fillLayoutMenu();
}

/// A window in which nothing happened leaves the session before it alone.
void MainWindow::saveSession() const {
    if (runs_->isEmpty() && !document_->isModified())
        return;
    LastSession session;
    for (const widgets::RunInfo& run : runs_->list()) {
        const std::filesystem::path folder = runs_->find(run.id)->log.parent_path();
        const bool scratch = scratch_ && folder == scratch_->path().toStdString();
        const QString path =
            folder.empty() || scratch
                ? QString()
                : QString::fromStdString(std::filesystem::absolute(folder).string());
        if (!path.isEmpty() && !session.folders.contains(path))
            session.folders << path;
    }
    session.experiments = experimentsText();
    session.path = document_->path();
    session.layout = currentLayout();
    session.write();
}

void MainWindow::reopenSession() {
    if (session_->isActive()) {
        banner_->showMessage(Severity::Warning,
                             tr("A run is on; stop it before opening the last session"));
        return;
    }
    const LastSession session = LastSession::read();
    try {
        panel_->setExperiments(
            engine::parseExperiments(session.experiments.toStdString(), "the last session"));
        document_->setUnchanged(session.path);
    } catch (const std::exception&) {
        const ProgramError error = describeProgramError(std::current_exception());
        banner_->showMessage(Severity::Error, QString::fromStdString(error.message));
    }
    for (const QString& folder : session.folders)
        openPath(folder);
    applyLayout(session.layout);
}

} // namespace gradlab::app
