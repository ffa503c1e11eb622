// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of logs: a row for every record, every value the log's to the last bit, the spreadsheet's
// variant, texts that would be formulas, files that appear whole.
#include "app/csv_table.h"
#include "app/scratch_log.h"
#include "engine/core/errors.h"
#include "engine/metrics/run_log.h"

#include <QFile>
#include <QStringList>
#include <QTemporaryDir>
#include <QTest>

#include <bit>
#include <cmath>
#include <limits>

using namespace gradlab;

namespace {

engine::StepRecord stepOf(std::uint64_t step) {
    engine::StepRecord record;
    record.step = step;
    record.tokens = 1120 * step;
    record.wallS = 0.1 * static_cast<double>(step);
    record.simulatedS = 1.0 / 3.0 * static_cast<double>(step);
    record.loss = 5.0 / (1.0 + static_cast<double>(step));
    record.bytesMessage = 5100.5;
    record.cpu.forward = 1e-7 * static_cast<double>(step);
    return record;
}

std::vector<QStringList> cellsOf(const QString& path, QChar separator) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return {};
    std::vector<QStringList> rows;
    for (const QString& line : QString::fromUtf8(file.readAll()).split(QStringLiteral("\r\n")))
        if (!line.isEmpty())
            rows.push_back(line.split(separator));
    return rows;
}

} // namespace

class TestCsvTable : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init();
    void everyRecordIsARow();
    void spreadsheetsGetTheirOwn();
    void textsAreQuotedAndNoFormulas();
    void notFiniteValuesSayWhatTheyAre();
    void aFailureLeavesTheOldFile();
    void aStopWritesNothing();
    void aScratchLogEndsQuietly();

private:
    [[nodiscard]] QString path(const char* name) const {
        return folder_->filePath(QString::fromLatin1(name));
    }
    [[nodiscard]] std::filesystem::path log() const { return path("metrics.jsonl").toStdString(); }

    std::unique_ptr<QTemporaryDir> folder_;
};

void TestCsvTable::init() {
    folder_ = std::make_unique<QTemporaryDir>();
}

void TestCsvTable::everyRecordIsARow() {
    std::vector<engine::StepRecord> steps;
    {
        engine::RunLog log(this->log());
        log.record(engine::StartRecord{});
        for (std::uint64_t step = 1; step <= 300; ++step) {
            steps.push_back(stepOf(step));
            log.record(steps.back());
            engine::EvalRecord eval;
            eval.step = step;
            eval.split = "valid";
            eval.perplexity = 9.25;
            if (step % 100 == 0)
                log.record(eval);
        }
        log.record(engine::EventRecord{300, "warning", "one, with a comma"});
        log.record(engine::EndRecord{});
    }
    const app::CsvResult result =
        app::writeCsv({{"first", log()}, {"again", log()}}, {"loss", "cpu.forward", "perplexity"},
                      {}, path("out.csv").toStdString());
    QCOMPARE(result.rows, std::uint64_t{2 * (300 + 3 + 1)});
    QVERIFY((result.lastSteps == std::vector<std::uint64_t>{300, 300}));
    const auto rows = cellsOf(path("out.csv"), QLatin1Char(','));
    QCOMPARE(rows.size(), std::size_t{1 + result.rows});
    QCOMPARE(rows[0].join(QLatin1Char(' ')),
             QStringLiteral("run kind step epoch tokens wall_s simulated_s bytes_total loss "
                            "cpu.forward perplexity event details"));
    std::size_t at = 0;
    double wall = 0.0;
    for (std::size_t i = 1; i <= 304; ++i) {
        if (rows[i][1] != QLatin1String("step"))
            continue;
        const engine::StepRecord& record = steps[at++];
        QCOMPARE(rows[i][0], QStringLiteral("first"));
        QCOMPARE(rows[i][2].toULongLong(), qulonglong{record.step});
        QCOMPARE(rows[i][4].toULongLong(), qulonglong{record.tokens});
        const auto same = [&](int column, double value) {
            return std::bit_cast<std::uint64_t>(rows[i][column].toDouble()) ==
                   std::bit_cast<std::uint64_t>(value);
        };
        QVERIFY(same(5, record.wallS) && same(6, record.simulatedS) && same(8, record.loss) &&
                same(9, record.cpu.forward));
        QVERIFY(same(7, 5100.5 * static_cast<double>(at)));
        QVERIFY(rows[i][5].toDouble() >= wall);
        wall = rows[i][5].toDouble();
    }
    QCOMPARE(at, std::size_t{300});
    QCOMPARE(rows[101][1], QStringLiteral("eval"));
    QCOMPARE(rows[101][10], QStringLiteral("9.25"));
    QVERIFY(rows[101][8].isEmpty());
}

