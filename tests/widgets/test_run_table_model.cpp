// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/experiment_schema.h"
#include "tests/support/qt_warnings.h"
#include "tests/widgets/synthetic_runs.h"
#include "widgets/run_table_columns.h"
#include "widgets/run_table_model.h"

#include <QAbstractItemModelTester>
#include <QLocale>
#include <QSignalSpy>
#include <QSortFilterProxyModel>
#include <QTest>

#include <cmath>
#include <limits>
#include <set>

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
    void copiesMarkdown();
    void notesAreWritten();
    void baselineSetsTheOthersApart();
    void settingsThatDifferAreNamed();
    void lossesAreComparedBitForBit();
    void lossesOfAnotherBeginning();
    void targetIsTheFirstValidation();
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

void TestRunTableModel::copiesMarkdown() {
    SyntheticRace race(2);
    race.advance(100);
    RunList runs = race.runs();
    runs[0].name = QStringLiteral("a|b_c\n");
    runs[0].baseline = true;
    RunTableModel model;
    model.setRuns(runs);
    const std::vector<int> columns = {RunTableModel::BytesPerStep, RunTableModel::Name};
    const QStringList lines = model.toMarkdown({}, columns).split(QChar(u'\n'));
    QCOMPARE(lines.size(), 5); // head, rule, two runs, the last line's end
    QCOMPARE(lines[0], QStringLiteral("| Bytes/step | Run |"));
    QCOMPARE(lines[1], QStringLiteral("| ---: | --- |"));
    QVERIFY2(lines[2].endsWith(QStringLiteral("| a\\|b\\_c  |")), qPrintable(lines[2]));
    QVERIFY(lines[3].contains(QStringLiteral("▼ −98.5 %")));
    // The columns and rows that were asked for, in their order.
    const QString tsv = model.toTsv({model.index(1, 0), model.index(0, 0)}, columns);
    QVERIFY(tsv.startsWith(QStringLiteral("Bytes/step\tRun\n")));
    QVERIFY(tsv.section(QChar(u'\n'), 1, 1).endsWith(QStringLiteral("top-k 1 %")));
}

void TestRunTableModel::notesAreWritten() {
    const SyntheticRace race(1);
    RunTableModel model;
    model.setRuns(race.runs());
    QSignalSpy written(&model, &RunTableModel::noteChanged);
    const QModelIndex note = model.index(0, RunTableModel::Note);
    QVERIFY(model.flags(note).testFlag(Qt::ItemIsEditable));
    QVERIFY(!model.flags(model.index(0, RunTableModel::Method)).testFlag(Qt::ItemIsEditable));
    QVERIFY(model.setData(note, QStringLiteral(" diverges at lr 40 "), Qt::EditRole));
    QCOMPARE(written[0][1].toString(), QStringLiteral("diverges at lr 40"));
    QCOMPARE(note.data().toString(), QStringLiteral("diverges at lr 40"));
    QVERIFY(model.setData(note, QString(), Qt::EditRole)); // a note can go, a name cannot
}

