// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The window with real worker processes: they are shown, one is killed by its button, the run goes
// on and says so.
#include "app/cli/transports.h"
#include "app/main_window.h"
#include "app/run_collection.h"
#include "app/worker_panel.h"
#include "tests/support/small_run.h"
#include "tests/support/window_settings.h"
#include "transport/in_process/in_process_exchange.h"
#include "transport/zmq/zmq_coordinator.h"
#include "widgets/message_banner.h"
#include "widgets/worker_table_model.h"

#include <QAction>
#include <QDockWidget>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>
#include <QTest>
#include <QToolBar>

#include <csignal>

using namespace gradlab;
using engine::RunState;
using widgets::WorkerTableModel;

namespace {

engine::Experiment processes(std::int64_t steps) {
    engine::Experiment experiment = tests::smallExperiment("Processes", steps);
    experiment.training.batch = 6;
    experiment.cluster.workers = 3;
    experiment.cluster.transport = "zmq";
    return experiment;
}

/// The programs' own, but a test is not beside gradlab-cli.
engine::TransportFactories transports() {
    return {transport::makeInProcessExchange, [](const engine::ClusterSetup& setup) {
                transport::CoordinatorOptions options;
                options.workerCommand = {GRADLAB_BINARY_DIR "/bin/gradlab-cli"};
                return transport::makeZmqCoordinator(setup, options);
            }};
}

std::unique_ptr<app::MainWindow> makeWindow(std::int64_t steps) {
    app::WindowOptions options;
    options.experiments = {processes(steps)};
    options.quit = true;
    options.width = 1280;
    options.height = 800;
    auto window = std::make_unique<app::MainWindow>(
        app::WindowServices{transports(), tests::loadSmallCorpus}, options);
    window->show();
    return window;
}

QAction* action(const app::WorkerPanel& panel, const QString& text) {
    for (QAction* one : panel.findChild<QToolBar*>()->actions())
        if (one->text() == text)
            return one;
    return nullptr;
}

QString cell(const app::WorkerPanel& panel, int row, int column) {
    return panel.table()->model()->index(row, column).data().toString();
}

int rowOfRank(const app::WorkerPanel& panel, int rank) {
    for (int row = 0; row < panel.table()->model()->rowCount(); ++row)
        if (cell(panel, row, WorkerTableModel::Rank) == QString::number(rank))
            return row;
    return -1;
}

bool isGone(qlonglong pid) {
    return ::kill(static_cast<pid_t>(pid), 0) != 0;
}

} // namespace

class TestWorkerPanel : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { tests::prepareWindowTests(); }
    void cleanup() { QCOMPARE(tests::QtWarnings::take(), QByteArray()); }

    void aKilledWorkerIsShownAndTheRunGoesOn() {
        const auto window = makeWindow(0);
        app::WorkerPanel& panel = *window->workers();
        QVERIFY(!panel.isVisible());
        window->startOrResume();
        QTRY_VERIFY(panel.isVisible());
        QTRY_VERIFY(panel.summary().contains(QStringLiteral("3 of 3 workers take part")));
        QTRY_VERIFY(window->session()->progress().members.front().step > 20);
        const int row = rowOfRank(panel, 1);
        QVERIFY(row >= 0);
        QVERIFY(cell(panel, row, WorkerTableModel::Process).contains(QStringLiteral("here")));
        QVERIFY(!action(panel, QStringLiteral("Kill"))->isEnabled()); // nobody is chosen
        panel.table()->selectRow(row);
        QTRY_VERIFY(action(panel, QStringLiteral("Kill"))->isEnabled());
        const qlonglong pid = panel.table()
                                  ->model()
                                  ->index(row, WorkerTableModel::Process)
                                  .data(WorkerTableModel::kSortRole)
                                  .toLongLong();
        action(panel, QStringLiteral("Kill"))->trigger();
        QTRY_VERIFY(panel.summary().contains(QStringLiteral("2 of 3 workers take part")));
        QTRY_VERIFY(isGone(pid));
        // The banner says who and why, in one sentence; steps go on.
        QTRY_VERIFY(window->banner()->messages().join(u' ').contains(QStringLiteral("worker 1")));
        const std::uint64_t step = window->session()->progress().members.front().step;
        QTRY_VERIFY(window->session()->progress().members.front().step > step + 20);
        // One more takes the free place.
        Q_EMIT panel.workerWanted(0);
        QTRY_VERIFY_WITH_TIMEOUT(panel.summary().contains(QStringLiteral("3 of 3 workers")), 20000);
        window->stopRun();
        QTRY_COMPARE_WITH_TIMEOUT(window->session()->state(), RunState::Finished, 10000);
    }

    void aFrozenWorkerThawsAndComesBack() {
        const auto window = makeWindow(0);
        app::WorkerPanel& panel = *window->workers();
        window->startOrResume();
        QTRY_VERIFY(panel.summary().contains(QStringLiteral("3 of 3 workers take part")));
        panel.table()->selectRow(rowOfRank(panel, 2));
        QTRY_VERIFY(action(panel, QStringLiteral("Freeze"))->isEnabled());
        action(panel, QStringLiteral("Freeze"))->trigger();
        QTRY_COMPARE(cell(panel, rowOfRank(panel, 2), WorkerTableModel::State),
                     QStringLiteral("frozen on purpose"));
        QTRY_VERIFY(panel.summary().contains(QStringLiteral("2 of 3 workers take part")));
        window->session()->act(0, 2, engine::WorkerAction::Thaw);
        QTRY_VERIFY_WITH_TIMEOUT(panel.summary().contains(QStringLiteral("3 of 3 workers")), 20000);
    }

    void theDialogShowsTheCommand() {
        const auto window = makeWindow(0);
        app::WorkerPanel& panel = *window->workers();
        window->startOrResume();
        QTRY_VERIFY(panel.joinCommand().startsWith(
            QStringLiteral("gradlab-cli worker --connect tcp://127.0.0.1:")));
        action(panel, QStringLiteral("Add Worker…"))->trigger();
        auto* command = panel.findChild<QLineEdit*>(QStringLiteral("joinCommand"));
        QVERIFY(command != nullptr);
        QCOMPARE(command->text(), panel.joinCommand());
        QVERIFY(!panel.findChild<QWidget*>(QStringLiteral("addWorkerDialog"))->isModal());
    }

    // Closing takes every process along.
    void closingEndsTheProcesses() {
        std::vector<qlonglong> pids;
        {
            const auto window = makeWindow(0);
            window->startOrResume();
            QTRY_VERIFY(window->session()->clusterViews().size() == 1 &&
                        window->session()->clusterViews().front() &&
                        window->session()->clusterViews().front()->active == 3);
            for (const auto& member : window->session()->clusterViews().front()->members)
                pids.push_back(member.pid);
            window->close();
            QTRY_COMPARE(window->session()->state(), RunState::Finished);
        }
        QCOMPARE(pids.size(), std::size_t{3});
        for (const qlonglong pid : pids)
            QTRY_VERIFY_WITH_TIMEOUT(isGone(pid), 2000);
    }
};

QTEST_MAIN(TestWorkerPanel)
#include "test_worker_panel.moc"
