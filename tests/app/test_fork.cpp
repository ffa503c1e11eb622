// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A fork in the window: chosen in the table, changed in the form, drawn from its step on.
#include "app/experiment_panel.h"
#include "app/fork_bar.h"
#include "app/main_window.h"
#include "app/queue_panel.h"
#include "app/run_collection.h"
#include "app/run_panel.h"
#include "app/run_queue.h"
#include "engine/metrics/run_log.h"
#include "tests/support/small_run.h"
#include "tests/support/window_settings.h"
#include "widgets/experiment_form.h"
#include "widgets/field_editor.h"
#include "widgets/message_banner.h"
#include "widgets/run_table_model.h"

#include <QAction>
#include <QComboBox>
#include <QDockWidget>
#include <QPushButton>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

using namespace gradlab;
using engine::RunState;

namespace {

constexpr std::int64_t kSteps = 30;
constexpr std::int64_t kEvery = 10;

engine::Experiment keptExperiment() {
    engine::Experiment experiment = tests::smallExperiment("Kept", kSteps);
    experiment.training.checkpointEvery = kEvery;
    return experiment;
}

app::WindowOptions options() {
    app::WindowOptions options;
    options.experiments = {keptExperiment()};
    options.quit = true; // nobody answers questions, nothing is kept
    options.width = 1280;
    options.height = 800;
    return options;
}

/// A window whose only run is over and kept, with checkpoints at 10, 20 and 30.
struct Bench {
    Bench() {
        app::WindowOptions kept = options();
        kept.out = folder.filePath(QStringLiteral("run")).toStdString();
        window = std::make_unique<app::MainWindow>(
            app::WindowServices{tests::threadTransports(), tests::loadSmallCorpus}, kept);
        window->show();
    }
    [[nodiscard]] bool train() const {
        window->startOrResume();
        return finishes();
    }
    [[nodiscard]] bool finishes() const {
        return QTest::qWaitFor([&] { return window->session()->state() == RunState::Finished; },
                               20000);
    }
    [[nodiscard]] app::ForkBar* bar() const { return window->panel()->forkBar(); }
    [[nodiscard]] const app::CollectedRun* run(std::size_t index) const {
        return window->runs()->find(window->runs()->list()[index].id);
    }
    void edit(const char* path, const engine::FieldValue& value) const {
        Q_EMIT window->panel()->form()->editor(QString::fromLatin1(path))->edited(value);
    }
    QTemporaryDir folder;
    std::unique_ptr<app::MainWindow> window;
};

const engine::Experiment& form(const Bench& bench) {
    return bench.window->panel()->experiments().front();
}

} // namespace

