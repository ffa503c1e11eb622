// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// gradlab-cli probe with real worker processes on this machine, and its refusals.
#include "tests/support/cli_process.h"

#include <QTest>

#include <nlohmann/json.hpp>

using namespace gradlab::tests;

class TestCliProbe : public QObject {
    Q_OBJECT

private slots:
    void localWorkersAreMeasured() {
        const CliFolder folder;
        const CliResult result =
            folder.run({"probe", "--workers", "2", "--hidden", "16", "--batch", "8"});
        QVERIFY2(result.exitCode == 0, qPrintable(result.error));
        const auto document = nlohmann::json::parse(result.out.toStdString());
        QCOMPARE(document["workers"].size(), std::size_t{2});
        for (const auto& worker : document["workers"]) {
            QVERIFY(worker["rate_up"].get<double>() > 0 && worker["rate_down"].get<double>() > 0);
            QVERIFY(worker["latency_s"].get<double>() > 0);
            QVERIFY(worker["communication_s"]["topk"].get<double>() <=
                    worker["communication_s"]["none"].get<double>());
        }
        std::vector<std::string> methods;
        for (const auto& one : document["predicted"]) {
            methods.push_back(one["method"]);
            QVERIFY(one["bytes_message"].get<double>() > 0 &&
                    one["communication_s"].get<double>() > 0);
            QVERIFY(one["step_s"].get<double>() > one["communication_s"].get<double>());
        }
        QVERIFY(document["workers_a_core"].get<double>() >= 1.0);
        QCOMPARE(methods, std::vector<std::string>({"none", "topk", "qsgd"}));
    }

    // What it measured can be given to train, whose simulated seconds are then of that network.
    void trainTakesTheLinkOptions() {
        const CliFolder folder;
        const CliResult probed = folder.run({"probe", "--workers", "1", "--hidden", "8"});
        QVERIFY2(probed.exitCode == 0, qPrintable(probed.error));
        const auto document = nlohmann::json::parse(probed.out.toStdString());
        const QString options = QString::fromStdString(document["link_options"].get<std::string>());
        const CliResult trained =
            folder.run(tinyRun(2) + options.split(' ') + QStringList{"--quiet"});
        QVERIFY2(trained.exitCode == 0, qPrintable(trained.error));
    }

    void badOptionsAreRefused() {
        const CliFolder folder;
        const CliResult open = folder.run({"probe", "--bind", "tcp://*:*", "--wait-for", "1"});
        QCOMPARE(open.exitCode, 2);
        QVERIFY2(open.error.contains("cluster.bind"), qPrintable(open.error));
        QCOMPARE(folder.run({"probe", "--workers", "0"}).exitCode, 2);
        QCOMPARE(folder.run({"probe", "--help"}).exitCode, 0);
    }
};

QTEST_GUILESS_MAIN(TestCliProbe)
#include "test_cli_probe.moc"
