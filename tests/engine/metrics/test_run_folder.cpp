// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Run folders: made only when a run starts, never over another, resumed where a checkpoint is.
#include "engine/core/errors.h"
#include "engine/metrics/run_folder.h"
#include "engine/training/experiment_schema.h"
#include "tests/support/sample_records.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <fstream>

using namespace gradlab::engine;
using namespace gradlab::tests;

namespace {

std::filesystem::path inside(const QTemporaryDir& folder, const char* name) {
    return std::filesystem::path(folder.path().toStdString()) / name;
}

void touch(const std::filesystem::path& path) {
    std::ofstream(path) << "x";
}

void writeRun(RunFolder& folder, std::uint64_t first, std::uint64_t last) {
    folder.record(sampleStart());
    for (std::uint64_t i = first; i <= last; ++i)
        folder.record(sampleStep(i));
    folder.record(sampleEnd(last));
}

} // namespace

class TestRunFolder : public QObject {
    Q_OBJECT

private slots:
    void holdsWhatTheContractLists() {
        const QTemporaryDir base;
        const auto path = inside(base, "a/b/run");
        const auto folders = newRunFolders(path, {defaultExperiment()});
        QCOMPARE(folders.size(), std::size_t{1});
        QVERIFY(!std::filesystem::exists(inside(base, "a"))); // nothing before the start
        QVERIFY(!folders.front()->isOpen());
        writeRun(*folders.front(), 1, 3);
        QVERIFY(folders.front()->isOpen());
        QVERIFY(std::filesystem::is_directory(path / "checkpoints"));
        QCOMPARE(QString::fromStdString(toJson(readExperiments(path / "experiment.json").front())),
                 QString::fromStdString(toJson(defaultExperiment())));
        QCOMPARE(readRunLog(path / "metrics.jsonl").size(), std::size_t{5});
        std::ifstream file(path / "summary.json");
        const auto summary = nlohmann::json::parse(file);
        QCOMPARE(QString::fromStdString(summary.at("reason").get<std::string>()),
                 QString("completed"));
        QCOMPARE(summary.at("compression_ratio").get<double>(), 68.0);
        QCOMPARE(summary.at("compression_ratio_16bit").get<double>(), 34.0);
        QCOMPARE(summary.at("compression_ratio_paper").get<double>(), 34.0);
        QVERIFY(summary.at("totals").at("simulated_s").get<double>() == awkward(14));
        QCOMPARE(summary.at("target").at("steps").get<int>(), 40);
        QVERIFY(summary.at("experiment").is_object());
        QCOMPARE(QDir(QString::fromStdString(path.string()))
                     .entryList({"events.out.tfevents.*"}, QDir::Files)
                     .size(),
                 1);
    }

    void usedFolderIsRefusedUntouched() {
        const QTemporaryDir base;
        touch(inside(base, "precious"));
        try {
            (void)newRunFolders(base.path().toStdString(), {defaultExperiment()});
            QFAIL("accepted");
        } catch (const ExperimentError& error) {
            QVERIFY2(QString(error.what()).contains("--out"), error.what());
        }
        QCOMPARE(QDir(base.path()).entryList(QDir::NoDotAndDotDot | QDir::AllEntries).size(), 1);
        QVERIFY_EXCEPTION_THROWN(
            (void)newRunFolders(inside(base, "precious"), {defaultExperiment()}), ExperimentError);
        QVERIFY_EXCEPTION_THROWN(
            (void)newRunFolders(inside(base, "precious/below"), {defaultExperiment()}),
            ExperimentError);
        QVERIFY_EXCEPTION_THROWN((void)newRunFolders("", {defaultExperiment()}), ExperimentError);
    }

    void folderThatCannotBeMadeIsRefused() {
        // Root may "write" /proc, but nothing can be made there.
        const auto start = [] {
            newRunFolders("/proc/run", {defaultExperiment()}).front()->record(sampleStart());
        };
        QVERIFY_EXCEPTION_THROWN(start(), ExperimentError);
    }

    void emptyFolderIsFine() {
        const QTemporaryDir base;
        const auto folders = newRunFolders(base.path().toStdString(), {defaultExperiment()});
        writeRun(*folders.front(), 1, 1);
        QVERIFY(std::filesystem::exists(inside(base, "metrics.jsonl")));
    }

    void folderTakenMeanwhileIsRefused() {
        const QTemporaryDir base;
        const auto folders = newRunFolders(base.path().toStdString(), {defaultExperiment()});
        touch(inside(base, "precious"));
        QVERIFY_EXCEPTION_THROWN(folders.front()->record(sampleStart()), ExperimentError);
        QVERIFY(!std::filesystem::exists(inside(base, "metrics.jsonl")));
    }

    void raceHasAFolderEach() {
        const QTemporaryDir base;
        std::vector<Experiment> race(3, defaultExperiment());
        race[0].name = "Dense";
        race[1].compression.method = "topk";
        race[2].name = "../../ä/..";
        const auto path = inside(base, "race");
        const auto folders = newRunFolders(path, race);
        for (const auto& folder : folders)
            writeRun(*folder, 1, 2);
        QCOMPARE(QString::fromStdString(folders[0]->path().filename().string()),
                 QString("1-dense"));
        QCOMPARE(QString::fromStdString(folders[1]->path().filename().string()),
                 QString("2-top-k-1"));
        QVERIFY(folders[2]->path().parent_path() == path); // a name cannot leave the folder
        QCOMPARE(readExperiments(path / "experiment.json").size(), std::size_t{3});
        QCOMPARE(readExperiments(folders[1]->path() / "experiment.json").size(), std::size_t{1});
    }

    void resumesAtTheLatestCheckpoint() {
        const QTemporaryDir base;
        const auto path = inside(base, "run");
        writeRun(*newRunFolders(path, {defaultExperiment()}).front(), 1, 30);
        QVERIFY_EXCEPTION_THROWN((void)findResumePoints(path), DataError);
        for (const char* name : {"step-9.safetensors", "step-10.safetensors", "step-x.safetensors",
                                 "step-99.safetensors.tmp", "best.safetensors"})
            touch(path / "checkpoints" / name);
        const auto points = findResumePoints(path);
        QCOMPARE(points.size(), std::size_t{1});
        QVERIFY(points.front().checkpoint == path / "checkpoints" / "step-10.safetensors");
        RunFolder folder(points.front().folder, 10);
        QCOMPARE(readRunLog(path / "metrics.jsonl").size(), std::size_t{32}); // not yet cut
        writeRun(folder, 11, 12);
        const auto records = readRunLog(path / "metrics.jsonl");
        QCOMPARE(records.size(), std::size_t{1 + 12 + 1});
        for (std::size_t i = 1; i <= 12; ++i)
            QCOMPARE(std::get<StepRecord>(records[i]).step, std::uint64_t{i});
        QCOMPARE(QDir(QString::fromStdString(path.string()))
                     .entryList({"events.out.tfevents.*"}, QDir::Files)
                     .size(),
                 2);
        QVERIFY_EXCEPTION_THROWN((void)findResumePoints(base.path().toStdString()), DataError);
    }
};

QTEST_GUILESS_MAIN(TestRunFolder)
#include "test_run_folder.moc"
