// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Tuning a run that is on, in the window with the real engine: what waits in a memory is asked
// about, every change can be taken back by another, a prediction is compared.
#include "app/chart_board.h"
#include "app/live_tuning.h"
#include "app/memory_question.h"
#include "app/prediction_tool.h"
#include "engine/training/experiment_schema.h"
#include "tests/support/tuned_window.h"
#include "tests/support/window_settings.h"
#include "widgets/field_knob.h"
#include "widgets/message_banner.h"
#include "widgets/perplexity_chart.h"

#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QPushButton>
#include <QSlider>
#include <QSpinBox>
#include <QTemporaryDir>

using namespace gradlab;
using namespace gradlab::tests;
using engine::MemoryChange;
using engine::RunState;

class TestLiveTuning : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { tests::prepareWindowTests(); }
    void cleanup() { QCOMPARE(tests::QtWarnings::take(), QByteArray()); }

    void whatWaitsIsAskedAbout() {
        const auto window = makeWindow({topK()});
        QVERIFY(QTest::qWaitForWindowActive(window.get()));
        startAndPause(*window);
        const auto waits = run(*window).series->last(widgets::Metric::ResidualNorm);
        QVERIFY(waits && waits->value > 0.0);
        edit(*window, "compression.method", std::string("qsgd"));
        app::MemoryQuestion* question = window->question();
        QVERIFY(question->isVisible());
        QVERIFY2(question->text().contains(QString::number(waits->value, 'g', 3)),
                 qPrintable(question->text()));
        QVERIFY(question->text().contains(QStringLiteral("topk → qsgd")));
        QVERIFY(question->button(MemoryChange::Keep)->hasFocus());
        if (qEnvironmentVariableIsSet("GRADLAB_PICTURES"))
            window->picture().save(qEnvironmentVariable("GRADLAB_PICTURES") +
                                   QStringLiteral("/memory-question.png"));
        QTest::keyClick(question->button(MemoryChange::Keep), Qt::Key_Escape);
        QVERIFY(!question->isVisible());
        QCOMPARE(std::get<std::string>(
                     window->tuning()->editor(QStringLiteral("compression.method"))->value()),
                 std::string("topk"));
        QVERIFY(!window->live()->undoStack()->canUndo());
        window->stepOnce();
        QTRY_VERIFY(window->session()->state() == RunState::Paused);
        QVERIFY(run(*window).series->changes().empty());
    }

    void theAnswerIsInTheEvent_data() {
        QTest::addColumn<QString>("button");
        QTest::addColumn<QString>("mark");
        QTest::newRow("keep") << "keep"
                              << "method topk → randomk";
        QTest::newRow("flush") << "flush"
                               << "method topk → randomk, flushed";
        QTest::newRow("drop") << "drop"
                              << "method topk → randomk, dropped";
    }
    void theAnswerIsInTheEvent() {
        QFETCH(QString, button);
        QFETCH(QString, mark);
        const QTemporaryDir folder;
        const auto window =
            makeWindow({topK()}, folder.filePath(QStringLiteral("run")).toStdString());
        startAndPause(*window);
        edit(*window, "compression.method", std::string("randomk"));
        QVERIFY(window->question()->isVisible());
        window->question()->findChild<QPushButton*>(button)->click();
        QVERIFY(!window->question()->isVisible());
        const std::uint64_t step = window->session()->progress().members[0].step;
        window->stepOnce();
        QTRY_COMPARE(run(*window).series->changes().size(), std::size_t{1});
        QCOMPARE(QString::fromStdString(run(*window).series->changes()[0].text), mark);
        window->stopRun();
        QTRY_VERIFY(window->session()->state() == RunState::Finished);
        const auto log = engine::readRunLog(run(*window).log);
        const auto changes = changesIn(log);
        QCOMPARE(changes.size(), std::size_t{1});
        QCOMPARE(changes[0].step, step + 1);
        QCOMPARE(QString::fromStdString(changes[0].memory), button);
        QCOMPARE(stepsIn(log).at(step).density == 1.0, button == QStringLiteral("flush"));
    }

    void nothingIsAskedWhereNothingWaits() {
        engine::Experiment experiment = topK();
        tests::setCompression(experiment, "topk", "none");
        const auto window = makeWindow({experiment});
        startAndPause(*window);
        edit(*window, "compression.memory", std::string("residual"));
        QVERIFY(!window->question()->isVisible());
        QVERIFY(window->live()->undoStack()->canUndo());
    }

    // What was kept while the memory is off still waits: it is asked about again.
    void whatRestsIsAskedAboutToo() {
        const auto window = makeWindow({topK()});
        startAndPause(*window);
        edit(*window, "compression.memory", std::string("none"));
        window->question()->button(MemoryChange::Keep)->click();
        window->stepOnce();
        QTRY_VERIFY(run(*window).resting > 0.0);
        QTRY_VERIFY(window->session()->state() == RunState::Paused);
        edit(*window, "compression.memory", std::string("residual"));
        QVERIFY(window->question()->isVisible());
        window->question()->button(MemoryChange::Drop)->click();
        window->stepOnce();
        QTRY_COMPARE(run(*window).resting, 0.0);
    }

    void keysUndoAndRedoByNewChanges() {
        const auto window = makeWindow(tests::smallRace());
        QVERIFY(QTest::qWaitForWindowActive(window.get()));
        startAndPause(*window);
        window->tuning()->chooseTarget(app::TrainingSession::kAllRuns);
        edit(*window, "training.lr", 0.5);
        const QAction* undo = undoAction(*window);
        QVERIFY(undo != nullptr);
        QVERIFY2(undo->text().contains(QStringLiteral("Learning rate 1 → 0.5 (all runs)")),
                 qPrintable(undo->text()));
        window->board()->setFocus();
        window->stepOnce();
        QTRY_COMPARE(run(*window, 1).current.training.lr, 0.5);
        QTRY_VERIFY(window->session()->state() == RunState::Paused);
        QTest::keyClick(window->board(), Qt::Key_Z, Qt::ControlModifier);
        window->stepOnce();
        for (const std::size_t i : {0, 1})
            QTRY_COMPARE(run(*window, i).current.training.lr, 1.0);
        QTRY_VERIFY(window->session()->state() == RunState::Paused);
        QCOMPARE(run(*window).series->changes().size(), std::size_t{2}); // another, not none
        QVERIFY(QString::fromStdString(run(*window).series->changes()[1].text)
                    .contains(QStringLiteral("undone")));
        QTest::keyClick(window->board(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
        window->stepOnce();
        for (const std::size_t i : {0, 1})
            QTRY_COMPARE(run(*window, i).current.training.lr, 0.5);
        window->stopRun();
        QTRY_VERIFY(window->session()->state() == RunState::Finished);
        QVERIFY(!undo->isEnabled()); // the form's own again
    }

    void aDragIsOneStepToUndo() {
        const auto window = makeWindow({topK()});
        startAndPause(*window);
        auto* slider = window->tuning()->knob(QStringLiteral("compression.ratio"))->slider();
        QVERIFY(slider->isVisible());
        const auto before = std::get<double>(
            window->tuning()->editor(QStringLiteral("compression.ratio"))->value());
        slider->setSliderDown(true);
        slider->setSliderPosition(slider->sliderPosition() + 5);
        slider->setSliderPosition(slider->sliderPosition() + 5);
        slider->setSliderDown(false);
        QCOMPARE(window->live()->undoStack()->count(), 1);
        window->stepOnce();
        QTRY_COMPARE(run(*window).series->changes().size(), std::size_t{1}); // of one step
        QCOMPARE(QString::fromStdString(run(*window).series->changes()[0].text)
                     .count(QStringLiteral("ratio")),
                 2); // at once, and where it was left
        window->live()->undoStack()->undo();
        QTRY_VERIFY(window->session()->state() == RunState::Paused);
        window->stepOnce();
        QTRY_COMPARE(run(*window).series->changes().size(), std::size_t{2});
        QCOMPARE(std::get<double>(engine::getField(run(*window).current, "compression.ratio")),
                 before);
    }

    void whatARunWouldRefuseIsSaid() {
        const auto window = makeWindow({topK()});
        startAndPause(*window);
        edit(*window, "training.lr", -1.0);
        QVERIFY(!window->live()->undoStack()->canUndo());
        QCOMPARE(std::get<double>(window->tuning()->editor(QStringLiteral("training.lr"))->value()),
                 1.0);
    }

    void aPredictionIsComparedAtItsEnd() {
        engine::Experiment experiment = topK(60);
        experiment.training.evalEvery = 20;
        const auto window = makeWindow({experiment});
        QVERIFY(QTest::qWaitForWindowActive(window.get()));
        app::PredictionTool* tool = window->prediction();
        QVERIFY(!tool->isVisible()); // nobody is asked unless somebody wants it
        QTest::keyClick(window.get(), Qt::Key_D, Qt::ControlModifier);
        QVERIFY(tool->isVisible());
        QCOMPARE(tool->step()->value(), 60); // as far as the race goes
        tool->perplexity()->setValue(10.0);
        tool->step()->setValue(40);
        tool->curtain()->setChecked(true);
        QTest::keyClick(tool->perplexity(), Qt::Key_Return);
        const widgets::PerplexityChart* chart = window->board()->perplexityChart();
        QCOMPARE(chart->prediction().end().x, 40.0);
        QVERIFY(chart->curtain().has_value());
        window->startOrResume();
        QTRY_VERIFY(window->session()->state() == RunState::Finished);
        QTRY_VERIFY(!window->banner()->messages().isEmpty());
        const auto actual = run(*window).series->nearest(widgets::Metric::ValidPerplexity,
                                                         widgets::XAxis::Step, 40);
        const QString sentence = window->banner()->messages().join(u'\n');
        QVERIFY2(sentence.contains(QStringLiteral("has %1 at step 40 (validation): %2 times the "
                                                  "predicted 10")
                                       .arg(QString::number(actual->value, 'g', 3),
                                            QString::number(actual->value / 10.0, 'g', 3))),
                 qPrintable(sentence));
        QVERIFY(!chart->curtain().has_value()); // revealed
        if (qEnvironmentVariableIsSet("GRADLAB_PICTURES"))
            window->picture().save(qEnvironmentVariable("GRADLAB_PICTURES") +
                                   QStringLiteral("/prediction.png"));
        QTest::keyClick(tool->perplexity(), Qt::Key_Escape);
        QVERIFY(!tool->isVisible() && !chart->prediction().isEmpty());
        tool->erase();
        QVERIFY(chart->prediction().isEmpty());
    }
};

QTEST_MAIN(TestLiveTuning)
#include "test_live_tuning.moc"
