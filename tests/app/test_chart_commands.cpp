// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What the window's menus and keys do to charts: zoom together, scales and smoothing that are
// remembered, the Pareto front, pictures and tables while a run goes on.
#include "app/chart_board.h"
#include "app/main_window.h"
#include "app/run_collection.h"
#include "tests/support/small_run.h"
#include "tests/support/window_settings.h"
#include "widgets/message_banner.h"
#include "widgets/plot_widget.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QFileDialog>
#include <QImage>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QMimeData>
#include <QSettings>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>

using namespace gradlab;
using engine::RunState;
using widgets::PlotWidget;

namespace {

std::unique_ptr<app::MainWindow> makeWindow(std::vector<engine::Experiment> race,
                                            const QString& out = {}) {
    app::WindowOptions options;
    options.experiments = std::move(race);
    options.quit = true; // nobody answers questions, nothing is kept
    options.width = 1280;
    options.height = 800;
    options.out = out.toStdString();
    auto window = std::make_unique<app::MainWindow>(
        app::WindowServices{tests::threadTransports(), tests::loadSmallCorpus}, options);
    window->show();
    return window;
}

PlotWidget* plotOf(const app::MainWindow& window, const char* name) {
    return window.findChild<PlotWidget*>(QString::fromLatin1(name));
}

/// Answers the dialog that a command opened.
bool chooseFile(app::MainWindow& window, const QString& path, int filter = 0) {
    auto* dialog = window.findChild<QFileDialog*>();
    if (dialog == nullptr)
        return false;
    dialog->selectNameFilter(dialog->nameFilters().at(filter));
    // As typed: selectFile() leaves a line edit with the keyboard alone.
    dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"))->setText(path);
    QMetaObject::invokeMethod(dialog, "accept");
    return true;
}

} // namespace

