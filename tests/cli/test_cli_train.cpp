// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// gradlab-cli train from outside: folders, logs, races, Ctrl-C, resuming.
#include "engine/core/safetensors.h"
#include "engine/metrics/run_log.h"
#include "engine/training/experiment_schema.h"
#include "tests/support/cli_process.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <csignal>
#include <map>

using namespace gradlab;
using namespace gradlab::tests;

namespace {

std::vector<engine::StepRecord> stepsOf(const std::string& log) {
    std::vector<engine::StepRecord> steps;
    for (const engine::Record& record : engine::readRunLog(log)) {
        if (const auto* step = std::get_if<engine::StepRecord>(&record))
            steps.push_back(*step);
    }
    return steps;
}

QStringList eventsOf(const std::string& log) {
    QStringList events;
    for (const engine::Record& record : engine::readRunLog(log)) {
        if (const auto* event = std::get_if<engine::EventRecord>(&record))
            events.append(QString::fromStdString(event->event + " " + event->details));
    }
    return events;
}

std::map<std::string, std::vector<double>> tensorsOf(const std::string& path) {
    const auto file = engine::SafetensorsFile::read(path);
    std::map<std::string, std::vector<double>> tensors;
    for (const engine::TensorView& tensor : file.tensors()) {
        auto& values = tensors[tensor.name];
        values.resize(tensor.elements());
        file.copyTo(tensor.name, std::span<double>(values));
    }
    return tensors;
}

engine::EndRecord endOf(const std::string& log) {
    const auto records = engine::readRunLog(log);
    return std::get<engine::EndRecord>(records.back());
}

} // namespace

