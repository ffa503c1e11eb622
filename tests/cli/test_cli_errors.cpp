// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What a user does wrong: one line on stderr, the contract's exit code, and nothing half written.
#include "engine/core/precision.h"
#include "tests/support/cli_process.h"

#include <QTest>

#include <sys/stat.h>

using namespace gradlab;
using namespace gradlab::tests;

namespace {

void row(const char* name, const QString& arguments, int exitCode, const char* part) {
    QTest::newRow(name) << arguments.split(' ', Qt::SkipEmptyParts) << exitCode << part;
}

/// Options and what they say, alone and together.
void addOptionRows() {
    row("nothing", "", 2, "no command is given");
    row("command", "trian", 2, "unknown command 'trian': gradlab-cli; see");
    row("option", "train --learning-rate 3", 2, "unknown option '--learning-rate'");
    row("value missing", "train --lr", 2, "--lr: 1 required");
    row("value twice", "train --lr 1 --lr 2", 2, "--lr");
    row("two files", "train a.json b.json", 2, "one argument too many 'b.json'");
    row("range", "train --ratio 2", 2,
        "ratio is 2: compression.ratio (--ratio); give a number in (0, 1]");
    row("negative", "train --lr -1", 2, "lr is -1: training.lr (--lr)");
    row("NaN", "train --lr nan", 2, "lr is nan: training.lr (--lr)");
    row("infinite", "train --clip inf", 2, "clip is inf");
    row("comma", "train --lr 0,5", 2, "lr is '0,5'");
    row("overflow", "train --steps 99999999999999999999", 2, "steps is '99999");
    row("choice", "train --method zip", 2, "give none, topk, randomk, dgc, qsgd or topk-sort");
    row("rate", "train --bandwidth fast", 2, "bandwidth is 'fast'");
    row("batch", "train --batch 30", 2, "not a multiple of 4 workers");
    row("pair", "train --method qsgd --memory dgc", 2, "compression.memory (--memory)");
    row("momentum", "train --method dgc --momentum 0.5", 2, "would be applied twice");
    row("precision", "train --precision f16", 2, "give f32, f64 or bf16");
    row("builtin", "train --corpus builtin:hamlet", 2, "corpus.source (--corpus)");
}

/// Files that are read: experiments, texts, parameters, keys.
void addFileRows() {
    row("file missing", "train missing.json", 3, "missing.json");
    row("not JSON", "train broken.json", 3, "broken.json, line 2");
    row("unknown field", "train unknown.json", 2, "unknown field 'training.speed'");
    row("file's range", "train range.json", 2, "range.json, field training.lr");
    row("text missing", "train --corpus missing.txt", 3, "missing.txt");
    row("text empty", "train --corpus empty.txt", 3, "empty.txt");
    row("file is a pipe", "train pipe", 3, "not a regular file: pipe; give");
    row("text is a pipe", "train --corpus pipe", 3, "(not a regular file): pipe; ");
    row("init is a pipe", "train --init pipe", 3, "not a regular file: pipe; give");
    row("keys are a pipe", "train --transport zmq --keys pipe", 3, "not a file of keys: pipe; ");
    row("folder without splits", "train --corpus used", 3,
        "no train split is in the folder: used; put train.txt");
    row("text too short", "train --corpus short.txt", 3, "short.txt");
    row("text is binary", "train --corpus binary.txt", 3, "binary.txt");
    row("init missing", "train --init missing.safetensors", 3, "missing.safetensors");
    row("init damaged", "train --init broken.safetensors", 3, "broken.safetensors");
}

/// Where a run is written to, what a race shares, what is resumed.
void addOutputRows() {
    row("used folder", "train --out used", 2, "the folder is already used: --out used");
    row("file as folder", "train --out short.txt", 2, "--out short.txt");
    row("impossible folder", "train --steps 1 --out /proc/gradlab", 2, "--out /proc/gradlab");
    row("save nowhere", "train --steps 1 --save no/such/p.safetensors", 2, "--save");
    row("log nowhere", "train --steps 1 --log no/such/log.jsonl", 2, "--log");
    row("gradients nowhere", "train --record-gradients 1", 2,
        "the gradients have no folder: --record-gradients; give --out");
    row("gradients elsewhere", "train --record-gradients 1 --out new --transport zmq", 2,
        "the gradients are other processes': --record-gradients with --transport zmq");
    row("gradients of no step", "train --out new --record-gradients 1,", 2,
        "record-gradients is '': --record-gradients; give a whole number in [1, ");
    row("race, one log", "train race.json --log log.jsonl", 2, "--log log.jsonl");
    row("race, one save", "train race.json --save p.safetensors", 2, "--save p.safetensors");
    row("race, two seeds", "train seeds.json", 2, "a race shares text, model and seed");
    row("resume nothing", "train --resume used", 3, "not a run's folder: used");
    row("resume and file", "train race.json --resume used", 2, "--resume used");
}

/// What compress reads, which step it is asked for, what it must not overwrite.
void addCompressRows() {
    row("compress a pipe", "compress --in pipe", 3, "not a regular file: pipe; give");
    row("compress nothing", "compress", 2, "no gradients are given: --in");
    row("compress missing", "compress --in missing.safetensors", 3, "missing.safetensors");
    row("compress damaged", "compress --in broken.safetensors", 3, "broken.safetensors");
    row("compress hidden", "compress --in g --hidden 3", 2, "--hidden");
    row("compress method", "compress --in g --method zip", 2, "method is 'zip'");
    row("compress step", "compress --in g --step 0", 2,
        "step is 0: --step; give a whole number in [1, 4000000000]");
    row("compress step back", "compress --in g --step -1", 2, "step is -1: --step; give");
    row("compress step in words", "compress --in g --step first", 2,
        "step is 'first': --step; give a whole number in [1, ");
    row("compress epoch", "compress --in g --epoch -1", 2,
        "epoch is -1: --epoch; give a whole number in [0, 4000000000]");
    row("compress onto its input", "compress --in short.txt --out ./short.txt", 2,
        "--out would overwrite the file of --in: --out ./short.txt; give another file");
    row("compress two into one", "compress --in g --out x --state-out x", 2,
        "--state-out would overwrite the file of --out: --state-out x");
    row("compress state onto input", "compress --in short.txt --state-out short.txt", 2,
        "--state-out would overwrite the file of --in");
}

} // namespace