class TestChartCommands : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() {
        tests::prepareWindowTests();
        QApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
    }
    void cleanup() { QCOMPARE(tests::QtWarnings::take(), QByteArray()); }

    void chartsZoomTogetherUntilToldNotTo() {
        const auto window = makeWindow(tests::smallRace(60));
        QVERIFY(QTest::qWaitForWindowActive(window.get()));
        window->startOrResume();
        QTRY_VERIFY(window->session()->state() == RunState::Finished);
        PlotWidget* large = plotOf(*window, "perplexity");
        PlotWidget* bytes = plotOf(*window, "bytes-in-total");
        large->setFocus();
        (void)large->layoutNow();
        QTest::keyClick(large, Qt::Key_Plus);
        QVERIFY(large->window().x);
        QVERIFY(bytes->window().x == large->window().x);
        QTRY_VERIFY(bytes->layoutNow().ranges.x == large->layoutNow().ranges.x);
        QTest::keyClick(large, Qt::Key_0, Qt::ControlModifier); // everything
        QVERIFY(!large->window().isZoomed() && !bytes->window().isZoomed());
        QTest::keyClick(large, Qt::Key_L, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(!window->board()->isXLinked());
        QTest::keyClick(large, Qt::Key_Plus, Qt::ControlModifier);
        QVERIFY(large->window().x && !bytes->window().x);
        QTest::keyClick(large, Qt::Key_L, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(bytes->window().x == large->window().x);
    }

    void aRunningRaceDoesNotMoveAZoomedChart() {
        const auto window = makeWindow(tests::smallRace());
        window->startOrResume();
        const auto step = [&] { return window->runs()->list()[0].series->numbers().step; };
        QTRY_VERIFY(step() > 40);
        PlotWidget* large = plotOf(*window, "perplexity");
        (void)large->layoutNow();
        large->changeWindow({widgets::AxisRange{10.0, 30.0}, std::nullopt});
        const widgets::PlotRanges held = large->layoutNow().ranges;
        const std::uint64_t before = step();
        QTRY_VERIFY(step() > before + 60);
        window->board()->refreshAll();
        QVERIFY(large->layoutNow().ranges == held);
    }

    void scaleAndSmoothingAreRemembered() {
        app::WindowOptions person;
        person.experiments = tests::smallRace();
        const app::WindowServices services{tests::threadTransports(), tests::loadSmallCorpus};
        {
            app::MainWindow window(services, person);
            window.show();
            QVERIFY(QTest::qWaitForWindowActive(&window));
            PlotWidget* bytes = plotOf(window, "bytes-in-total");
            bytes->setFocus();
            QVERIFY(bytes->isLogarithmicY());
            QTest::keyClick(bytes, Qt::Key_L);
            QVERIFY(!bytes->isLogarithmicY());
            QVERIFY(plotOf(window, "perplexity")->isLogarithmicY());
            auto* smoothing = window.findChild<QSpinBox*>(QStringLiteral("smoothing"));
            QVERIFY(smoothing->isVisible() && !smoothing->toolTip().isEmpty());
            QTest::keyClick(bytes, Qt::Key_BracketRight, Qt::ControlModifier);
            QCOMPARE(smoothing->value(), 16);
            QCOMPARE(window.board()->smoothing(), 16.0);
            QVERIFY(window.close());
        }
        app::MainWindow window(services, person);
        QVERIFY(!plotOf(window, "bytes-in-total")->isLogarithmicY());
        QCOMPARE(window.findChild<QSpinBox*>(QStringLiteral("smoothing"))->value(), 16);
        QSettings().clear();
    }

    void theParetoFrontTakesTheLargePlace() {
        const auto window = makeWindow(tests::smallRace(60));
        QVERIFY(QTest::qWaitForWindowActive(window.get()));
        QTest::keyClick(window->board(), Qt::Key_P);
        QVERIFY(window->board()->isParetoShown());
        QVERIFY(plotOf(*window, "pareto-by-bytes")->isVisible());
        QVERIFY(!plotOf(*window, "perplexity")->isVisible());
        QCOMPARE(window->board()->currentChart()->objectName(), QStringLiteral("pareto-chart"));
        QTest::keyClick(window->board(), Qt::Key_P);
        QVERIFY(plotOf(*window, "perplexity")->isVisible());
    }

    void everyPictureWhileARunGoesOn() {
        const QTemporaryDir folder;
        const auto window = makeWindow(tests::smallRace());
        QVERIFY(QTest::qWaitForWindowActive(window.get()));
        window->startOrResume();
        const auto step = [&] { return window->runs()->list()[0].series->numbers().step; };
        QTRY_VERIFY(step() > 20);
        int filter = 0;
        for (const char* name : {"chart.png", "chart.svg", "chart.pdf"}) {
            const std::uint64_t before = step();
            QTest::keyClick(window->board(), Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
            QTRY_VERIFY(step() > before); // the dialog holds nothing up
            const QString path = folder.filePath(QString::fromLatin1(name));
            QVERIFY(chooseFile(*window, path, filter++));
            QTRY_VERIFY2(QFile::exists(path),
                         (path + window->banner()->messages().join(QLatin1Char(' '))).toUtf8());
            QTRY_VERIFY(window->findChild<QFileDialog*>() == nullptr);
            window->activateWindow();
            QVERIFY(QTest::qWaitForWindowActive(window.get()));
        }
        QCOMPARE(window->banner()->messages(), QStringList());
        QVERIFY(!QImage(folder.filePath(QStringLiteral("chart.png"))).isNull());
        QVERIFY(window->session()->state() == RunState::Running);
        QTest::keyClick(window->board(), Qt::Key_C, Qt::ControlModifier | Qt::AltModifier);
        QVERIFY(QApplication::clipboard()->mimeData()->hasImage());
    }

    void whatCannotBeWrittenIsABanner() {
        const auto window = makeWindow(tests::smallRace(10));
        QVERIFY(QTest::qWaitForWindowActive(window.get()));
        const QTemporaryDir folder;
        QTest::keyClick(window->board(), Qt::Key_D, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(chooseFile(*window, folder.filePath(QStringLiteral("data.csv"))));
        QTRY_COMPARE(window->banner()->messages().size(), 1); // no run yet
        QVERIFY(!QFile::exists(folder.filePath(QStringLiteral("data.csv"))));
        QTRY_VERIFY(window->findChild<QFileDialog*>() == nullptr);
        window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(window.get()));
        QTest::keyClick(window->board(), Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(chooseFile(*window, folder.filePath(QStringLiteral("chart.bmp"))));
        QTRY_COMPARE(window->banner()->messages().size(), 2);
        QVERIFY(!QFile::exists(folder.filePath(QStringLiteral("chart.bmp"))));
    }

    /// Kept or not, every step of every shown run is a row.
    void everyRecordIsSaved() {
        const QTemporaryDir folder;
        for (const bool kept : {false, true}) {
            const auto window = makeWindow(
                tests::smallRace(40), kept ? folder.filePath(QStringLiteral("run")) : QString());
            QVERIFY(QTest::qWaitForWindowActive(window.get()));
            window->startOrResume();
            QTRY_VERIFY(window->session()->state() == RunState::Finished);
            const QString path =
                folder.filePath(kept ? QStringLiteral("kept.csv") : QStringLiteral("not-kept.csv"));
            QTest::keyClick(window->board(), Qt::Key_D, Qt::ControlModifier | Qt::ShiftModifier);
            QVERIFY(chooseFile(*window, path));
            QTRY_VERIFY(QFile::exists(path));
            QFile file(path);
            QVERIFY(file.open(QIODevice::ReadOnly));
            int steps = 0;
            for (const QByteArray& line : file.readAll().split('\n')) {
                const QList<QByteArray> cells = line.split(',');
                if (cells.value(1) != "step")
                    continue;
                QCOMPARE(cells[0], steps < 40 ? QByteArray("Dense") : QByteArray("Top-k"));
                QCOMPARE(cells[2].toInt(), steps % 40 + 1);
                ++steps;
            }
            QCOMPARE(steps, 80);
            QCOMPARE(window->banner()->messages(), QStringList());
        }
    }

    void theContextMenuHasTheCommands() {
        const auto window = makeWindow(tests::smallRace(10));
        QVERIFY(QTest::qWaitForWindowActive(window.get()));
        PlotWidget* bytes = plotOf(*window, "bytes-in-total");
        const QPoint at = bytes->rect().center();
        QContextMenuEvent event(QContextMenuEvent::Keyboard, at, bytes->mapToGlobal(at));
        QCoreApplication::sendEvent(bytes, &event);
        QTRY_VERIFY(QApplication::activePopupWidget() != nullptr);
        auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
        QStringList texts;
        for (const QAction* action : menu->actions())
            texts << action->text().remove(QLatin1Char('&'));
        QVERIFY(texts.contains(QStringLiteral("Save Chart…")));
        QVERIFY(texts.contains(QStringLiteral("Save Chart's Data…")));
        QVERIFY(texts.contains(QStringLiteral("Show Everything")));
        QCOMPARE(window->board()->currentChart()->objectName(), QStringLiteral("traffic-chart"));
        menu->close();
    }

    /// No two commands want the same keys, and each says what it does.
    void commandsHaveTheirOwnKeys() {
        const auto window = makeWindow(tests::smallRace(10));
        QSet<QString> keys;
        for (const QAction* action : window->actions())
            for (const QKeySequence& key : action->shortcuts()) {
                const QString text = key.toString();
                QVERIFY2(!keys.contains(text), text.toUtf8());
                keys.insert(text);
            }
        QVERIFY(keys.contains(QStringLiteral("Ctrl+Shift+D")));
        QStringList texts;
        for (const QMenu* menu : window->menuBar()->findChildren<QMenu*>())
            for (const QAction* action : menu->actions())
                texts << action->text().remove(QLatin1Char('&'));
        for (const char* text :
             {"Pareto Front", "Logarithmic Y Axis", "More Smoothing", "Less Smoothing", "Zoom In",
              "Zoom Out", "Show Everything", "Zoom Charts Together", "Save Chart…",
              "Save Chart's Data…", "Copy Chart"})
            QVERIFY2(texts.contains(QString::fromUtf8(text)), text);
    }
};

QTEST_MAIN(TestChartCommands)
#include "test_chart_commands.moc"
