// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/qt_warnings.h"
#include "tests/widgets/synthetic_runs.h"
#include "widgets/run_table_model.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QSortFilterProxyModel>
#include <QTest>

using namespace gradlab::widgets;
using gradlab::tests::QtWarnings;
using gradlab::tests::SyntheticRace;

class TestRunTableModel : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QtWarnings::install(); }
    void cleanup();
    void obeysTheModelRules();
    void refreshTellsOnlyWhatChanged();
    void sortsByNumber();
    void checkBoxHidesARun();
    void renames();
    void newRunsKeepTheRows();
    void copiesAllDigits();
    void copiesNoFormulas();
};

void TestRunTableModel::cleanup() {
    const QByteArray warnings = QtWarnings::take();
    QVERIFY2(warnings.isEmpty(), warnings);
}

void TestRunTableModel::obeysTheModelRules() {
    RunTableModel model;
    const QAbstractItemModelTester tester(&model,
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    SyntheticRace race(3);
    model.setRuns(race.runs());
    race.advance(100);
    model.refresh();
    RunList fewer = race.runs();
    fewer.erase(fewer.begin());
    model.setRuns(fewer);
    QCOMPARE(model.rowCount(), 2);
    model.setRuns(race.runs());
    model.setRuns({});
    QCOMPARE(model.rowCount(), 0);
}

void TestRunTableModel::refreshTellsOnlyWhatChanged() {
    SyntheticRace race(3);
    race.advance(10);
    RunTableModel model;
    model.setRuns(race.runs());
    QSignalSpy changed(&model, &RunTableModel::dataChanged);
    model.refresh();
    QCOMPARE(changed.count(), 0);
    race.change(1, "training.lr", "20", "5");
    model.refresh();
    QCOMPARE(changed.count(), 1);
    QCOMPARE(changed[0][0].toModelIndex().row(), 1);
    QCOMPARE(changed[0][1].toModelIndex().row(), 1);
}

void TestRunTableModel::sortsByNumber() {
    SyntheticRace race(3);
    race.advance(100);
    RunTableModel model;
    model.setRuns(race.runs());
    QSortFilterProxyModel sorted;
    sorted.setSourceModel(&model);
    sorted.setSortRole(RunTableModel::kSortRole);
    sorted.sort(RunTableModel::BytesPerStep, Qt::AscendingOrder);
    QCOMPARE(sorted.index(0, 0).data().toString(), QStringLiteral("random-k 1 %"));
    QCOMPARE(sorted.index(2, 0).data().toString(), QStringLiteral("dense"));
}

void TestRunTableModel::checkBoxHidesARun() {
    const SyntheticRace race(2);
    RunTableModel model;
    model.setRuns(race.runs());
    QSignalSpy visibility(&model, &RunTableModel::visibilityChanged);
    QVERIFY(model.setData(model.index(1, RunTableModel::Name), Qt::Unchecked, Qt::CheckStateRole));
    QCOMPARE(visibility.count(), 1);
    QCOMPARE(visibility[0][0].toInt(), 2);
    QCOMPARE(visibility[0][1].toBool(), false);
    QVERIFY(!model.runs()[1].visible);
    QVERIFY(!model.setData(model.index(1, RunTableModel::Step), 3, Qt::EditRole));
}

void TestRunTableModel::renames() {
    const SyntheticRace race(1);
    RunTableModel model;
    model.setRuns(race.runs());
    QSignalSpy renamed(&model, &RunTableModel::renamed);
    const QModelIndex name = model.index(0, RunTableModel::Name);
    QVERIFY(!model.setData(name, QStringLiteral("  "), Qt::EditRole));
    QVERIFY(model.setData(name, QStringLiteral(" baseline "), Qt::EditRole));
    QCOMPARE(renamed[0][1].toString(), QStringLiteral("baseline"));
    QCOMPARE(name.data().toString(), QStringLiteral("baseline"));
}

void TestRunTableModel::newRunsKeepTheRows() {
    const SyntheticRace race(3);
    RunTableModel model;
    RunList two = race.runs();
    two.pop_back();
    model.setRuns(two);
    const QPersistentModelIndex second = model.index(1, 0);
    QSignalSpy reset(&model, &RunTableModel::modelReset);
    model.setRuns(race.runs());
    QCOMPARE(reset.count(), 0);
    QVERIFY(second.isValid() && second.data(RunTableModel::kRunIdRole).toInt() == 2);
    QCOMPARE(model.rowCount(), 3);
}

void TestRunTableModel::copiesAllDigits() {
    SyntheticRace race(2);
    race.advance(100);
    RunTableModel model;
    model.setRuns(race.runs());
    const QStringList lines = model.toTsv().split(QChar(u'\n'), Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), 3);
    for (const QString& line : lines)
        QCOMPARE(line.count(QChar(u'\t')), RunTableModel::ColumnCount - 1);
    const QString valid = lines[2].split(QChar(u'\t'))[RunTableModel::ValidPerplexity];
    QVERIFY(valid.toDouble() == *race.series(1).numbers().validPerplexity);
    QCOMPARE(model.toTsv({model.index(1, 0)}).count(QChar(u'\n')), 2);
}

void TestRunTableModel::copiesNoFormulas() {
    const SyntheticRace race(1);
    RunList runs = race.runs();
    runs[0].name = QStringLiteral("=cmd\t\n");
    RunTableModel model;
    model.setRuns(runs);
    const QString row = model.toTsv().section(QChar(u'\n'), 1, 1);
    QVERIFY(row.startsWith(QStringLiteral("'=cmd")));
    QCOMPARE(row.count(QChar(u'\t')), RunTableModel::ColumnCount - 1);
}

QTEST_MAIN(TestRunTableModel)
#include "test_run_table_model.moc"
