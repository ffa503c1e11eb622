// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Named layouts while a run goes on, a person's own, and the session that was last.
#include "app/chart_board.h"
#include "app/experiment_panel.h"
#include "app/gradient_panel.h"
#include "app/main_window.h"
#include "app/run_collection.h"
#include "app/tuning_bar.h"
#include "tests/support/small_run.h"
#include "tests/support/window_settings.h"
#include "widgets/experiment_form.h"
#include "widgets/field_editor.h"
#include "widgets/gradient_inspector.h"
#include "widgets/message_banner.h"

#include <QAction>
#include <QDockWidget>
#include <QInputDialog>
#include <QLineEdit>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

using namespace gradlab;
using engine::RunState;
using widgets::XAxis;

namespace {

const app::WindowServices& services() {
    static const app::WindowServices value{tests::threadTransports(), tests::loadSmallCorpus};
    return value;
}

app::WindowOptions person(std::vector<engine::Experiment> race = tests::smallRace()) {
    app::WindowOptions options;
    options.experiments = std::move(race);
    return options;
}

app::WindowOptions scripted() {
    app::WindowOptions options = person();
    options.quit = true;
    options.width = 1400;
    options.height = 900;
    return options;
}

bool shows(const app::MainWindow& window, const char* dock) {
    return !window.findChild<QDockWidget*>(QString::fromLatin1(dock))->isHidden(); // or behind
}

std::uint64_t stepOf(const app::MainWindow& window) {
    return window.runs()->list().front().series->numbers().step;
}

QAction* command(const app::MainWindow& window, const QString& text) {
    for (QAction* action : window.findChildren<QAction*>())
        if (action->text().remove(u'&') == text)
            return action;
    return nullptr;
}

void answer(app::MainWindow& window, const QString& name) {
    auto* dialog = window.findChild<QInputDialog*>();
    QVERIFY(dialog != nullptr && dialog->isVisible());
    dialog->setTextValue(name);
    dialog->accept();
    QTRY_VERIFY(window.findChild<QInputDialog*>() == nullptr);
}

} // namespace

