// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that wait: the list by itself, and in the window with the real engine behind it.
#include "app/experiment_panel.h"
#include "app/main_window.h"
#include "app/queue_panel.h"
#include "app/run_collection.h"
#include "app/run_queue.h"
#include "engine/core/errors.h"
#include "tests/support/small_run.h"
#include "tests/support/window_settings.h"
#include "widgets/experiment_form.h"
#include "widgets/field_editor.h"
#include "widgets/message_banner.h"
#include "widgets/status_progress.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QDockWidget>
#include <QInputDialog>
#include <QLabel>
#include <QListView>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include <set>

using namespace gradlab;
using engine::RunState;

namespace {

app::RunPlan plan(const std::string& name, std::int64_t steps = 20) {
    return {{tests::smallExperiment(name, steps)}, {}, std::nullopt};
}

QStringList titles(const app::RunQueue& queue) {
    QStringList names;
    for (int row = 0; row < queue.rowCount(); ++row)
        names << queue.index(row).data().toString();
    return names;
}

QStringList runNames(const app::MainWindow& window) {
    QStringList names;
    for (const widgets::RunInfo& run : window.runs()->list())
        names << run.name;
    return names;
}

std::unique_ptr<app::MainWindow> makeWindow(const engine::Experiment& experiment) {
    app::WindowOptions options;
    options.experiments = {experiment};
    options.quit = true; // nobody answers questions, nothing is kept
    options.width = 1280;
    options.height = 800;
    auto window = std::make_unique<app::MainWindow>(
        app::WindowServices{tests::threadTransports(), tests::loadSmallCorpus}, options);
    window->show();
    return window;
}

QString progressText(const app::MainWindow& window) {
    return window.findChild<widgets::StatusProgress*>()->findChild<QLabel*>()->text();
}

} // namespace

