// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The window with the real engine behind it: commands by key, views, tuning, closing.
#include "app/chart_board.h"
#include "app/experiment_panel.h"
#include "app/main_window.h"
#include "app/run_collection.h"
#include "app/tuning_bar.h"
#include "tests/support/small_run.h"
#include "tests/support/window_settings.h"
#include "widgets/experiment_form.h"
#include "widgets/field_editor.h"
#include "widgets/message_banner.h"

#include <QAction>
#include <QDockWidget>
#include <QMenuBar>
#include <QMessageBox>
#include <QPushButton>
#include <QSettings>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QTest>
#include <QToolBar>

using namespace gradlab;
using engine::RunState;

namespace {

app::WindowOptions options(std::vector<engine::Experiment> race) {
    app::WindowOptions options;
    options.experiments = std::move(race);
    options.quit = true; // nobody answers questions, nothing is kept
    options.width = 1280;
    options.height = 800;
    return options;
}

std::unique_ptr<app::MainWindow> makeWindow(std::vector<engine::Experiment> race) {
    auto window = std::make_unique<app::MainWindow>(
        app::WindowServices{tests::threadTransports(), tests::loadSmallCorpus},
        options(std::move(race)));
    window->show();
    return window;
}

} // namespace

class TestMainWindow : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { tests::prepareWindowTests(); }
    void cleanup() { QCOMPARE(tests::QtWarnings::take(), QByteArray()); }

    void keysDriveARun() {
        const auto window = makeWindow(tests::smallRace());
        QVERIFY(QTest::qWaitForWindowActive(window.get()));
        const auto* dock = window->findChild<QDockWidget*>(QStringLiteral("experimentDock"));
        QVERIFY(dock->isVisible());
        QTest::keyClick(window.get(), Qt::Key_F5);
        QTRY_VERIFY(window->session()->state() == RunState::Running);
        QVERIFY(!dock->isVisible()); // folds away on start
        QTRY_VERIFY(window->runs()->list().front().series->numbers().step > 10);
        QTest::keyClick(window->board(), Qt::Key_Space);
        QTRY_VERIFY(window->session()->state() == RunState::Paused);
        const std::uint64_t step = window->session()->progress().members[0].step;
        QTest::keyClick(window.get(), Qt::Key_F10);
        QTRY_COMPARE(window->session()->progress().members[0].step, step + 1);
        QTRY_VERIFY(window->session()->state() == RunState::Paused);
        QTest::keyClick(window.get(), Qt::Key_F6);
        QTRY_VERIFY(window->session()->state() == RunState::Running);
        QTest::keyClick(window.get(), Qt::Key_F5, Qt::ShiftModifier);
        QTRY_VERIFY(window->session()->state() == RunState::Finished);
        QCOMPARE(window->runs()->list().front().state, QStringLiteral("stopped"));
    }

    void xCyclesEveryAxis() {
        const auto window = makeWindow(tests::smallRace());
        QVERIFY(QTest::qWaitForWindowActive(window.get()));
        using widgets::XAxis;
        for (const XAxis axis : {XAxis::Bytes, XAxis::SimulatedTime, XAxis::WallTime, XAxis::Epoch,
                                 XAxis::Tokens, XAxis::Step}) {
            QTest::keyClick(window->board(), Qt::Key_X);
            QCOMPARE(window->board()->xAxis(), axis);
            for (const widgets::RunChart* chart : window->board()->charts())
                QCOMPARE(chart->xAxis(), axis);
        }
    }

    void presentationLeavesStripAndCharts() {
        const auto window = makeWindow(tests::smallRace());
        QVERIFY(QTest::qWaitForWindowActive(window.get()));
        const auto* toolBar = window->findChild<QToolBar*>(QStringLiteral("runToolBar"));
        const auto* docks = window->findChild<QDockWidget*>(QStringLiteral("runsDock"));
        QTest::keyClick(window.get(), Qt::Key_F11);
        QVERIFY(window->isPresenting());
        for (const QWidget* part : std::initializer_list<const QWidget*>{
                 window->menuBar(), window->statusBar(), toolBar, docks, window->tuning()})
            QVERIFY(!part->isVisible());
        QVERIFY(window->board()->isVisible());
        QTest::keyClick(window.get(), Qt::Key_F5); // keys work without menus
        QTRY_VERIFY(window->session()->state() == RunState::Running);
        window->session()->stop();
        QTRY_VERIFY(window->session()->state() == RunState::Finished);
        QTest::keyClick(window.get(), Qt::Key_Escape);
        QVERIFY(!window->isPresenting());
        QVERIFY(window->menuBar()->isVisible() && toolBar->isVisible() && docks->isVisible());
    }

    void anInvalidFormDisablesStart() {
        const auto window = makeWindow({tests::smallExperiment()});
        auto* form = window->panel()->form();
        Q_EMIT form->editor(QStringLiteral("training.batch"))->edited(std::int64_t{3});
        auto* start = window->panel()->startButton();
        QVERIFY(!start->isEnabled());
        QVERIFY(start->toolTip().contains(QStringLiteral("batch")));
        QTest::keyClick(window.get(), Qt::Key_F5);
        QVERIFY(!window->session()->isPrepared());
        Q_EMIT form->editor(QStringLiteral("training.batch"))->edited(std::int64_t{4});
        QVERIFY(start->isEnabled());
    }

    void tuningChangesARunAndIsMarked() {
        const auto window = makeWindow(tests::smallRace());
        window->startOrResume();
        QTRY_VERIFY(window->runs()->list()[1].series->numbers().step > 3);
        QTest::keyClick(window.get(), Qt::Key_K, Qt::ControlModifier);
        QVERIFY(window->tuning()->isVisible());
        const int id = window->runs()->list()[1].id;
        window->tuning()->chooseTarget(id);
        auto* memory = window->tuning()->editor(QStringLiteral("compression.memory"));
        QVERIFY(memory->isVisible() && memory->isEnabled());
        Q_EMIT memory->edited(std::string("residual"));
        QTRY_COMPARE(window->runs()->find(id)->current.compression.memory, std::string("residual"));
        QTRY_COMPARE(window->runs()->list()[1].series->changes().size(), std::size_t{1});
        QVERIFY(window->runs()->list()[0].series->changes().empty());
        window->tuning()->chooseTarget(app::TrainingSession::kAllRuns);
        Q_EMIT window->tuning()->editor(QStringLiteral("training.lr"))->edited(0.5);
        for (const widgets::RunInfo& run : window->runs()->list())
            QTRY_COMPARE(window->runs()->find(run.id)->current.training.lr, 0.5);
    }

    void aSecondRaceKeepsTheFirst() {
        const auto window = makeWindow(tests::smallRace(20));
        window->startOrResume();
        QTRY_VERIFY(window->session()->state() == RunState::Finished);
        window->startOrResume();
        QVERIFY(window->session()->isActive());
        QTRY_VERIFY(window->session()->state() == RunState::Finished);
        const widgets::RunList runs = window->runs()->list();
        QCOMPARE(runs.size(), std::size_t{4});
        QCOMPARE(runs[2].name, QStringLiteral("Dense (2)"));
        for (const widgets::RunInfo& run : runs)
            QCOMPARE(run.series->numbers().step, std::uint64_t{20});
    }

    void anErrorIsABanner() {
        const auto window = makeWindow({tests::smallExperiment()});
        window->openPath(QStringLiteral("/no/such/file.json"));
        QCOMPARE(window->banner()->messages().size(), 1);
        QVERIFY(window->banner()->messages().front().contains(QStringLiteral("file.json")));
    }

    void opensExperimentsAndRunFolders() {
        const QTemporaryDir folder;
        const QString out = folder.filePath("run");
        {
            app::WindowOptions recorded = options({tests::smallExperiment("Kept", 15)});
            recorded.out = out.toStdString();
            app::MainWindow window({tests::threadTransports(), tests::loadSmallCorpus}, recorded);
            window.startOrResume();
            QTRY_VERIFY(window.session()->state() == RunState::Finished);
        }
        const auto window = makeWindow({tests::smallExperiment()});
        window->openPath(out);
        QCOMPARE(window->banner()->messages(), QStringList());
        QCOMPARE(window->runs()->list().size(), std::size_t{1});
        QCOMPARE(window->runs()->list()[0].name, QStringLiteral("Kept"));
        QCOMPARE(window->runs()->list()[0].series->numbers().step, std::uint64_t{15});
        window->openPath(out + QStringLiteral("/experiment.json"));
        QCOMPARE(window->panel()->experiments().front().name, std::string("Kept"));
        window->openPath(folder.path() + QStringLiteral("/nothing"));
        QCOMPARE(window->banner()->messages().size(), 1);
    }

    void closingMidRunStopsFirst() {
        auto window = makeWindow(tests::smallRace());
        window->startOrResume();
        QTRY_VERIFY(window->session()->state() == RunState::Running);
        QElapsedTimer clock;
        clock.start();
        QVERIFY(!window->close()); // not yet: it stops, then closes by itself
        QVERIFY2(clock.elapsed() < 100, QByteArray::number(clock.elapsed()).constData());
        QTRY_VERIFY_WITH_TIMEOUT(!window->isVisible(), 2000);
        QVERIFY(window->session()->state() == RunState::Finished);
        window.reset();
        QVERIFY2(clock.elapsed() < 2000, QByteArray::number(clock.elapsed()).constData());
    }

    void closingAsksAPerson() {
        const auto window = makeWindow(tests::smallRace());
        window->setAskBeforeClosing(true);
        window->startOrResume();
        QTRY_VERIFY(window->session()->state() == RunState::Running);
        QVERIFY(!window->close());
        auto* question = window->findChild<QMessageBox*>();
        QVERIFY(question != nullptr);
        question->button(QMessageBox::Cancel)->click();
        QVERIFY(window->isVisible());
        QVERIFY(window->session()->state() == RunState::Running);
        QTRY_VERIFY(window->findChild<QMessageBox*>() == nullptr);
        QVERIFY(!window->close());
        question = window->findChild<QMessageBox*>();
        QVERIFY(question != nullptr);
        question->buttons().constFirst()->click();
        QTRY_VERIFY(!window->isVisible());
    }

    void theLayoutIsKept() {
        app::WindowOptions person;
        person.experiments = tests::smallRace();
        const app::WindowServices services{tests::threadTransports(), tests::loadSmallCorpus};
        {
            app::MainWindow window(services, person);
            window.show();
            window.resize(1111, 777);
            window.findChild<QDockWidget*>(QStringLiteral("runsDock"))->hide();
            QVERIFY(window.close());
        }
        app::MainWindow window(services, person);
        window.show();
        QCOMPARE(window.size(), QSize(1111, 777));
        QVERIFY(!window.findChild<QDockWidget*>(QStringLiteral("runsDock"))->isVisible());
        QVERIFY(window.findChild<QDockWidget*>(QStringLiteral("experimentDock"))->isVisible());
        QSettings().clear();
    }

    void aPictureHasEverything() {
        const auto window = makeWindow(tests::smallRace(40));
        window->startOrResume();
        QTRY_VERIFY(window->session()->state() == RunState::Finished);
        const QImage picture = window->picture().toImage();
        QCOMPARE(picture.size(), QSize(1280, 800));
        const QRect area(window->board()->mapTo(window.get(), QPoint(0, 0)),
                         window->board()->size());
        const widgets::Theme theme = widgets::Theme::fromPalette(window->palette(), false);
        for (const widgets::RunInfo& run : window->runs()->list()) {
            const QRgb colour = theme.runColour(run.colour).rgb();
            int pixels = 0;
            for (int y = area.top(); y <= area.bottom(); ++y)
                for (int x = area.left(); x <= area.right(); ++x)
                    pixels += picture.pixel(x, y) == colour ? 1 : 0;
            QVERIFY2(pixels > 100, qPrintable(run.name));
        }
    }
};

QTEST_MAIN(TestMainWindow)
#include "test_main_window.moc"
