// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The panel of runs by itself: filter, columns, baseline, colour, note, copies, what is kept.
#include "app/run_collection.h"
#include "app/run_panel.h"
#include "engine/training/experiment_schema.h"
#include "tests/support/window_settings.h"
#include "widgets/run_table_columns.h"
#include "widgets/run_table_model.h"
#include "widgets/theme.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QDoubleSpinBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QSettings>
#include <QTableView>
#include <QTest>
#include <QToolButton>

using namespace gradlab;
using widgets::RunTableModel;

namespace {

void addRun(app::RunCollection& runs, int id, const std::string& name, const std::string& method) {
    engine::Experiment experiment = engine::defaultExperiment();
    engine::setField(experiment, "compression.method", method);
    experiment.name = name;
    runs.add(id, experiment);
    std::vector<engine::Record> records;
    for (std::uint64_t step = 1; step <= 20; ++step) {
        engine::StepRecord record;
        record.step = step;
        record.loss = 4.0 - 0.01 * static_cast<double>(step) + 0.001 * id;
        record.bytesMessage = method == "none" ? 1000.0 : 10.0;
        record.bytesDense = 1000.0;
        record.bytesUp = record.bytesMessage;
        record.simulatedS = 0.1 * static_cast<double>(step);
        records.emplace_back(record);
    }
    engine::EvalRecord eval;
    eval.step = 20;
    eval.split = "valid";
    eval.perplexity = 40.0 + id;
    records.emplace_back(eval);
    runs.append(id, records);
    runs.setState(id, QStringLiteral("completed"));
}

/// Three runs and the panel that shows them.
struct Bench {
    Bench() {
        addRun(runs, 1, "Dense", "none");
        addRun(runs, 2, "Top-k", "topk");
        addRun(runs, 3, "Random", "randomk");
        panel.resize(900, 200);
        panel.show();
    }
    void select(int row) { panel.table()->selectRow(row); }
    [[nodiscard]] int rows() const { return panel.table()->model()->rowCount(); }
    [[nodiscard]] QLineEdit* filter() const {
        return panel.findChild<QLineEdit*>(QStringLiteral("runFilter"));
    }
    [[nodiscard]] QDoubleSpinBox* target() const {
        return panel.findChild<QDoubleSpinBox*>(QStringLiteral("runTarget"));
    }
    app::RunCollection runs;
    app::RunPanel panel{&runs};
};

} // namespace