class TestCliErrors : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void refused_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<int>("exitCode");
        QTest::addColumn<QString>("part");
        addOptionRows();
        addFileRows();
        addOutputRows();
        addCompressRows();
    }
    void refused() {
        QFETCH(QStringList, arguments);
        QFETCH(int, exitCode);
        QFETCH(QString, part);
        const CliFolder folder;
        folder.write("broken.json", "{\"schema\": 1,\n \"training\": }");
        folder.write("unknown.json", R"({"schema":1,"training":{"speed":1}})");
        folder.write("range.json", R"({"schema":1,"training":{"lr":-1}})");
        folder.write("race.json", R"({"schema":1,"race":[{},{}]})");
        folder.write("seeds.json", R"({"schema":1,"race":[{},{"training":{"seed":1}}]})");
        folder.write("empty.txt", "");
        folder.write("short.txt", "one line of text\n");
        folder.write("binary.txt", QByteArray("a\0b\n", 4).repeated(1000));
        folder.write("broken.safetensors", "\x10 and no more");
        QDir(folder.path("")).mkdir("used");
        folder.write("used/precious", "x");
        QCOMPARE(::mkfifo(folder.file("pipe").c_str(), S_IRUSR | S_IWUSR), 0);
        const QStringList before = folder.entries();

        const CliResult result = folder.run(arguments);
        QVERIFY2(result.exitCode == exitCode, qPrintable(result.error));
        QVERIFY2(isErrorLine(result.error), qPrintable(result.error));
        QVERIFY2(result.error.contains(part), qPrintable(result.error));
        QCOMPARE(folder.entries(), before);
        QCOMPARE(folder.entries("used"), QStringList{"precious"});
    }

    // oneDNN's own variable hides the processor's instructions from it.
    void bf16IsRefusedWhereItCannotBeHad() {
        CliFolder folder;
        folder.setVariable("ONEDNN_MAX_CPU_ISA", "AVX2");
        const auto why = engine::bf16Ability() == engine::Bf16Ability::NotBuilt
                             ? engine::Bf16Ability::NotBuilt
                             : engine::Bf16Ability::NoInstructions;
        for (const QStringList& command : {QStringList{"train", "--out", "run"},
                                           QStringList{"bench", "train", "--steps", "1"}}) {
            const CliResult result = folder.run(command + QStringList{"--precision", "bf16"});
            QVERIFY2(result.exitCode == 2, qPrintable(result.error));
            QVERIFY2(isErrorLine(result.error), qPrintable(result.error));
            QVERIFY2(result.error.contains(whyNotBf16(why).data()), qPrintable(result.error));
            QVERIFY(result.out.isEmpty());
        }
        QVERIFY(folder.entries().isEmpty());
    }

    void divergenceEndsWith5() {
        const CliFolder folder;
        // Each update multiplies the weights by a million.
        const CliResult result =
            folder.run(tinyRun(400) + QStringList{"--lr", "1e6", "--weight-decay", "1", "--quiet"});
        QVERIFY2(result.exitCode == 5, qPrintable(result.error));
        QVERIFY2(result.error.contains(": step ") && result.error.contains(", tensor "),
                 qPrintable(result.error));
        QCOMPARE(result.error.count('\n'), 1);
        QVERIFY(result.out.isEmpty());
    }
};

QTEST_GUILESS_MAIN(TestCliErrors)
#include "test_cli_errors.moc"
