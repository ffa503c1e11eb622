// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Sizes of messages: never above the dense size, the fallback that ensures it, the 16-bit baseline.
#include "tests/support/compression_rows.h"

using namespace gradlab::engine;
using namespace gradlab::test;

class TestMessageBytes : public QObject {
    Q_OBJECT

private slots:
    void denseFallbackKeepsSelectionAndFlagsIt() {
        for (const char* memory : {"none", "residual", "dgc"}) {
            CompressionSettings settings = settingsOf("topk", memory);
            settings.parameters["ratio"] = 0.9;
            CompressionWorker<float> worker(planOf({1000}), settings);
            settings.indices = "raw32"; // 8k bytes: more than 4n
            CompressionWorker<float> dense(planOf({1000}), settings);
            const auto gradient = contentOf<float>("normal", 1000);
            QVERIFY(sameValues(worker.step(gradient), dense.step(gradient)));
            QVERIFY(sameValues(worker.waiting(), dense.waiting()));
            QCOMPARE(worker.units(0)[0].descriptor.codec, Codec::Sparse);
            QCOMPARE(dense.units(0)[0].descriptor.codec, Codec::Dense);
            QCOMPARE(dense.units(0)[0].descriptor.flags, kFlagDenseFallback);
            QCOMPARE(dense.units(0)[0].payload.size(), std::size_t{4000});
            QCOMPARE(dense.compressor.stats().selected, std::uint64_t{900});
            QCOMPARE(dense.compressor.stats().denseFallbacks, 1U);
        }
    }

    void messagesNeverExceedTheDenseSize_data() { addCombinations(); }
    void messagesNeverExceedTheDenseSize() {
        QFETCH(int, combination);
        CompressionSettings settings =
            combinations()[static_cast<std::size_t>(combination)].settings;
        settings.parameters["bucket"] = std::int64_t{1};
        for (const double ratio : {0.01, 0.5, 1.0}) {
            settings.parameters["ratio"] = ratio;
            CompressionWorker<float> worker(planOf({1, 5, 1000}), settings);
            worker.step(contentOf<float>("heavy", 1006));
            for (const UnitView& view : worker.units(0)) {
                const bool wide = settings.values == "f64";
                const bool half = settings.values == "f16" || settings.values == "bf16";
                const std::size_t width = wide ? 8 : (half && settings.method != "qsgd" ? 2 : 4);
                QVERIFY(view.payload.size() <= view.descriptor.elements * width);
            }
        }
    }

    void bytesOfTheBaselineAreThoseOfItsValues() {
        for (const auto& [values, width] :
             {std::pair{"f32", 4}, {"f64", 8}, {"f16", 2}, {"bf16", 2}}) {
            CompressionSettings settings = settingsOf("none");
            settings.values = values;
            CompressionWorker<float> worker(planOf({1000, 24}), settings);
            worker.step(contentOf<float>("normal", 1024));
            QCOMPARE(worker.body(0).size(),
                     std::size_t{2 * 32} + 1024U * static_cast<unsigned>(width));
            QCOMPARE(worker.compressor.stats().selected, std::uint64_t{1024});
            QVERIFY(worker.compressor.effectiveRatio(0) == 1.0);
        }
    }

    void eightLargeHalfGradientsHaveAFiniteMean() {
        CompressionSettings settings = settingsOf("topk", "none");
        settings.values = "f16";
        settings.parameters["ratio"] = 1.0;
        std::vector<float> sum(10, 0.0F);
        UnitDecoder<float> decoder;
        for (std::uint32_t rank = 0; rank < 8; ++rank) {
            CompressionWorker<float> worker(planOf({10}), settings, {42, rank, 8});
            worker.step(std::vector<float>(10, 60000.0F));
            decoder.addDecoded(worker.units(0)[0], worker.plan.units()[0], sum);
        }
        for (const float value : sum)
            QCOMPARE(value / 8.0F, 60000.0F);
    }
};

QTEST_GUILESS_MAIN(TestMessageBytes)
#include "test_message_bytes.moc"
