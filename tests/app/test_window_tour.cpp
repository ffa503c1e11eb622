// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A person's whole way through the window, by keys and menus, with the real engine behind it:
// start, tune, pause, look inside, switch the method, fork, compare, export, save, leave, come
// back.
#include "app/chart_board.h"
#include "app/experiment_document.h"
#include "app/experiment_panel.h"
#include "app/fork_bar.h"
#include "app/gradient_panel.h"
#include "app/main_window.h"
#include "app/memory_question.h"
#include "app/run_collection.h"
#include "app/run_panel.h"
#include "app/tuning_bar.h"
#include "engine/metrics/run_log.h"
#include "engine/training/experiment_schema.h"
#include "tests/support/small_run.h"
#include "tests/support/window_settings.h"
#include "widgets/experiment_form.h"
#include "widgets/field_editor.h"
#include "widgets/gradient_inspector.h"
#include "widgets/histogram_plot.h"
#include "widgets/message_banner.h"
#include "widgets/plot_widget.h"
#include "widgets/run_table_model.h"

#include <QAbstractItemView>
#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QImage>
#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QXmlStreamReader>

#include <map>

using namespace gradlab;
using engine::RunState;

namespace {

constexpr std::int64_t kSteps = 4000;
constexpr int kLongMs = 60000; ///< for a run to end under a sanitizer

/// Dense and top-k, kept in a folder, with checkpoints on the way.
std::vector<engine::Experiment> race() {
    std::vector<engine::Experiment> race = tests::smallRace(kSteps);
    for (engine::Experiment& experiment : race) {
        experiment.training.checkpointEvery = 1000;
        experiment.training.evalEvery = 500;
    }
    tests::setCompression(race[1], "topk", "residual");
    return race;
}

QByteArray contentOf(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

int elementsOf(const QByteArray& xml, const QString& name) {
    QXmlStreamReader reader(xml);
    int count = 0;
    while (!reader.atEnd())
        if (reader.readNext() == QXmlStreamReader::StartElement && reader.name() == name)
            ++count;
    return reader.hasError() ? -1 : count;
}

} // namespace

class TestWindowTour : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    std::unique_ptr<app::MainWindow> window_;

    [[nodiscard]] QString at(const char* name) const {
        return folder_.filePath(QString::fromLatin1(name));
    }
    void open(const QString& out = {}) {
        app::WindowOptions options;
        options.experiments = race();
        options.experimentFile = at("race.json").toStdString();
        options.out = out.toStdString();
        window_ = std::make_unique<app::MainWindow>(
            app::WindowServices{tests::threadTransports(), tests::loadSmallCorpus}, options);
        window_->resize(1280, 800);
        window_->show();
    }
    [[nodiscard]] QAction* action(const char* text) const {
        for (QAction* action : window_->findChildren<QAction*>())
            if (action->text().remove(QChar(u'&')) == QString::fromUtf8(text))
                return action;
        return nullptr;
    }
    void press(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
        QTest::keyClick(window_->board(), key, modifiers);
    }
    [[nodiscard]] std::uint64_t step(std::size_t run) const {
        return window_->runs()->list()[run].series->numbers().step;
    }
    [[nodiscard]] const engine::Experiment& current(std::size_t run) const {
        return window_->runs()->find(window_->runs()->list()[run].id)->current;
    }
    /// Under test there is no window manager that does it.
    [[nodiscard]] bool activate() const {
        if (!QTest::qWaitForWindowExposed(window_.get()))
            return false;
        window_->activateWindow();
        return QTest::qWaitForWindowActive(window_.get());
    }
    /// Types into a knob.
    static void type(widgets::FieldEditor* editor, const char* text) {
        auto* line = editor->findChild<QLineEdit*>();
        line->setFocus();
        line->selectAll();
        QTest::keyClicks(line, QString::fromLatin1(text));
        QTest::keyClick(line, Qt::Key_Return);
    }
    static void choose(widgets::FieldEditor* editor, const char* text) {
        auto* box = editor->findChild<QComboBox*>();
        box->setCurrentText(QString::fromLatin1(text));
        Q_EMIT box->activated(box->currentIndex());
    }
    /// Answers the file dialog that a command opened.
    [[nodiscard]] bool answer(const QString& path, int filter = 0) const {
        auto* dialog = window_->findChild<QFileDialog*>();
        if (dialog == nullptr)
            return false;
        dialog->selectNameFilter(dialog->nameFilters().at(filter));
        dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"))->setText(path);
        QMetaObject::invokeMethod(dialog, "accept");
        const auto closed = [&] { return window_->findChild<QFileDialog*>() == nullptr; };
        if (!QTest::qWaitFor([&] { return QFile::exists(path); }) || !QTest::qWaitFor(closed))
            return false;
        return activate();
    }