class TestRunPanel : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { tests::prepareWindowTests(); }
    void cleanup() { QCOMPARE(tests::QtWarnings::take(), QByteArray()); }

    void theFilterWantsEveryWord() {
        Bench bench;
        QCOMPARE(bench.rows(), 3);
        bench.filter()->setText(QStringLiteral("TOP compl"));
        QCOMPARE(bench.rows(), 1);
        auto* count = bench.panel.findChild<QLabel*>(QStringLiteral("runCount"));
        QVERIFY(count->isVisible());
        QCOMPARE(count->text(), QStringLiteral("1 of 3"));
        bench.filter()->setText(QStringLiteral("top dense"));
        QCOMPARE(bench.rows(), 0);
        bench.runs.setNote(3, QStringLiteral("top of the list, dense forest"));
        QCOMPARE(bench.rows(), 1); // notes count, and follow
        bench.filter()->clear();
        QCOMPARE(bench.rows(), 3);
        QVERIFY(!count->isVisible());
    }

    void theBaselineIsPinnedAndOneOnly() {
        Bench bench;
        QVERIFY(!bench.panel.actions().pin->isEnabled());
        QVERIFY(bench.panel.table()->isColumnHidden(RunTableModel::Settings));
        bench.select(0);
        bench.panel.actions().pin->trigger();
        QVERIFY(bench.runs.find(1)->info.baseline);
        QVERIFY(bench.panel.actions().pin->isChecked());
        QVERIFY(!bench.panel.table()->isColumnHidden(RunTableModel::Settings));
        const QModelIndex bytes = bench.panel.model()->index(1, RunTableModel::BytesPerStep);
        QVERIFY(bytes.data().toString().contains(QStringLiteral("▼ −99.0 %")));
        bench.select(1);
        QVERIFY(!bench.panel.actions().pin->isChecked());
        bench.panel.actions().pin->trigger();
        QVERIFY(!bench.runs.find(1)->info.baseline && bench.runs.find(2)->info.baseline);
        bench.panel.actions().pin->trigger();
        QVERIFY(!bench.runs.find(2)->info.baseline);
        QVERIFY(!bytes.data().toString().contains(QChar(u'▼')));
    }

    void lossesOfTwoRunsAreCompared() {
        Bench bench;
        bench.runs.setBaseline(1);
        const QModelIndex cell = bench.panel.model()->index(2, RunTableModel::MaxLossDifference);
        QVERIFY(std::abs(cell.data(RunTableModel::kSortRole).toDouble() - 0.002) < 1e-12);
        QVERIFY(cell.data(Qt::ToolTipRole).toString().contains(QStringLiteral("20 steps")));
    }

    void aTargetShowsItsColumns() {
        Bench bench;
        QVERIFY(bench.panel.table()->isColumnHidden(RunTableModel::TargetSteps));
        bench.target()->setValue(42.5);
        const auto steps = [&](int row) {
            return bench.panel.model()->index(row, RunTableModel::TargetSteps).data().toString();
        };
        for (const int column :
             {RunTableModel::TargetSteps, RunTableModel::TargetBytes, RunTableModel::TargetTime})
            QVERIFY(!bench.panel.table()->isColumnHidden(column));
        QCOMPARE(steps(0), QStringLiteral("20")); // 41
        QCOMPARE(steps(2), QStringLiteral("–"));  // 43
    }

    void colourAndNoteAreTheRuns() {
        Bench bench;
        bench.select(1);
        const QList<QAction*> colours = bench.panel.actions().colour->actions();
        QCOMPARE(colours.size(), widgets::Theme::kRunColours);
        colours[6]->trigger();
        QCOMPARE(bench.runs.find(2)->info.colour, 6);
        QVERIFY(bench.panel.table()->isColumnHidden(RunTableModel::Note));
        bench.panel.actions().note->trigger();
        QVERIFY(!bench.panel.table()->isColumnHidden(RunTableModel::Note));
        auto* editor = bench.panel.table()->findChild<QLineEdit*>();
        QVERIFY(editor != nullptr);
        QTest::keyClicks(editor, QStringLiteral("sharp"));
        QTest::keyClick(editor, Qt::Key_Return);
        QTRY_COMPARE(bench.runs.find(2)->info.note, QStringLiteral("sharp"));
    }

    void copiesWhatIsShown() {
        Bench bench;
        bench.panel.table()->sortByColumn(RunTableModel::BytesPerStep, Qt::AscendingOrder);
        bench.filter()->setText(QStringLiteral("completed"));
        bench.panel.setColumnShown(RunTableModel::Method, false);
        bench.panel.actions().copyTsv->trigger();
        QStringList lines = QApplication::clipboard()->text().split(QLatin1Char('\n'));
        QCOMPARE(lines.size(), 5);
        QVERIFY(!lines[0].contains(QStringLiteral("Method")));
        QVERIFY(lines[3].startsWith(QStringLiteral("Dense\t"))); // as sorted
        bench.filter()->setText(QStringLiteral("Random"));
        bench.select(0);
        bench.panel.actions().copyMarkdown->trigger();
        lines = QApplication::clipboard()->text().split(QLatin1Char('\n'));
        QCOMPARE(lines.size(), 4);
        QVERIFY(lines[2].startsWith(QStringLiteral("| Random | completed |")));
    }

    void columnsAreChosenAndKept() {
        QSettings settings;
        settings.clear();
        {
            Bench bench;
            auto* menu = bench.panel.findChild<QMenu*>(QStringLiteral("runColumns"));
            QVERIFY(!menu->actions().at(RunTableModel::Name)->isEnabled());
            menu->actions().at(RunTableModel::WallTime)->trigger();
            QVERIFY(bench.panel.table()->isColumnHidden(RunTableModel::WallTime));
            bench.panel.setColumnShown(RunTableModel::Note, true);
            QVERIFY(menu->actions().at(RunTableModel::Note)->isChecked());
            QHeaderView* header = bench.panel.table()->horizontalHeader();
            header->moveSection(header->visualIndex(RunTableModel::Ratio), 1);
            bench.target()->setValue(50.0);
            bench.panel.setColumnShown(RunTableModel::TargetBytes, false);
            bench.panel.saveView(settings);
        }
        Bench bench;
        bench.panel.restoreView(settings);
        const QTableView* table = bench.panel.table();
        QVERIFY(table->isColumnHidden(RunTableModel::WallTime));
        QVERIFY(!table->isColumnHidden(RunTableModel::Note));
        QVERIFY(table->isColumnHidden(RunTableModel::TargetBytes));
        QVERIFY(!table->isColumnHidden(RunTableModel::TargetSteps));
        QCOMPARE(table->horizontalHeader()->visualIndex(RunTableModel::Ratio), 1);
        QCOMPARE(bench.target()->value(), 50.0);
        QVERIFY(!bench.panel.model()
                     ->index(0, RunTableModel::TargetSteps)
                     .data(RunTableModel::kSortRole)
                     .isNull());
        settings.clear();
    }

    void columnKeysAreUnique() {
        for (int column = 0; column < RunTableModel::ColumnCount; ++column)
            QCOMPARE(widgets::runColumnOf(QString::fromLatin1(widgets::runColumn(column).key)),
                     column);
        QCOMPARE(widgets::runColumnOf(QStringLiteral("no such column")), -1);
    }

    void everythingIsReachable() {
        const Bench bench;
        const auto widgets = bench.panel.findChildren<QWidget*>();
        int reached = 0;
        for (const QWidget* widget : widgets) {
            const bool control = qobject_cast<const QToolButton*>(widget) != nullptr ||
                                 widget == bench.filter() || widget == bench.target();
            if (!control || !widget->isVisible() ||
                widget->objectName() == QStringLiteral("qt_toolbar_ext_button") ||
                widget->parentWidget() == bench.filter())
                continue;
            QVERIFY2(widget->focusPolicy() & Qt::TabFocus, qPrintable(widget->objectName()));
            QVERIFY2(!widget->toolTip().isEmpty(), qPrintable(widget->objectName()));
            ++reached;
        }
        QVERIFY(reached >= 7);
    }

    void picture() {
        const QString folder = qEnvironmentVariable("GRADLAB_PICTURES");
        if (folder.isEmpty())
            QSKIP("GRADLAB_PICTURES is not set");
        for (const bool dark : {false, true}) {
            QApplication::setPalette(widgets::themePalette(dark));
            Bench bench;
            bench.panel.setTheme(widgets::Theme::make(dark, false));
            bench.panel.resize(1900, 200);
            bench.runs.setBaseline(1);
            bench.runs.setNote(2, QStringLiteral("keeps 1 %"));
            bench.panel.setColumnShown(RunTableModel::Note, true);
            bench.target()->setValue(42.5);
            QVERIFY(bench.panel.grab().save(
                QStringLiteral("%1/run-panel-%2.png").arg(folder, dark ? "dark" : "light")));
        }
        QApplication::setPalette(QPalette());
    }
};

QTEST_MAIN(TestRunPanel)
#include "test_run_panel.moc"