void TestRunTableModel::baselineSetsTheOthersApart() {
    SyntheticRace race(3);
    race.advance(100);
    RunList runs = race.runs();
    RunTableModel model;
    model.setRuns(runs);
    const auto cell = [&](int row, int column) { return model.index(row, column); };
    QVERIFY(!cell(1, RunTableModel::Ratio).data().toString().contains(QChar(u'▲')));
    runs[0].baseline = true;
    model.setRuns(runs);
    const QModelIndex bytes = cell(1, RunTableModel::BytesPerStep);
    const QModelIndex perplexity = cell(2, RunTableModel::ValidPerplexity);
    QVERIFY(bytes.data().toString().contains(QStringLiteral("▼ −98.5 %")));
    QVERIFY(perplexity.data().toString().contains(QStringLiteral("▲ +")));
    QVERIFY(cell(1, RunTableModel::Ratio).data().toString().contains(QStringLiteral("▲ +")));
    // Better and worse, also where more is better; the arrow says which way without the colour.
    const Theme theme = Theme::make(true, false);
    model.setTheme(theme);
    QCOMPARE(bytes.data(Qt::ForegroundRole).value<QColor>(), theme.better);
    QCOMPARE(cell(1, RunTableModel::Ratio).data(Qt::ForegroundRole).value<QColor>(), theme.better);
    QCOMPARE(perplexity.data(Qt::ForegroundRole).value<QColor>(), theme.worse);
    QVERIFY(perplexity.data(Qt::ToolTipRole).toString().contains(QStringLiteral("baseline")));
    QVERIFY(cell(0, 0).data(Qt::FontRole).value<QFont>().bold());
    QVERIFY(!cell(0, RunTableModel::BytesPerStep).data(Qt::ForegroundRole).isValid());
    model.setDifferences(RunTableModel::Differences::Absolute);
    QVERIFY(bytes.data().toString().contains(QStringLiteral("▼ −33")) &&
            !bytes.data().toString().contains(QChar(u'%')));
    model.setDifferences(RunTableModel::Differences::Both);
    QVERIFY(bytes.data().toString().contains(QStringLiteral("(−98.5 %)")));
    model.setDifferences(RunTableModel::Differences::Hidden);
    QVERIFY(!bytes.data().toString().contains(QChar(u'▼')));
    QVERIFY(!bytes.data(Qt::ForegroundRole).isValid());
    // A live baseline changes what every row says.
    QSignalSpy changed(&model, &RunTableModel::dataChanged);
    race.change(0, "training.lr", "20", "5");
    model.refresh();
    QCOMPARE(changed.count(), 1);
    QCOMPARE(changed[0][1].toModelIndex().row(), 2);
}

void TestRunTableModel::settingsThatDifferAreNamed() {
    using gradlab::engine::Experiment;
    const SyntheticRace race(3);
    RunList runs = race.runs();
    Experiment base = gradlab::engine::defaultExperiment();
    Experiment other = base;
    other.training.lr = 5.0;
    gradlab::engine::setField(other, "compression.method", std::string("topk"));
    other.name = "a name is not a setting";
    runs[0].baseline = true;
    runs[0].experiment = runs[2].experiment = std::make_shared<const Experiment>(base);
    runs[1].experiment = std::make_shared<const Experiment>(other);
    RunTableModel model;
    model.setRuns(runs);
    const QModelIndex settings = model.index(1, RunTableModel::Settings);
    const QString tip = settings.data(Qt::ToolTipRole).toString();
    QVERIFY2(tip.contains(QStringLiteral("5, baseline 20")), qPrintable(tip));
    QVERIFY2(tip.contains(QStringLiteral("topk, baseline none")), qPrintable(tip));
    QVERIFY(settings.data().toString().startsWith(QStringLiteral("≠ ")));
    QVERIFY(settings.data(Qt::ForegroundRole).isValid());
    QCOMPARE(model.index(0, RunTableModel::Settings).data().toString(), QStringLiteral("baseline"));
    QCOMPARE(model.index(2, RunTableModel::Settings).data().toString(),
             QStringLiteral("as the baseline"));
    const auto found = settingDifferences(other, base);
    std::set<QString> paths;
    for (const SettingDifference& difference : found)
        paths.insert(difference.path);
    QVERIFY(paths.contains(QStringLiteral("training.lr")));
    QVERIFY(paths.contains(QStringLiteral("compression.ratio")));   // dense does not use it
    QVERIFY(!paths.contains(QStringLiteral("compression.levels"))); // neither uses it
}

