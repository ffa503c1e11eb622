// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What the registry declares: order, defaults and ranges of the contract, legal pairs, resolution
// of auto.
#include "engine/compression/compression_parameters.h"
#include "engine/core/errors.h"
#include "tests/support/compression_case.h"

#include <QTest>

#include <set>

using namespace gradlab::engine;
using namespace gradlab::test;

class TestCompressorRegistry : public QObject {
    Q_OBJECT

private slots:
    void parametersStandInTheContractsOrder() {
        std::vector<std::string> options;
        for (const FieldSpec& field : compressionParameters())
            options.push_back(field.option);
        QCOMPARE(options, (std::vector<std::string>{"--ratio", "--levels", "--norm", "--bucket",
                                                    "--beta", "--gamma", "--memory-units",
                                                    "--dgc-momentum", "--no-masking", "--nesterov",
                                                    "--local-clip", "--dgc-sample",
                                                    "--warmup-epochs", "--pattern", "--scale"}));
    }

    void everyParameterIsDescribed() {
        std::set<std::string> paths;
        for (const FieldSpec& field : compressionParameters()) {
            QVERIFY(paths.insert(field.path).second);
            QVERIFY(field.path.starts_with("compression."));
            QVERIFY(!field.label.empty() && !field.help.empty());
            QVERIFY(!field.usedWhen.empty());
            for (const UsedWhen& condition : field.usedWhen)
                for (const std::string& value : condition.values)
                    QVERIFY(condition.path == "compression.method" ? findMethod(value) != nullptr
                                                                   : findMemory(value) != nullptr);
            if (field.type == FieldType::Choice) {
                const auto& value = std::get<std::string>(field.defaultValue);
                QVERIFY(std::find(field.choices.begin(), field.choices.end(), value) !=
                        field.choices.end());
            }
        }
    }

    void methodsListWhatIsUsedWithThem() {
        for (const FieldSpec& field : compressionParameters()) {
            if (field.usedWhen.front().path != "compression.method")
                continue;
            std::vector<std::string> listing;
            for (const MethodInfo& method : compressionMethods())
                for (const FieldSpec& own : method.parameters)
                    if (own.path == field.path)
                        listing.push_back(method.name);
            QCOMPARE(field.usedWhen.front().values, listing);
        }
    }

    void onlyLegalPairsPass() {
        std::set<std::string> legal;
        for (const MethodInfo& method : compressionMethods())
            for (const MemoryInfo& memory : compressionMemories()) {
                const bool passes = compressionError(settingsOf(method.name, memory.name)).empty();
                const bool listed = std::find(method.memories.begin(), method.memories.end(),
                                              memory.name) != method.memories.end();
                QCOMPARE(passes, listed);
                if (passes)
                    legal.insert(method.name + " " + memory.name);
            }
        QVERIFY(legal.contains("topk dgc") && legal.contains("none residual"));
        QVERIFY(!legal.contains("qsgd dgc") && !legal.contains("none dgc"));
        QVERIFY(compressionError(settingsOf("qsgd", "dgc")).find("none or residual") !=
                std::string::npos);
        QVERIFY(!compressionError(settingsOf("fourier", "none")).empty());
        CompressionSettings update = settingsOf("dgc", "dgc");
        update.parameters["memory_units"] = std::string("update");
        QVERIFY(!compressionError(update).empty());
    }

    void autoIsResolved() {
        const std::vector<std::pair<std::string, std::string>> defaults = {{"none", "none"},
                                                                           {"topk", "residual"},
                                                                           {"randomk", "residual"},
                                                                           {"dgc", "dgc"},
                                                                           {"qsgd", "none"}};
        for (const auto& [method, memory] : defaults) {
            QCOMPARE(settingsOf(method).memory, memory);
            QCOMPARE(settingsOf(method).values, std::string("f32"));
            QCOMPARE(settingsOf(method, "auto", "f64").values, std::string("f64"));
            QCOMPARE(settingsOf(method, "auto", "bf16").values, std::string("f32"));
            QCOMPARE(settingsOf(method).parameters.size(), compressionParameters().size());
        }
        CompressionSettings chosen;
        chosen.method = "topk";
        chosen.memory = "none";
        chosen.values = "bf16";
        chosen.parameters["ratio"] = 0.5;
        const CompressionSettings resolved = resolvedCompression(chosen, "f64");
        QCOMPARE(resolved.memory, std::string("none"));
        QCOMPARE(resolved.values, std::string("bf16"));
        QCOMPARE(realParameter(resolved, "ratio"), 0.5);
    }

    void parametersOfTheWrongTypeAreNamed() {
        CompressionSettings settings = settingsOf("topk");
        settings.parameters["ratio"] = std::string("much");
        try {
            (void)realParameter(settings, "ratio");
            QFAIL("nothing was thrown");
        } catch (const ExperimentError& error) {
            QCOMPARE(error.field(), std::string("compression.ratio"));
        }
        settings.parameters["ratio"] = std::int64_t{1}; // an integer is a number too
        QCOMPARE(realParameter(settings, "ratio"), 1.0);
        QVERIFY_THROWS_EXCEPTION(ExperimentError, (void)realParameter(settings, "no_such"));
    }
};

QTEST_GUILESS_MAIN(TestCompressorRegistry)
#include "test_compressor_registry.moc"