void TestCsvTable::spreadsheetsGetTheirOwn() {
    {
        engine::RunLog log(this->log());
        log.record(stepOf(3));
    }
    (void)app::writeCsv({{"run", log()}}, {"loss"}, {';', ',', true},
                        path("out.csv").toStdString());
    QFile file(path("out.csv"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray text = file.readAll();
    QVERIFY(text.startsWith("\xEF\xBB\xBFrun;kind;step;"));
    QVERIFY2(text.contains("\r\nrun;step;3;0;3360;0,30000000000000004;1;5100,5;1,25;;\r\n"), text);
}

void TestCsvTable::textsAreQuotedAndNoFormulas() {
    {
        engine::RunLog log(this->log());
        log.record(engine::EventRecord{1, "warning", "he said \"no\", then left"});
    }
    (void)app::writeCsv({{"=HYPERLINK(1)", log()}}, {}, {}, path("out.csv").toStdString());
    QFile file(path("out.csv"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray text = file.readAll();
    QVERIFY2(text.contains("\r\n'=HYPERLINK(1),event,1,"), text);
    QVERIFY2(text.contains(",\"he said \"\"no\"\", then left\"\r\n"), text);
}

void TestCsvTable::notFiniteValuesSayWhatTheyAre() {
    {
        engine::RunLog log(this->log());
        engine::StepRecord record = stepOf(1);
        record.loss = std::numeric_limits<double>::quiet_NaN();
        record.gradNorm = std::numeric_limits<double>::infinity();
        log.record(record);
    }
    (void)app::writeCsv({{"run", log()}}, {"loss", "grad_norm"}, {}, path("out.csv").toStdString());
    const auto rows = cellsOf(path("out.csv"), QLatin1Char(','));
    QCOMPARE(rows[1][8], QStringLiteral("nan"));
    QCOMPARE(rows[1][9], QStringLiteral("inf"));
}

void TestCsvTable::aFailureLeavesTheOldFile() {
    QFile before(path("out.csv"));
    QVERIFY(before.open(QIODevice::WriteOnly) && before.write("mine") == 4);
    before.close();
    const auto out = path("out.csv").toStdString();
    QVERIFY_EXCEPTION_THROWN((void)app::writeCsv({{"run", log()}}, {}, {}, out), engine::DataError);
    QVERIFY(before.open(QIODevice::ReadOnly));
    QCOMPARE(before.readAll(), QByteArray("mine"));
    QVERIFY_EXCEPTION_THROWN(
        (void)app::writeCsv({}, {}, {}, path("no/such/folder/out.csv").toStdString()),
        engine::DataError);
}

void TestCsvTable::aStopWritesNothing() {
    {
        engine::RunLog log(this->log());
        log.record(stepOf(1));
    }
    std::stop_source stop;
    stop.request_stop();
    const auto out = path("out.csv").toStdString();
    QCOMPARE(app::writeCsv({{"run", log()}}, {}, {}, out, stop.get_token()).rows, std::uint64_t{0});
    QVERIFY(!QFile::exists(path("out.csv")));
}

void TestCsvTable::aScratchLogEndsQuietly() {
    {
        app::ScratchLog log(this->log(), 5);
        for (std::uint64_t step = 1; step <= 9; ++step)
            log.record(stepOf(step));
        log.record(engine::WorkerRecord{});
    }
    QCOMPARE(engine::readRunLog(log()).size(), std::size_t{5});
    app::ScratchLog nowhere(path("no/such/folder/log.jsonl").toStdString());
    nowhere.record(stepOf(1)); // a run goes on without it
    nowhere.record(stepOf(2));
    QVERIFY(!QFile::exists(path("no")));
}

QTEST_GUILESS_MAIN(TestCsvTable)
#include "test_csv_table.moc"