class TestFork : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { tests::prepareWindowTests(); }
    void cleanup() { QCOMPARE(tests::QtWarnings::take(), QByteArray()); }

    void aForkBeginsAtItsStep() {
        const Bench bench;
        QVERIFY(bench.train());
        bench.window->table()->table()->selectRow(0);
        QVERIFY(QTest::qWaitForWindowActive(bench.window.get()));
        QTest::keyClick(bench.window.get(), Qt::Key_R, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(bench.bar()->isVisible());
        QCOMPARE(bench.bar()->steps()->count(), 3);
        QCOMPARE(bench.bar()->steps()->currentIndex(), 2); // the latest
        QCOMPARE(form(bench).training.steps, 2 * kSteps);  // its limit was reached
        bench.bar()->steps()->setCurrentIndex(0);
        QCOMPARE(form(bench).training.steps, kSteps); // at step 10 it was not
        bench.edit("training.lr", 0.5);
        bench.window->startOrResume();
        QVERIFY(bench.finishes());
        QCOMPARE(bench.window->banner()->messages(), QStringList());
        QVERIFY(!bench.bar()->isVisible() && !bench.bar()->source());
        const widgets::RunSeries& fork = *bench.run(1)->series;
        QCOMPARE(fork.begin()[static_cast<std::size_t>(widgets::XAxis::Step)], 11.0);
        QCOMPARE(fork.numbers().step, static_cast<std::uint64_t>(kSteps));
        QCOMPARE(bench.run(1)->info.name, QStringLiteral("Kept from 10"));
        // Its bytes are the whole way's, as the first run's are.
        QCOMPARE(*fork.numbers().bytesTotal, *bench.run(0)->series->numbers().bytesTotal);
        bool said = false;
        for (const engine::Record& record : engine::readRunLog(bench.run(1)->log))
            if (const auto* event = std::get_if<engine::EventRecord>(&record))
                said |= event->event == "forked" && event->details.find("from step 10 of ") == 0 &&
                        event->details.find("1 → 0.5") != std::string::npos;
        QVERIFY(said);
    }

    void withoutChangesTheTableSaysSameBits() {
        const Bench bench;
        QVERIFY(bench.train());
        bench.window->forkRun(bench.window->runs()->list()[0].id);
        bench.bar()->steps()->setCurrentIndex(1);
        bench.window->startOrResume();
        QVERIFY(bench.finishes());
        bench.window->runs()->setBaseline(bench.window->runs()->list()[0].id);
        const QModelIndex cell =
            bench.window->table()->model()->index(1, widgets::RunTableModel::MaxLossDifference);
        QCOMPARE(cell.data(widgets::RunTableModel::kSortRole).toDouble(), 0.0);
        QVERIFY(cell.data(Qt::ToolTipRole).toString().contains(QStringLiteral("10 steps")));
    }

    void whatCannotChangeDisablesStart() {
        const Bench bench;
        QVERIFY(bench.train());
        bench.window->forkRun(bench.window->runs()->list()[0].id);
        auto* start = bench.window->panel()->startButton();
        QVERIFY(start->isEnabled());
        bench.edit("model.hidden", std::int64_t{16});
        QVERIFY(!start->isEnabled());
        QVERIFY2(start->toolTip().contains(QStringLiteral("model.hidden cannot change in a fork")),
                 qPrintable(start->toolTip()));
        // An edit stays when another checkpoint is chosen.
        bench.bar()->steps()->setCurrentIndex(0);
        QCOMPARE(form(bench).model.hidden, std::int64_t{16});
        // As a new run it is a fine experiment.
        bench.bar()->findChild<QToolButton*>(QStringLiteral("forkCancel"))->click();
        QVERIFY(!bench.bar()->isVisible());
        QVERIFY(start->isEnabled());
        QCOMPARE(form(bench).model.hidden, std::int64_t{16});
    }

    void anOpenedFolderIsForkedAndAForkWaits() {
        const Bench bench;
        QVERIFY(bench.train());
        app::MainWindow window({tests::threadTransports(), tests::loadSmallCorpus}, options());
        window.show();
        window.openPath(bench.folder.filePath(QStringLiteral("run")));
        window.forkRun(window.runs()->list()[0].id);
        window.addToQueue();
        QVERIFY(!window.panel()->forkBar()->source()); // it waits; the form is free
        QCOMPARE(window.queue()->waiting(), 1);
        QVERIFY(window.queue()
                    ->index(0)
                    .data(Qt::ToolTipRole)
                    .toString()
                    .contains(QStringLiteral("from step 30")));
        window.startQueue();
        QTRY_VERIFY(window.session()->state() == RunState::Finished);
        const auto* fork = window.runs()->find(window.runs()->list()[1].id);
        QCOMPARE(fork->series->begin()[static_cast<std::size_t>(widgets::XAxis::Step)], 31.0);
    }

    void aRunThatReachedItsEpochsHasRoomToGoOn() {
        const QTemporaryDir folder;
        app::WindowOptions kept = options();
        kept.experiments.front().training.steps = 0;
        kept.experiments.front().training.epochs = 1;
        kept.out = folder.filePath(QStringLiteral("run")).toStdString();
        app::MainWindow window({tests::threadTransports(), tests::loadSmallCorpus}, kept);
        window.show();
        window.startOrResume();
        QTRY_VERIFY(window.session()->state() == RunState::Finished);
        const std::uint64_t steps = window.runs()->list()[0].series->numbers().step;
        window.forkRun(window.runs()->list()[0].id);
        QCOMPARE(window.panel()->experiments().front().training.epochs, std::int64_t{2});
        window.startOrResume();
        QTRY_VERIFY(window.session()->state() == RunState::Finished);
        QCOMPARE(window.banner()->messages(), QStringList());
        QCOMPARE(window.runs()->list()[1].series->numbers().step, 2 * steps);
    }

    void withoutACheckpointABannerSaysWhy() {
        app::MainWindow window({tests::threadTransports(), tests::loadSmallCorpus}, options());
        window.show();
        window.startOrResume();
        QTRY_VERIFY(window.session()->state() == RunState::Finished);
        window.forkRun(window.runs()->list()[0].id);
        QVERIFY(!window.panel()->forkBar()->source());
        QVERIFY(window.banner()->messages().front().contains(QStringLiteral("no checkpoint")));
        window.forkRun(12345); // a run that was removed
        QCOMPARE(window.banner()->messages().size(), 1);
    }

    void pictures() {
        const QString folder = qEnvironmentVariable("GRADLAB_PICTURES");
        if (folder.isEmpty())
            QSKIP("GRADLAB_PICTURES is not set");
        const Bench bench;
        QVERIFY(bench.train());
        bench.window->forkRun(bench.window->runs()->list()[0].id);
        bench.edit("training.lr", 0.5);
        bench.window->addToQueue();
        bench.window->forkRun(bench.window->runs()->list()[0].id);
        bench.window->addToQueue();
        bench.window->forkRun(bench.window->runs()->list()[0].id);
        QTest::qWait(100);
        QVERIFY(bench.window->picture().save(folder + QStringLiteral("/fork.png")));
        bench.bar()->clear();
        bench.window->startQueue();
        QTRY_VERIFY(bench.window->queue()->isEmpty() && !bench.window->session()->isActive());
        bench.window->runs()->setBaseline(bench.window->runs()->list()[0].id);
        QTest::qWait(100);
        QVERIFY(bench.window->picture().save(folder + QStringLiteral("/forked.png")));
    }
};

QTEST_MAIN(TestFork)
#include "test_fork.moc"