void TestRunTableModel::lossesAreComparedBitForBit() {
    // More steps than a chart keeps apart: a decimated series would lose the one that differs.
    constexpr std::uint64_t kSteps = 3 * SeriesStore::kDefaultLeaves;
    RunSeries ours;
    RunSeries theirs;
    RunList runs(2);
    runs[0].id = 1;
    runs[0].baseline = true;
    runs[0].series = &ours;
    runs[1].id = 2;
    runs[1].series = &theirs;
    RunTableModel model;
    model.setRuns(runs);
    const QModelIndex cell = model.index(1, RunTableModel::MaxLossDifference);
    QVERIFY(cell.data(RunTableModel::kSortRole).isNull());
    double most = 0.0;
    for (std::uint64_t step = 1; step <= kSteps; ++step) {
        gradlab::engine::StepRecord record;
        record.step = step;
        record.loss = 6.0 / static_cast<double>(step);
        ours.append(record);
        if (step == 12345) { // one bit of the last place
            const double exact = record.loss;
            record.loss = std::nextafter(exact, 1.0);
            most = record.loss - exact;
        }
        theirs.append(record);
        if (step % 10000 == 0)
            model.refresh();
    }
    model.refresh();
    QVERIFY(most > 0.0);
    QCOMPARE(cell.data(RunTableModel::kSortRole).toDouble(), most);
    const QString tip = cell.data(Qt::ToolTipRole).toString();
    QVERIFY2(tip.contains(QLocale().toString(12345)), qPrintable(tip));
    QVERIFY(
        model.index(0, RunTableModel::MaxLossDifference).data(RunTableModel::kSortRole).isNull());
}

void TestRunTableModel::lossesOfAnotherBeginning() {
    // A fork begins later, and steps may be missing; what both have counts.
    RunSeries base;
    RunSeries fork;
    gradlab::engine::StartRecord start;
    start.forkedFrom = "base";
    start.forkedBytesMessage = 1000.0;
    start.forkedBytesDense = 4000.0;
    fork.append(start);
    gradlab::engine::StepRecord record;
    for (record.step = 1; record.step <= 20; ++record.step) {
        record.loss = static_cast<double>(record.step);
        base.append(record);
        record.loss += record.step == 15 ? 0.25 : 0.0;
        if (record.step > 10 && record.step != 12)
            fork.append(record);
    }
    QCOMPARE(fork.begin()[static_cast<std::size_t>(XAxis::Step)], 11.0); // its line begins here
    QCOMPARE(*fork.numbers().bytesTotal, 1000.0);
    QCOMPARE(fork.last(Metric::DenseBytesTotal)->value, 4000.0);
    LossDifference difference;
    difference.advance(fork, base);
    QCOMPARE(difference.steps(), std::uint64_t{9});
    QCOMPARE(difference.largest(), 0.25);
    QCOMPARE(difference.largestAt(), std::uint64_t{15});
    record.loss = std::numeric_limits<double>::quiet_NaN();
    base.append(record);
    record.loss = 1.0;
    fork.append(record);
    difference.advance(fork, base);
    QVERIFY(std::isinf(difference.largest()));
}

void TestRunTableModel::targetIsTheFirstValidation() {
    SyntheticRace race(2);
    race.advance(400);
    RunTableModel model;
    model.setRuns(race.runs());
    QVERIFY(model.index(0, RunTableModel::TargetSteps).data(RunTableModel::kSortRole).isNull());
    const SeriesStore::Result all = race.series(0).query(Metric::ValidPerplexity, {});
    const double target = 0.5 * (all.points[2].y + all.points[3].y); // between two validations
    model.setTarget(target);
    const auto number = [&](int column) {
        return model.index(0, column).data(RunTableModel::kSortRole).toDouble();
    };
    QCOMPARE(number(RunTableModel::TargetSteps), 200.0);
    const auto at = race.series(0).nearest(Metric::MessageBytesTotal, XAxis::Step, 200.0);
    QCOMPARE(number(RunTableModel::TargetBytes), at->value);
    QCOMPARE(number(RunTableModel::TargetTime),
             at->x[static_cast<std::size_t>(XAxis::SimulatedTime)]);
    model.setTarget(1.5); // nobody has got there
    QCOMPARE(model.index(0, RunTableModel::TargetTime).data().toString(), QStringLiteral("–"));
}

QTEST_MAIN(TestRunTableModel)
#include "test_run_table_model.moc"