class TestCliTrain : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void runFolder() {
        const CliFolder folder;
        const CliResult result = folder.run(
            tinyRun(20) + QStringList{"--method", "topk", "--out", "runs/a", "--per-worker"});
        QVERIFY2(result.exitCode == 0, qPrintable(result.error));
        QVERIFY2(result.error.isEmpty(), qPrintable(result.error)); // no terminal, no progress
        QVERIFY2(result.out.contains("valid perplexity"), qPrintable(result.out));
        QVERIFY2(result.out.contains("Top-k 1 %"), qPrintable(result.out));
        QVERIFY2(!result.out.contains('\x1b'), qPrintable(result.out));
        const QStringList entries = folder.entries("runs/a");
        for (const char* name : {"experiment.json", "metrics.jsonl", "summary.json", "checkpoints"})
            QVERIFY2(entries.contains(name), name);
        QCOMPARE(entries.filter("events.out.tfevents.").size(), 1);
        const auto records = engine::readRunLog(folder.file("runs/a/metrics.jsonl"));
        QVERIFY(std::holds_alternative<engine::StartRecord>(records.front()));
        QVERIFY(std::holds_alternative<engine::EndRecord>(records.back()));
        QCOMPARE(stepsOf(folder.file("runs/a/metrics.jsonl")).size(), std::size_t{20});
        const auto workers = std::count_if(records.begin(), records.end(), [](const auto& record) {
            return std::holds_alternative<engine::WorkerRecord>(record);
        });
        QCOMPARE(workers, std::ptrdiff_t{40});
        const auto summary =
            nlohmann::json::parse(folder.read("runs/a/summary.json").toStdString());
        QCOMPARE(summary.at("steps").get<int>(), 20);
        QVERIFY(summary.at("compression_ratio").get<double>() > 5.0);
        // The folder can be used once.
        const QByteArray log = folder.read("runs/a/metrics.jsonl");
        QCOMPARE(folder.run(tinyRun(20) + QStringList{"--out", "runs/a"}).exitCode, 2);
        QCOMPARE(folder.read("runs/a/metrics.jsonl"), log);
    }

    void startRecordHasNoAuto() {
        const CliFolder folder;
        const CliResult result = folder.run(
            tinyRun(1) + QStringList{"--method", "dgc", "--log", "log.jsonl", "--quiet"});
        QVERIFY2(result.exitCode == 0, qPrintable(result.error));
        QVERIFY(result.out.isEmpty() && result.error.isEmpty());
        QCOMPARE(folder.entries(), QStringList{"log.jsonl"});
        const auto records = engine::readRunLog(folder.file("log.jsonl"));
        const auto& start = std::get<engine::StartRecord>(records.front());
        const auto experiment = engine::parseExperiments(start.experimentJson, "log").front();
        QCOMPARE(QString::fromStdString(experiment.compression.memory), QString("dgc"));
        QCOMPARE(QString::fromStdString(experiment.compression.values), QString("f32"));
        QVERIFY(experiment.cluster.threads >= 1);
    }

    void optionsOverrideTheFile() {
        const CliFolder folder;
        engine::Experiment experiment = engine::defaultExperiment();
        experiment.training.lr = 3.0;
        experiment.training.steps = 2;
        experiment.training.batch = 4;
        experiment.model.hidden = 4;
        folder.write("e.json", QByteArray::fromStdString(engine::toJson(experiment)));
        const CliResult result = folder.run(
            {"train", "e.json", "--lr", "0.5", "--untied", "--log", "log.jsonl", "--quiet"});
        QVERIFY2(result.exitCode == 0, qPrintable(result.error));
        const auto steps = stepsOf(folder.file("log.jsonl"));
        QCOMPARE(steps.size(), std::size_t{2});
        QCOMPARE(steps.front().lr, 0.5);
        const auto records = engine::readRunLog(folder.file("log.jsonl"));
        QVERIFY(
            QString::fromStdString(std::get<engine::StartRecord>(records.front()).experimentJson)
                .contains("\"tied\":false"));
    }

    void raceHasAFolderEach() {
        const CliFolder folder;
        folder.write("race.json",
                     R"({"schema":1,"race":[{"name":"Dense"},{"compression":{"method":"topk"}}]})");
        QStringList arguments = tinyRun(10);
        arguments.insert(1, "race.json");
        const CliResult result = folder.run(arguments + QStringList{"--out", "race"});
        QVERIFY2(result.exitCode == 0, qPrintable(result.error));
        QCOMPARE(folder.entries("race"), (QStringList{"1-dense", "2-top-k-1", "experiment.json"}));
        const auto dense = stepsOf(folder.file("race/1-dense/metrics.jsonl"));
        const auto sparse = stepsOf(folder.file("race/2-top-k-1/metrics.jsonl"));
        QCOMPARE(dense.size(), std::size_t{10});
        QCOMPARE(sparse.size(), std::size_t{10});
        QVERIFY(dense.front().loss == sparse.front().loss); // the same text, model and seed
        QVERIFY(sparse.front().bytesMessage < dense.front().bytesMessage);
        const CliResult again = folder.run({"train", "--resume", "race", "--steps", "15"});
        QVERIFY2(again.exitCode == 0, qPrintable(again.error));
        QCOMPARE(stepsOf(folder.file("race/2-top-k-1/metrics.jsonl")).size(), std::size_t{15});
    }

    void resumedRunIsTheSameRun_data() {
        QTest::addColumn<QStringList>("method");
        QTest::newRow("topk") << QStringList{"--method", "topk"};
        QTest::newRow("dgc") << QStringList{"--method", "dgc", "--warmup-epochs", "1"};
        QTest::newRow("qsgd") << QStringList{"--method", "qsgd", "--dropout", "0.2"};
    }
    void resumedRunIsTheSameRun() {
        QFETCH(QStringList, method);
        const CliFolder folder;
        QCOMPARE(folder.run(tinyRun(30) + method + QStringList{"--out", "whole"}).exitCode, 0);
        QCOMPARE(folder.run(tinyRun(15) + method + QStringList{"--out", "half"}).exitCode, 0);
        const CliResult result = folder.run({"train", "--resume", "half", "--steps", "30"});
        QVERIFY2(result.exitCode == 0, qPrintable(result.error));
        const auto whole = stepsOf(folder.file("whole/metrics.jsonl"));
        const auto resumed = stepsOf(folder.file("half/metrics.jsonl"));
        QCOMPARE(resumed.size(), whole.size());
        for (std::size_t i = 0; i < whole.size(); ++i) {
            QVERIFY(resumed[i].step == whole[i].step);
            QVERIFY(resumed[i].loss == whole[i].loss); // every bit
            QVERIFY(resumed[i].bytesMessage == whole[i].bytesMessage);
            QVERIFY(resumed[i].residualNorm == whole[i].residualNorm);
        }
        QVERIFY(eventsOf(folder.file("half/metrics.jsonl")).join('\n').contains("resumed"));
        QVERIFY(endOf(folder.file("half/metrics.jsonl")).testPerplexity ==
                endOf(folder.file("whole/metrics.jsonl")).testPerplexity);
    }

    void resumeTakesChangesAsEvents() {
        const CliFolder folder;
        QCOMPARE(folder.run(tinyRun(10) + QStringList{"--out", "run"}).exitCode, 0);
        const QByteArray log = folder.read("run/metrics.jsonl");
        const CliResult refused = folder.run({"train", "--resume", "run", "--hidden", "16"});
        QCOMPARE(refused.exitCode, 2);
        QVERIFY2(refused.error.contains("model.hidden (--hidden)"), qPrintable(refused.error));
        QCOMPARE(folder.run({"train", "--resume", "run", "--lr", "-1"}).exitCode, 2);
        QCOMPARE(folder.read("run/metrics.jsonl"), log);
        const CliResult result =
            folder.run({"train", "--resume", "run", "--steps", "12", "--lr", "0.25"});
        QVERIFY2(result.exitCode == 0, qPrintable(result.error));
        QCOMPARE(stepsOf(folder.file("run/metrics.jsonl")).back().lr, 0.25);
        QVERIFY(
            eventsOf(folder.file("run/metrics.jsonl")).join('\n').contains("parameter_changed"));
    }

    void aForkGoesOnAsAnotherRun() {
        const CliFolder folder;
        const QStringList every{"--checkpoint-every", "10"};
        QCOMPARE(folder.run(tinyRun(30) + every + QStringList{"--out", "run"}).exitCode, 0);
        const QByteArray log = folder.read("run/metrics.jsonl");
        const CliResult result = folder.run(
            {"train", "--fork", "run@10", "--lr", "0.25", "--method", "topk", "--out", "fork"});
        QVERIFY2(result.exitCode == 0, qPrintable(result.error));
        const auto steps = stepsOf(folder.file("fork/metrics.jsonl"));
        QCOMPARE(steps.front().step, std::uint64_t{11});
        QCOMPARE(steps.back().step, std::uint64_t{30});
        QCOMPARE(steps.front().lr, 0.25);
        const QString events = eventsOf(folder.file("fork/metrics.jsonl")).join('\n');
        QVERIFY2(events.contains("forked"), qPrintable(events));
        QCOMPARE(folder.read("run/metrics.jsonl"), log); // the first run is as it was
        const CliResult again = folder.run({"train", "--resume", "fork", "--steps", "35"});
        QVERIFY2(again.exitCode == 0, qPrintable(again.error));
        QCOMPARE(stepsOf(folder.file("fork/metrics.jsonl")).size(), std::size_t{25});

        // The same bits without a change.
        const CliResult same = folder.run({"train", "--fork", "run@20", "--log", "same.jsonl"});
        QVERIFY2(same.exitCode == 0, qPrintable(same.error));
        const auto whole = stepsOf(folder.file("run/metrics.jsonl"));
        const auto rest = stepsOf(folder.file("same.jsonl"));
        QCOMPARE(rest.size(), std::size_t{10});
        for (std::size_t i = 0; i < rest.size(); ++i)
            QVERIFY(rest[i].loss == whole[i + 20].loss);
    }

    void aForkRefusesWhatCannotChange() {
        const CliFolder folder;
        QCOMPARE(folder.run(tinyRun(10) + QStringList{"--out", "run"}).exitCode, 0);
        const auto refused = [&](const QStringList& arguments, int exitCode, const char* text) {
            const CliResult result = folder.run(QStringList{"train", "--fork"} + arguments);
            QCOMPARE(result.exitCode, exitCode);
            QVERIFY2(result.error.contains(text), qPrintable(result.error));
        };
        refused({"run", "--hidden", "16"}, 2, "model.hidden cannot change in a fork");
        refused({"run", "--steps", "10"}, 2, "raise --steps");
        refused({"run@7"}, 3, "there are 10");
        refused({"nowhere"}, 3, "no checkpoint to fork from");
        refused({"run", "--resume", "run"}, 2, "leave out");
        refused({"run", "--out", "run"}, 2, "already used");
    }

    void ctrlCSavesAndEndsWith130() {
        const CliFolder folder;
        QProcess process;
        folder.start(process, tinyRun(100000000) + QStringList{"--epochs", "1000000", "--patience",
                                                               "1000000", "--out", "run"});
        // The first evaluation proves that it is training.
        QByteArray seen;
        while (!seen.contains("valid perplexity")) {
            QVERIFY(process.waitForReadyRead(60000));
            seen += process.readAllStandardOutput();
        }
        QCOMPARE(::kill(static_cast<pid_t>(process.processId()), SIGINT), 0);
        const CliResult result = CliFolder::finish(process);
        QVERIFY2(result.exitCode == 130, qPrintable(result.error));
        QVERIFY2(result.error.contains("--resume run"), qPrintable(result.error));
        const auto end = endOf(folder.file("run/metrics.jsonl"));
        QCOMPARE(QString::fromStdString(end.reason), QString("stopped"));
        QVERIFY(end.steps >= 10);
        QVERIFY(folder.has(QString("run/checkpoints/step-%1.safetensors").arg(end.steps)));
        const CliResult again =
            folder.run({"train", "--resume", "run", "--steps", QString::number(end.steps + 5)});
        QVERIFY2(again.exitCode == 0, qPrintable(again.error));
        QCOMPARE(endOf(folder.file("run/metrics.jsonl")).steps, end.steps + 5);
    }

    void ctrlCWithoutFolderSaysSo() {
        const CliFolder folder;
        QProcess process;
        folder.start(process, tinyRun(100000000) +
                                  QStringList{"--epochs", "1000000", "--patience", "1000000"});
        QVERIFY(process.waitForReadyRead(60000));
        QCOMPARE(::kill(static_cast<pid_t>(process.processId()), SIGINT), 0);
        const CliResult result = CliFolder::finish(process);
        QCOMPARE(result.exitCode, 130);
        QVERIFY2(result.error.contains("nothing is saved without --out"), qPrintable(result.error));
        QVERIFY(folder.entries().isEmpty());
    }

    void savedParametersStartAnotherRun() {
        const CliFolder folder;
        QCOMPARE(folder.run(tinyRun(5) + QStringList{"--save", "p.safetensors"}).exitCode, 0);
        QCOMPARE(folder.entries(), QStringList{"p.safetensors"});
        const CliResult result = folder.run(
            tinyRun(5) + QStringList{"--init", "p.safetensors", "--log", "log.jsonl", "--quiet"});
        QVERIFY2(result.exitCode == 0, qPrintable(result.error));
        // Of another shape it is refused, and nothing is written.
        QStringList other = tinyRun(5);
        other[2] = "9";
        const CliResult refused =
            folder.run(other + QStringList{"--init", "p.safetensors", "--out", "run"});
        QCOMPARE(refused.exitCode, 3);
        QVERIFY2(refused.error.contains("p.safetensors"), qPrintable(refused.error));
        QVERIFY(!folder.has("run"));
    }

    void threadsChangeNoBit() {
        const CliFolder folder;
        for (const char* threads : {"1", "2"})
            QCOMPARE(folder
                         .run(tinyRun(10) + QStringList{"--method", "topk", "--threads", threads,
                                                        "--log", threads, "--quiet"})
                         .exitCode,
                     0);
        const auto one = stepsOf(folder.file("1"));
        const auto two = stepsOf(folder.file("2"));
        QCOMPARE(one.size(), two.size());
        for (std::size_t i = 0; i < one.size(); ++i)
            QVERIFY(one[i].loss == two[i].loss);
    }

    // Plain descent moves the parameters by -lr times one worker's gradient.
    void recordedGradients() {
        const CliFolder folder;
        const QStringList plain =
            QString("train --hidden 8 --layers 1 --untied --batch 4 --bptt 7 --workers 1 --lr 0.5 "
                    "--clip 0 --precision f64 --quiet --record-gradients 1,3")
                .split(' ');
        for (const QString& steps : {QString("2"), QString("3")}) {
            const CliResult result =
                folder.run(plain + QStringList{"--steps", steps, "--save", "after-" + steps,
                                               "--out", "run-" + steps});
            QVERIFY2(result.exitCode == 0, qPrintable(result.error));
        }
        QCOMPARE(folder.entries("run-2/gradients"), QStringList{"step-1.safetensors"});
        const auto recorded = tensorsOf(folder.file("run-3/gradients/step-3.safetensors"));
        const auto before = tensorsOf(folder.file("after-2"));
        const auto after = tensorsOf(folder.file("after-3"));
        QCOMPARE(recorded.size(), after.size());
        for (const auto& [name, gradient] : recorded)
            for (std::size_t i = 0; i < gradient.size(); ++i)
                QCOMPARE(before.at(name)[i] - 0.5 * gradient[i], after.at(name)[i]);
        // What a method does to its copy is not in it, with overlap or without.
        for (const QStringList& method : {QStringList{"dgc"}, QStringList{"topk", "--no-overlap"},
                                          QStringList{"topk", "--scope", "model"}}) {
            const QString name = method.join(' ');
            const CliResult result =
                folder.run(plain + QStringList{"--steps", "1", "--out", name, "--method"} + method);
            QVERIFY2(result.exitCode == 0, qPrintable(result.error));
            QCOMPARE(folder.read(name + "/gradients/step-1.safetensors"),
                     folder.read("run-3/gradients/step-1.safetensors"));
        }
    }

    void helpTeaches() {
        const CliFolder folder;
        const CliResult help = folder.run({"train", "--help"});
        QCOMPARE(help.exitCode, 0);
        for (const engine::FieldSpec& field : engine::experimentSchema())
            QVERIFY2(help.out.contains(QString::fromStdString(field.option)), field.option.c_str());
        QVERIFY(help.out.contains("Exit codes"));
        QVERIFY(
            help.out.simplified().contains("Default: on (Tied output); the option turns it off."));
        for (const QString& line : help.out.split('\n'))
            QVERIFY2(line.size() <= 110, qPrintable(line));
        for (const QStringList& arguments :
             {QStringList{"--help"}, QStringList{"compress", "-h"}, QStringList{"--version"},
              QStringList{"train", "--version"}, QStringList{"compress", "--version"}}) {
            const CliResult result = folder.run(arguments);
            QCOMPARE(result.exitCode, 0);
            QVERIFY(result.out.contains("gradlab-cli"));
            QVERIFY(result.error.isEmpty());
        }
    }
};

QTEST_GUILESS_MAIN(TestCliTrain)
#include "test_cli_train.moc"
