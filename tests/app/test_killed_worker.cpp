// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What the window promises of a worker that is killed by its button, in seconds from the click: the
// table and the banner say so within one, the drawn curve has gone on within three. Ten kills each,
// with the times printed.
#include "app/chart_board.h"
#include "app/main_window.h"
#include "app/worker_panel.h"
#include "tests/support/small_run.h"
#include "tests/support/window_settings.h"
#include "transport/in_process/in_process_exchange.h"
#include "transport/zmq/zmq_coordinator.h"
#include "widgets/message_banner.h"
#include "widgets/plot_widget.h"
#include "widgets/run_chart.h"
#include "widgets/worker_table_model.h"

#include <QAction>
#include <QElapsedTimer>
#include <QTableView>
#include <QTest>
#include <QToolBar>

#include <algorithm>
#include <array>
#include <optional>

using namespace gradlab;
using widgets::WorkerTableModel;

namespace {

constexpr int kWorkers = 3;
constexpr int kKills = 10;
constexpr double kToldWithinS = 1.0;
constexpr double kGoneOnWithinS = 3.0;

/// Steps one after the other, so that a kill hits one while it is computed or exchanged.
engine::Experiment processes(const std::string& topology) {
    engine::Experiment experiment = tests::smallExperiment("Processes");
    experiment.model.hidden = 64;
    experiment.training.batch = 24;
    experiment.training.bptt = 20;
    experiment.training.evalEvery =
        1000000; // the training curve is the one with a label at its end
    experiment.cluster.workers = kWorkers;
    experiment.cluster.transport = "zmq";
    experiment.cluster.topology = topology;
    return experiment;
}

std::unique_ptr<app::MainWindow> makeWindow(const std::string& topology) {
    app::WindowOptions options;
    options.experiments = {processes(topology)};
    options.quit = true;
    options.width = 1280;
    options.height = 900;
    const auto coordinator = [](const engine::ClusterSetup& setup) {
        transport::CoordinatorOptions programs;
        programs.workerCommand = {GRADLAB_BINARY_DIR "/bin/gradlab-cli"};
        return transport::makeZmqCoordinator(setup, programs);
    };
    auto window = std::make_unique<app::MainWindow>(
        app::WindowServices{{transport::makeInProcessExchange, coordinator},
                            tests::loadSmallCorpus},
        options);
    window->show();
    return window;
}

/// Seconds from the click until a person sees each thing.
struct Seen {
    enum What { Status, Summary, Banner, Record, Curve, Mark, Count };
    static constexpr std::array<const char*, Count> kNames = {"status", "summary", "banner",
                                                              "record", "curve",   "mark"};
    std::array<std::optional<double>, Count> at;

    [[nodiscard]] bool all() const {
        return std::all_of(at.begin(), at.end(), [](const auto& one) { return one.has_value(); });
    }
    [[nodiscard]] QString missing() const {
        QString text;
        for (std::size_t i = 0; i < Count; ++i)
            if (!at[i])
                text += QStringLiteral(" ") + QString::fromLatin1(kNames[i]);
        return text;
    }
};

/// A window with three worker processes, one of which is killed at a time.
class KilledWorkers {
public:
    explicit KilledWorkers(const std::string& topology) : window_(makeWindow(topology)) {
        plot_ = window_->board()->charts().front()->findChild<widgets::PlotWidget*>();
        QObject::connect(window_->session(), &app::TrainingSession::recordsArrived, &context_,
                         [this](int, const auto& records) { follow(records); });
        window_->startOrResume();
    }