class TestLayouts : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { tests::prepareWindowTests(); }
    void init() { QSettings().clear(); }
    void cleanup() {
        QCOMPARE(tests::QtWarnings::take(), QByteArray());
        QSettings().clear();
    }

    void namedLayoutsLeaveTheRunAlone() {
        app::MainWindow window(services(), scripted());
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        window.startOrResume();
        QTRY_VERIFY(window.runs()->list().size() == 2 && stepOf(window) > 3);
        const auto press = [&](Qt::Key key) {
            QTest::keyClick(&window, key, Qt::ControlModifier);
            const std::uint64_t before = stepOf(window);
            QTRY_VERIFY(stepOf(window) > before + 3);
            QVERIFY(window.session()->state() == RunState::Running);
        };
        press(Qt::Key_1);
        QVERIFY(window.isPresenting() && window.tuning()->isVisible());
        QVERIFY(!shows(window, "runsDock") && !shows(window, "gradientDock"));
        press(Qt::Key_2);
        QVERIFY(!window.isPresenting() && window.tuning()->isVisible());
        QVERIFY(shows(window, "gradientDock") && shows(window, "runsDock"));
        QVERIFY(!shows(window, "experimentDock"));
        press(Qt::Key_3);
        QVERIFY(!window.tuning()->isVisible() && window.board()->isParetoShown());
        QVERIFY(shows(window, "workersDock") && !shows(window, "gradientDock"));
        QVERIFY(window.board()->xAxis() == XAxis::SimulatedTime);
        command(window, QStringLiteral("Reset Layout"))->trigger();
        QVERIFY(!window.board()->isParetoShown() && window.board()->xAxis() == XAxis::Step);
        QVERIFY(shows(window, "runsDock") && !shows(window, "workersDock"));
        QVERIFY(window.session()->state() == RunState::Running);
        window.session()->stop();
        QTRY_VERIFY(window.session()->state() == RunState::Finished);
    }

    void aGradientIsOfARunThatHasSomethingToShow() {
        app::MainWindow window(services(), scripted());
        window.show();
        std::vector<engine::Experiment> race = tests::smallRace();
        race.push_back(tests::smallExperiment("Quantised"));
        race.back().compression.method = "qsgd";
        for (int run = 0; run < 3; ++run)
            window.runs()->add(run + 1, race[static_cast<std::size_t>(run)]);
        widgets::GradientInspector* inspector = window.gradient()->inspector();
        inspector->chooseRun(1);
        window.showGradient(QStringLiteral("map"));
        QCOMPARE(inspector->run(), 2);
        window.showGradient(QStringLiteral("levels"));
        QCOMPARE(inspector->run(), 3);
        window.showGradient(QStringLiteral("overlap")); // it compresses: it stays
        QCOMPARE(inspector->run(), 3);
    }

    void aLayoutOfOnesOwn() {
        {
            app::MainWindow window(services(), person());
            window.show();
            QVERIFY(QTest::qWaitForWindowActive(&window));
            window.showGradient(QStringLiteral("map"));
            window.board()->setXAxis(XAxis::Bytes);
            window.setTuningShown(true);
            command(window, QStringLiteral("Save Layout As…"))->trigger();
            answer(window, QStringLiteral(" Mine & yours/1 "));
            command(window, QStringLiteral("Reset Layout"))->trigger();
            QVERIFY(!shows(window, "gradientDock") && !window.tuning()->isVisible());
            command(window, QStringLiteral("Save Layout As…"))->trigger();
            answer(window, QStringLiteral("TUNE")); // the program's
            QCOMPARE(window.banner()->messages().size(), 1);
        }
        app::MainWindow window(services(), person());
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        QVERIFY(window.layoutNames().contains(QStringLiteral("Mine & yours/1")));
        QTest::keyClick(&window, Qt::Key_4, Qt::ControlModifier);
        QVERIFY(shows(window, "gradientDock") && window.tuning()->isVisible());
        QVERIFY(window.board()->xAxis() == XAxis::Bytes);
        QVERIFY(!window.applyNamedLayout(QStringLiteral("nobody's")));
        QVERIFY(window.applyNamedLayout(QStringLiteral("mine & YOURS/1")));
        for (QAction* action : window.findChildren<QAction*>())
            if (action->statusTip() == QStringLiteral("Forget the layout Mine & yours/1"))
                action->trigger();
        QVERIFY(!window.layoutNames().contains(QStringLiteral("Mine & yours/1")));
        QVERIFY(!window.applyNamedLayout(QStringLiteral("Mine & yours/1")));
    }

    void theLastSessionComesBackWhenAskedFor() {
        const QTemporaryDir folder;
        const QString out = folder.filePath(QStringLiteral("run"));
        {
            app::WindowOptions recorded = person({tests::smallExperiment("Kept", 12)});
            recorded.out = out.toStdString();
            app::MainWindow window(services(), recorded);
            window.show();
            window.startOrResume();
            QTRY_VERIFY(window.session()->state() == RunState::Finished);
            auto* lr = window.panel()->form()->editor(QStringLiteral("training.lr"));
            Q_EMIT lr->edited(0.125);
            QVERIFY(window.applyNamedLayout(QStringLiteral("network")));
            QVERIFY(window.close());
        }
        {
            app::MainWindow idle(services(), person()); // nothing happens in it
            idle.show();
            QVERIFY(idle.close());
        }
        app::MainWindow window(services(), person());
        window.show();
        QVERIFY(window.runs()->isEmpty());
        command(window, QStringLiteral("Reopen Last Session"))->trigger();
        QCOMPARE(window.banner()->messages(), QStringList());
        QCOMPARE(window.runs()->list().size(), std::size_t{1});
        QCOMPARE(window.runs()->list()[0].name, QStringLiteral("Kept"));
        QCOMPARE(stepOf(window), std::uint64_t{12});
        QCOMPARE(window.panel()->experiments().front().training.lr, 0.125);
        QVERIFY(window.board()->isParetoShown());
        QVERIFY(window.board()->xAxis() == XAxis::SimulatedTime);
    }
};

QTEST_MAIN(TestLayouts)
#include "test_layouts.moc"