class TestRunQueue : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { tests::prepareWindowTests(); }
    void cleanup() { QCOMPARE(tests::QtWarnings::take(), QByteArray()); }

    void theListKeepsItsOrder() {
        app::RunQueue queue;
        const QAbstractItemModelTester tester(
            &queue, QAbstractItemModelTester::FailureReportingMode::QtTest);
        for (const char* name : {"a", "b", "c", "d"})
            queue.add(plan(name));
        QVERIFY(queue.moveBy(0, 2));
        QCOMPARE(titles(queue), (QStringList{"b", "c", "a", "d"}));
        QVERIFY(queue.moveBy(3, -3));
        QCOMPARE(titles(queue), (QStringList{"d", "b", "c", "a"}));
        QVERIFY(!queue.moveBy(0, -1) && !queue.moveBy(3, 1) && !queue.moveBy(7, -1));
        queue.removeAt(1);
        queue.removeAt(9);
        QCOMPARE(titles(queue), (QStringList{"d", "c", "a"}));
        queue.setHeld(true);
        QVERIFY(!queue.takeNext());
        queue.setHeld(false);
        QCOMPARE(queue.takeNext()->experiments.front().name, std::string("d"));
        QCOMPARE(titles(queue), (QStringList{"c", "a"}));
    }

    void itCountsWhatHasBegun() {
        app::RunQueue queue;
        queue.countStart();
        QCOMPARE(queue.countText(), QString()); // one alone needs no number
        queue.add(plan("b"));
        queue.add(plan("c"));
        QCOMPARE(queue.countText(), QStringLiteral("1 of 3"));
        (void)queue.takeNext();
        queue.countStart();
        QCOMPARE(queue.countText(), QStringLiteral("2 of 3"));
        (void)queue.takeNext();
        queue.countStart();
        QCOMPARE(queue.countText(), QStringLiteral("3 of 3"));
        queue.countEnd();
        QCOMPARE(queue.countText(), QString());
        queue.setHeld(true);
        QVERIFY(!queue.isHeld()); // there is nothing to hold
    }

    void thePanelReorders() {
        app::RunQueue queue;
        QAction enqueue(QStringLiteral("Add to Queue"));
        enqueue.setToolTip(QStringLiteral("tip"));
        app::QueuePanel panel(&queue, &enqueue);
        panel.show();
        QVERIFY(!panel.startAction()->isEnabled() && !panel.removeAction()->isEnabled());
        for (const char* name : {"a", "b", "c"})
            queue.add(plan(name));
        panel.list()->setCurrentIndex(queue.index(2));
        QVERIFY(!panel.downAction()->isEnabled());
        panel.upAction()->trigger();
        QCOMPARE(titles(queue), (QStringList{"a", "c", "b"}));
        QCOMPARE(panel.list()->currentIndex().row(), 1); // it stays with the run
        panel.downAction()->trigger();
        panel.removeAction()->trigger();
        QCOMPARE(titles(queue), (QStringList{"a", "b"}));
        QVERIFY(panel.startAction()->isEnabled());
        panel.setRunning(true);
        QVERIFY(!panel.startAction()->isEnabled()); // it goes on by itself
        queue.setHeld(true);
        QVERIFY(panel.startAction()->isEnabled());
        for (const QToolButton* button : panel.findChildren<QToolButton*>())
            if (button->isVisible() && button->defaultAction() != nullptr)
                QVERIFY2(button->focusPolicy() & Qt::TabFocus, qPrintable(button->text()));
    }

    void oneStartsWhenTheOneBeforeEnds() {
        const auto window = makeWindow(tests::smallExperiment("First", 5));
        auto* dock = window->findChild<QDockWidget*>(QStringLiteral("queueDock"));
        QVERIFY(!dock->toggleViewAction()->isChecked());
        window->stepOnce();
        QTRY_VERIFY(window->session()->state() == RunState::Paused);
        app::RunPlan fails = plan("Fails");
        fails.experiments.front().model.init = "/no/such/file.safetensors";
        window->queue()->add(fails); // its end is an end, too
        window->queue()->add(plan("Third"));
        QVERIFY(dock->toggleViewAction()->isChecked());
        QTRY_VERIFY2(progressText(*window).startsWith(QStringLiteral("1 of 3")),
                     qPrintable(progressText(*window)));
        window->startOrResume();
        QTRY_COMPARE(window->runs()->list().size(), std::size_t{3});
        QTRY_VERIFY(!window->session()->isActive() && window->queue()->isEmpty());
        QCOMPARE(runNames(*window), (QStringList{"First", "Fails", "Third"}));
        QCOMPARE(window->runs()->list()[1].state, QStringLiteral("failed"));
        QCOMPARE(window->runs()->list()[2].state, QStringLiteral("completed"));
        QCOMPARE(window->runs()->list()[2].series->numbers().step, std::uint64_t{20});
        // What had failed is still told, and the form has again what the person had written.
        QVERIFY(window->banner()->messages().front().contains(QStringLiteral("/no/such/file")));
        QTRY_COMPARE(window->panel()->experiments().front().name, std::string("First"));
        QCOMPARE(window->queue()->countText(), QString());
    }

    void theFormIsQueuedAsItIs() {
        const auto window = makeWindow(tests::smallExperiment("Waits", 15));
        QVERIFY(QTest::qWaitForWindowActive(window.get()));
        QTest::keyClick(window.get(), Qt::Key_F7);
        QCOMPARE(titles(*window->queue()), (QStringList{"Waits"}));
        QVERIFY(!window->session()->isPrepared()); // adding starts nothing
        auto* form = window->panel()->form();
        Q_EMIT form->editor(QStringLiteral("training.lr"))->edited(0.5);
        window->panel()->queueButton()->click();
        QCOMPARE(window->queue()->waiting(), 2);
        Q_EMIT form->editor(QStringLiteral("training.batch"))->edited(std::int64_t{3});
        QVERIFY(!window->panel()->queueButton()->isEnabled()); // invalid: cannot wait either
        QTest::keyClick(window.get(), Qt::Key_F7);
        QCOMPARE(window->queue()->waiting(), 2);
        window->queuePanel()->startAction()->trigger();
        QTRY_VERIFY(window->queue()->isEmpty() && !window->session()->isActive());
        QTRY_COMPARE(window->runs()->list().size(), std::size_t{2});
        QCOMPARE(window->runs()->find(window->runs()->list()[0].id)->atStart.training.lr, 1.0);
        QCOMPARE(window->runs()->find(window->runs()->list()[1].id)->atStart.training.lr, 0.5);
        QTRY_COMPARE(window->panel()->experiments().front().training.batch, std::int64_t{3});
    }

    void stoppingHoldsTheQueue() {
        const auto window = makeWindow(tests::smallExperiment("First", 0));
        QVERIFY(QTest::qWaitForWindowActive(window.get()));
        window->startOrResume();
        QTRY_VERIFY(window->session()->state() == RunState::Running);
        window->queue()->add(plan("Second"));
        QTest::keyClick(window.get(), Qt::Key_F5, Qt::ShiftModifier);
        QTRY_VERIFY(window->session()->state() == RunState::Finished);
        QVERIFY(window->queue()->isHeld());
        QTest::qWait(50); // were it not held, it would have begun by now
        QCOMPARE(window->queue()->waiting(), 1);
        QCOMPARE(window->runs()->list().size(), std::size_t{1});
        QVERIFY(window->queuePanel()->startAction()->isEnabled());
        window->queuePanel()->startAction()->trigger();
        QTRY_COMPARE(runNames(*window), (QStringList{"First", "Second"}));
        QTRY_VERIFY(window->session()->state() == RunState::Finished);
    }

    void aFileWaitsForTheRunThatIsOn() {
        const QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("later.json"));
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QByteArray::fromStdString(engine::toJson(tests::smallExperiment("Later", 10))));
        file.close();
        const auto window = makeWindow(tests::smallExperiment("First", 0));
        window->startOrResume();
        QTRY_VERIFY(window->session()->state() == RunState::Running);
        window->openPath(path);
        QCOMPARE(window->panel()->experiments().front().name, std::string("First"));
        for (auto* button : window->banner()->findChildren<QAbstractButton*>())
            if (button->text() == QStringLiteral("Add to Queue"))
                button->click();
        QCOMPARE(titles(*window->queue()), (QStringList{"Later"}));
        window->session()->stop();
        QTRY_VERIFY(window->session()->state() == RunState::Finished);
    }

    void whatCannotStartIsPassedOver() {
        const QTemporaryDir used;
        QFile file(used.filePath(QStringLiteral("somebody's")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.close();
        const auto window = makeWindow(tests::smallExperiment("First", 10));
        app::RunPlan taken = plan("Taken");
        taken.folder = used.path().toStdString();
        window->queue()->add(taken);
        window->queue()->add(plan("Good"));
        window->startQueue();
        QTRY_COMPARE(runNames(*window), (QStringList{"Good"}));
        QVERIFY(window->banner()->messages().front().contains(QStringLiteral("already used")));
        QTRY_VERIFY(window->session()->state() == RunState::Finished);
    }

    void seedsBecomeRunsWithAMean() {
        engine::Experiment experiment = tests::smallExperiment("Small", 40);
        experiment.training.evalEvery = 20;
        const auto window = makeWindow(experiment);
        window->repeatOverSeeds(QStringLiteral("7, 8,9"));
        QTRY_COMPARE(window->runs()->list().size(), std::size_t{3});
        QTRY_VERIFY(!window->session()->isActive() && window->queue()->isEmpty());
        const widgets::RunList runs = window->runs()->list();
        std::set<double> losses;
        for (std::size_t i = 0; i < runs.size(); ++i) {
            QCOMPARE(runs[i].seed, static_cast<std::int64_t>(7 + i));
            QVERIFY(runs[i].seedGroup != 0);
            losses.insert(*runs[i].series->numbers().loss);
        }
        QCOMPARE(losses.size(), std::size_t{3}); // other seeds, other runs
        QCOMPARE(window->panel()->experiments().front().training.seed, experiment.training.seed);
    }

    void seedsThatAreNoneStartNothing() {
        const auto window = makeWindow(tests::smallExperiment("Small", 20));
        for (const char* seeds : {"1, two", "1, 1", "", "-1"})
            QVERIFY_EXCEPTION_THROWN(window->repeatOverSeeds(QString::fromLatin1(seeds)),
                                     engine::ExperimentError);
        QVERIFY(window->queue()->isEmpty() && window->runs()->isEmpty());
        auto* repeat = window->findChild<QAction*>();
        for (QAction* action : window->findChildren<QAction*>())
            if (action->text().contains(QStringLiteral("Seeds…")))
                repeat = action;
        repeat->trigger();
        auto* dialog = window->findChild<QInputDialog*>();
        QVERIFY(dialog != nullptr && dialog->isVisible());
        dialog->setTextValue(QStringLiteral("nothing"));
        dialog->accept();
        QCOMPARE(window->banner()->messages().size(), 1);
        QVERIFY(window->runs()->isEmpty());
    }
};

QTEST_MAIN(TestRunQueue)
#include "test_run_queue.moc"