    [[nodiscard]] bool areAllThere() {
        return QTest::qWaitFor([this] { return active() == kWorkers && stepsWithAll_ > 5; }, 30000);
    }
    /// Selects the worker and clicks on Kill; then waits until all is seen.
    [[nodiscard]] Seen kill(int rank) {
        window_->banner()->clear();
        panel().table()->selectRow(rowOfRank(rank));
        auto* tools = panel().findChild<QToolBar*>();
        QWidget* button = nullptr;
        for (QAction* action : tools->actions())
            if (action->text() == QStringLiteral("Kill"))
                button = tools->widgetForAction(action);
        Seen seen;
        if (!QTest::qWaitFor([&] { return button->isEnabled() && button->isVisible(); }))
            return seen;
        firstWithout_ = 0.0;
        QElapsedTimer clock;
        clock.start();
        QTest::mouseClick(button, Qt::LeftButton);
        const auto look = [&] { lookAt(seen, rank, 1e-9 * double(clock.nsecsElapsed())); };
        (void)QTest::qWaitFor([&] { return look(), seen.all(); }, 10000);
        return seen;
    }
    void replace() {
        stepsWithAll_ = 0;
        Q_EMIT panel().workerWanted(0);
    }
    [[nodiscard]] QStringList banner() const { return window_->banner()->messages(); }
    [[nodiscard]] bool stop() {
        window_->stopRun();
        return QTest::qWaitFor(
            [this] { return window_->session()->state() == engine::RunState::Finished; }, 20000);
    }

private:
    [[nodiscard]] app::WorkerPanel& panel() const { return *window_->workers(); }
    [[nodiscard]] QString cell(int row, int column) const {
        return panel().table()->model()->index(row, column).data().toString();
    }
    /// -1: nobody has it.
    [[nodiscard]] int rowOfRank(int rank) const {
        for (int row = 0; row < panel().table()->model()->rowCount(); ++row)
            if (cell(row, WorkerTableModel::Rank) == QString::number(rank))
                return row;
        return -1;
    }
    [[nodiscard]] int active() const {
        for (int count = 0; count <= kWorkers; ++count)
            if (panel().summary().startsWith(
                    QStringLiteral("%1 of %2 workers take part").arg(count).arg(kWorkers)))
                return count;
        return -1;
    }
    void follow(const std::vector<engine::Record>& records) {
        for (const engine::Record& record : records)
            if (const auto* step = std::get_if<engine::StepRecord>(&record)) {
                if (step->contributors == kWorkers)
                    ++stepsWithAll_;
                else if (firstWithout_ == 0.0)
                    firstWithout_ = static_cast<double>(step->step);
            }
    }
    void lookAt(Seen& seen, int rank, double now) {
        const auto note = [&](Seen::What what, bool visible) {
            if (visible && !seen.at[what])
                seen.at[what] = now;
        };
        const int row = rowOfRank(rank);
        note(Seen::Status, row < 0 || cell(row, WorkerTableModel::State) == QStringLiteral("lost"));
        note(Seen::Summary, active() == kWorkers - 1);
        note(Seen::Banner, !banner().filter(QStringLiteral("worker %1 (").arg(rank)).isEmpty());
        note(Seen::Record, firstWithout_ > 0.0);
        if (firstWithout_ == 0.0)
            return;
        // The mark is at that step or at the boundary before; the one of a join is further back.
        const widgets::PlotLayout layout = plot_->layoutNow();
        note(Seen::Mark, std::any_of(layout.eventLabels.begin(), layout.eventLabels.end(),
                                     [&](const widgets::PlotLabel& mark) {
                                         return layout.valueAtX(mark.anchor) > firstWithout_ - 2.5;
                                     }));
        note(Seen::Curve,
             !layout.lineLabels.empty() &&
                 layout.valueAtX(layout.lineLabels.front().tip.x()) > firstWithout_ - 0.5);
    }

    std::unique_ptr<app::MainWindow> window_;
    widgets::PlotWidget* plot_;
    int stepsWithAll_ = 0;
    double firstWithout_ = 0.0; ///< first step that the lost one had no part in; 0: none yet
    QObject context_;
};

/// The largest and the middle one of what was seen of all kills, in milliseconds.
QString toldTimes(const std::vector<Seen>& kills) {
    QString text;
    for (std::size_t what = 0; what < Seen::Count; ++what) {
        std::vector<double> times;
        for (const Seen& seen : kills)
            times.push_back(1e3 * *seen.at[what]);
        std::sort(times.begin(), times.end());
        text += QStringLiteral(" %1 %2 (longest %3)")
                    .arg(QString::fromLatin1(Seen::kNames[what]))
                    .arg(times[times.size() / 2], 0, 'f', 0)
                    .arg(times.back(), 0, 'f', 0);
    }
    return text;
}

} // namespace

class TestKilledWorker : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { tests::prepareWindowTests(); }
    void cleanup() { QCOMPARE(tests::QtWarnings::take(), QByteArray()); }

    void isToldAndGoneOnFrom_data() {
        QTest::addColumn<QString>("topology");
        QTest::newRow("server") << "server";
        QTest::newRow("ring") << "ring";
    }
    void isToldAndGoneOnFrom() {
        QFETCH(QString, topology);
        KilledWorkers workers(topology.toStdString());
        std::vector<Seen> kills;
        for (int kill = 0; kill < kKills; ++kill) {
            QVERIFY(workers.areAllThere());
            const Seen seen = workers.kill(kill % kWorkers);
            QVERIFY2(seen.all(), qPrintable("not seen:" + seen.missing()));
            for (const Seen::What what : {Seen::Status, Seen::Summary, Seen::Banner})
                QVERIFY2(*seen.at[what] < kToldWithinS, Seen::kNames[what]);
            for (const Seen::What what : {Seen::Record, Seen::Curve, Seen::Mark})
                QVERIFY2(*seen.at[what] < kGoneOnWithinS, Seen::kNames[what]);
            const QStringList said = workers.banner();
            QVERIFY2(said.size() == 1 && !said.front().contains(u'\n'),
                     qPrintable(said.join(u'\n')));
            kills.push_back(seen);
            workers.replace();
        }
        qInfo("%s, milliseconds from the click, middle one of %d kills:%s", qPrintable(topology),
              kKills, qPrintable(toldTimes(kills)));
        QVERIFY(workers.stop());
    }
};

QTEST_MAIN(TestKilledWorker)
#include "test_killed_worker.moc"