    void startAndTune();
    void pauseAndLookInside();
    void switchMethod();
    void fork();
    void compare();
    void exportEverything();
    void saveAndLeave();
    void comeBack();

private Q_SLOTS:
    void initTestCase() {
        tests::prepareWindowTests();
        QApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
        QSettings().clear();
        QFile file(at("race.json"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QByteArray::fromStdString(engine::raceToJson(race())));
    }
    void cleanup() { QCOMPARE(tests::QtWarnings::take(), QByteArray()); }

    void noTwoCommandsShareAKey() {
        open();
        std::map<QString, QAction*> keys;
        for (QAction* action : window_->findChildren<QAction*>())
            for (const QKeySequence& key : action->shortcuts()) {
                const auto [other, fresh] = keys.emplace(key.toString(), action);
                QVERIFY2(
                    fresh || other->second == action,
                    qPrintable(QStringLiteral("%1: %2, %3")
                                   .arg(key.toString(), action->text(), other->second->text())));
            }
        QVERIFY(keys.size() > 20);
        window_.reset();
    }

    void tour() {
        using Part = void (TestWindowTour::*)();
        open(at("run"));
        QVERIFY(activate());
        for (const Part part : {&TestWindowTour::startAndTune, &TestWindowTour::pauseAndLookInside,
                                &TestWindowTour::switchMethod, &TestWindowTour::fork,
                                &TestWindowTour::compare, &TestWindowTour::exportEverything,
                                &TestWindowTour::saveAndLeave, &TestWindowTour::comeBack}) {
            (this->*part)();
            if (QTest::currentTestFailed())
                return;
            QCOMPARE(window_->banner()->messages(), QStringList());
        }
        window_.reset();
    }
};

void TestWindowTour::startAndTune() {
    press(Qt::Key_F5);
    QTRY_VERIFY(window_->session()->state() == RunState::Running);
    QTRY_VERIFY(step(1) > 20);
    press(Qt::Key_K, Qt::ControlModifier);
    QVERIFY(window_->tuning()->isVisible());
    window_->tuning()->chooseTarget(window_->runs()->list()[1].id);
    const auto ratio = [&] {
        return std::get<double>(engine::getField(current(1), "compression.ratio"));
    };
    const double before = ratio();
    type(window_->tuning()->editor(QStringLiteral("compression.ratio")), "0.05");
    QTRY_COMPARE(ratio(), 0.05);
    press(Qt::Key_Z, Qt::ControlModifier);
    QTRY_COMPARE(ratio(), before);
    press(Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_COMPARE(ratio(), 0.05);
    // Each of them is a change of its own.
    QTRY_COMPARE(window_->runs()->list()[1].series->changes().size(), std::size_t{3});
    QVERIFY(window_->runs()->list()[0].series->changes().empty());
}

void TestWindowTour::pauseAndLookInside() {
    press(Qt::Key_Space);
    QTRY_VERIFY(window_->session()->state() == RunState::Paused);
    press(Qt::Key_G, Qt::ControlModifier);
    widgets::GradientInspector* inspector = window_->gradient()->inspector();
    QVERIFY(inspector->isVisible());
    inspector->chooseRun(window_->runs()->list()[1].id);
    // The run's own count: records of the latest steps may still be on their way here.
    const std::uint64_t before = window_->session()->progress().members[1].step;
    press(Qt::Key_F10);
    QTRY_VERIFY(!inspector->histogram()->data().bars.empty());
    QTRY_COMPARE(step(1), before + 1);
    QVERIFY(inspector->histogram()->data().line.has_value()); // the threshold
    QVERIFY(inspector->sentence().contains(QStringLiteral("of the energy")));
    QTRY_VERIFY(window_->session()->state() == RunState::Paused);
    press(Qt::Key_G, Qt::ControlModifier);
    QVERIFY(!inspector->isVisible());
}

void TestWindowTour::switchMethod() {
    choose(window_->tuning()->editor(QStringLiteral("compression.method")), "randomk");
    QVERIFY(window_->question()->isVisible()); // what becomes of what waits
    QTest::mouseClick(window_->question()->button(engine::MemoryChange::Flush), Qt::LeftButton);
    press(Qt::Key_F10);
    QTRY_COMPARE(current(1).compression.method, std::string("randomk"));
    QCOMPARE(current(0).compression.method, std::string("none"));
    QTRY_COMPARE(window_->runs()->list()[1].series->changes().size(), std::size_t{4});
    press(Qt::Key_Space);
    QTRY_VERIFY_WITH_TIMEOUT(window_->session()->state() == RunState::Finished, kLongMs);
    QCOMPARE(step(0), static_cast<std::uint64_t>(kSteps));
    QCOMPARE(step(1), static_cast<std::uint64_t>(kSteps));
}

void TestWindowTour::fork() {
    window_->table()->table()->selectRow(1);
    press(Qt::Key_R, Qt::ControlModifier | Qt::ShiftModifier);
    const app::ForkBar* bar = window_->panel()->forkBar();
    QVERIFY(bar->isVisible());
    bar->steps()->setCurrentIndex(bar->steps()->count() - 2); // at 3000
    QCOMPARE(window_->panel()->experiments().size(), std::size_t{1});
    Q_EMIT window_->panel()->form()->editor(QStringLiteral("training.lr"))->edited(0.5);
    press(Qt::Key_F5);
    QTRY_COMPARE(window_->runs()->list().size(), std::size_t{3});
    QTRY_VERIFY_WITH_TIMEOUT(window_->session()->state() == RunState::Finished, kLongMs);
    const widgets::RunSeries& forked = *window_->runs()->list()[2].series;
    QCOMPARE(forked.begin()[static_cast<std::size_t>(widgets::XAxis::Step)], 3001.0);
    QCOMPARE(forked.numbers().step, static_cast<std::uint64_t>(kSteps));
}

void TestWindowTour::compare() {
    window_->table()->table()->selectRow(0);
    window_->table()->actions().pin->trigger();
    const widgets::RunTableModel* model = window_->table()->model();
    for (const int row : {1, 2}) {
        const QString cell =
            model->index(row, widgets::RunTableModel::ValidPerplexity).data().toString();
        QVERIFY2(cell.contains(QChar(u'▲')) || cell.contains(QChar(u'▼')), qPrintable(cell));
        const QString settings =
            model->index(row, widgets::RunTableModel::Settings).data().toString();
        QVERIFY2(settings.contains(QStringLiteral("randomk")), qPrintable(settings));
    }
    press(Qt::Key_X);
    QCOMPARE(window_->board()->xAxis(), widgets::XAxis::Bytes);
    window_->board()->refreshAll();
    QCOMPARE(window_->board()->charts().front()->plots().front()->layoutNow().lineLabels.size(),
             std::size_t{3});
}

void TestWindowTour::exportEverything() {
    const char* const pictures[] = {"chart.png", "chart.svg", "chart.pdf"};
    for (int filter = 0; filter < 3; ++filter) {
        press(Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY2(answer(at(pictures[filter]), filter), pictures[filter]);
    }
    QVERIFY(QImage(at("chart.png")).width() > 400);
    QTRY_VERIFY(elementsOf(contentOf(at("chart.svg")), QStringLiteral("polyline")) >= 3);
    for (const widgets::RunInfo& run : window_->runs()->list())
        QVERIFY(contentOf(at("chart.svg")).contains(run.name.toUtf8()));
    QTRY_VERIFY(contentOf(at("chart.pdf")).startsWith("%PDF"));

    qsizetype rows = 0;
    for (const widgets::RunInfo& run : window_->runs()->list())
        for (const engine::Record& record : engine::readRunLog(window_->runs()->find(run.id)->log))
            rows += std::holds_alternative<engine::StepRecord>(record) ||
                    std::holds_alternative<engine::EvalRecord>(record) ||
                    std::holds_alternative<engine::EventRecord>(record);
    const char* const tables[] = {"data.csv", "sheet.csv"};
    for (int filter = 0; filter < 2; ++filter) {
        press(Qt::Key_D, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(answer(at(tables[filter]), filter));
        QTRY_COMPARE(contentOf(at(tables[filter])).trimmed().count('\n'), rows);
    }

    press(Qt::Key_E, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(answer(at("report.html")));
    QTRY_VERIFY(contentOf(at("report.html")).trimmed().endsWith("</html>"));
    const QByteArray report = contentOf(at("report.html"));
    QVERIFY(report.contains("<svg"));
    for (const widgets::RunInfo& run : window_->runs()->list())
        QVERIFY(report.contains(run.name.toHtmlEscaped().toUtf8()));

    window_->table()->table()->selectAll();
    window_->table()->actions().copyMarkdown->trigger();
    QCOMPARE(QApplication::clipboard()->text().trimmed().count(QChar(u'\n')), 4);
}

void TestWindowTour::saveAndLeave() {
    QVERIFY(window_->document()->isModified()); // the fork's experiment is in the form
    QVERIFY(action("Save Experiment As…") != nullptr);
    press(Qt::Key_S, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(answer(at("forked.json")));
    QTRY_VERIFY(!window_->document()->isModified());
    const auto saved = engine::readExperiments(at("forked.json").toStdString());
    QCOMPARE(saved.size(), std::size_t{1});
    QCOMPARE(saved.front().training.lr, 0.5);
    QVERIFY(window_->close()); // nothing is on, nothing is unsaved: no question
    QVERIFY(!window_->isVisible());
}

void TestWindowTour::comeBack() {
    open();
    QVERIFY(activate());
    QVERIFY(window_->runs()->isEmpty());
    press(Qt::Key_O, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(window_->runs()->list().size(), std::size_t{2}); // the fork was not kept
    QCOMPARE(step(1), static_cast<std::uint64_t>(kSteps));
    QCOMPARE(window_->runs()->list()[1].series->changes().size(), std::size_t{4});
    QCOMPARE(window_->panel()->experiments().front().training.lr, 0.5);
    QCOMPARE(window_->document()->path(), at("forked.json"));
    QVERIFY(!window_->document()->isModified());
}

QTEST_MAIN(TestWindowTour)
#include "test_window_tour.moc"
