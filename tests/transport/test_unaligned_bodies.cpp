// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What a network hands over begins at any address: every way of using a body gives the same bits
// there, and, in a build with sanitizers, no misaligned access.
#include "engine/training/aggregator.h"
#include "tests/support/gradient_bodies.h"

#include <QTest>

#include <memory>

using namespace gradlab;
using namespace gradlab::test;

namespace {

/// Bytes at an address that is `shift` past an aligned one.
class Shifted {
public:
    Shifted(engine::ByteView bytes, std::size_t shift)
        : room_(bytes.size() + shift), shift_(shift) {
        std::copy(bytes.begin(), bytes.end(), room_.begin() + static_cast<std::ptrdiff_t>(shift));
    }
    [[nodiscard]] std::span<std::byte> bytes() { return std::span(room_).subspan(shift_); }

private:
    engine::ByteBuffer room_;
    std::size_t shift_;
};

} // namespace

class TestUnalignedBodies : public QObject {
    Q_OBJECT

private slots:
    void sameBitsAnywhere_data() {
        QTest::addColumn<int>("kinds");
        QTest::addColumn<unsigned>("shift");
        for (const Kinds kinds : {Kinds::Sparse, Kinds::Dense, Kinds::Mixed})
            for (const unsigned shift : {1U, 2U, 4U, 7U})
                QTest::addRow("kinds %d, %u bytes", static_cast<int>(kinds), shift)
                    << static_cast<int>(kinds) << shift;
    }
    void sameBitsAnywhere() {
        QFETCH(int, kinds);
        QFETCH(unsigned, shift);
        const engine::MessagePlan plan = threeParts();
        const auto server = engine::Aggregator::create(plan, {});
        const auto gathering = engine::Aggregator::create(plan, {});
        const auto replica = engine::Aggregator::create(plan, {});
        std::vector<std::vector<float>> dense;
        std::vector<WorkerContent<float>> contents;
        for (std::uint32_t rank = 0; rank < 2; ++rank) {
            contents.push_back(randomContent<float>(plan, static_cast<Kinds>(kinds), 3, 1, rank));
            dense.push_back(expand<float>(plan, contents.back()));
        }
        for (std::size_t part = 0; part < plan.parts().size(); ++part) {
            Shifted first(encodeContent<float>(plan, part, contents[0]), shift);
            Shifted second(encodeContent<float>(plan, part, contents[1]), shift);
            const std::array<engine::ByteView, 2> bodies = {first.bytes(), second.bytes()};
            gathering->applyGathered(part, bodies);
            engine::ByteBuffer mean;
            server->aggregate(part, bodies, 1, 0, mean);
            Shifted down(mean, shift);
            replica->applyDownlink(part, down.bytes());
        }
        QVERIFY(sameBits<float>(gathering->mean(), meanOf<float>(dense)));
        QVERIFY(sameBits<float>(replica->mean(), meanOf<float>(dense)));
    }

    void chunksAnywhere_data() {
        QTest::addColumn<unsigned>("shift");
        for (const unsigned shift : {1U, 2U, 4U, 7U})
            QTest::addRow("%u bytes", shift) << shift;
    }
    void chunksAnywhere() {
        QFETCH(unsigned, shift);
        constexpr std::size_t kWorkers = 2;
        const engine::MessagePlan plan = threeParts();
        const auto replica = engine::Aggregator::create(plan, {});
        std::vector<std::vector<float>> dense;
        std::vector<WorkerContent<float>> contents;
        for (std::uint32_t rank = 0; rank < kWorkers; ++rank) {
            contents.push_back(randomContent<float>(plan, Kinds::Dense, 3, 1, rank));
            dense.push_back(expand<float>(plan, contents.back()));
        }
        for (std::size_t part = 0; part < plan.parts().size(); ++part)
            for (std::size_t chunk = 0; chunk < kWorkers; ++chunk) {
                Shifted first(encodeContent<float>(plan, part, contents[chunk]), shift);
                Shifted second(encodeContent<float>(plan, part, contents[(chunk + 1) % kWorkers]),
                               shift);
                engine::ByteBuffer own;
                replica->takeChunk(part, chunk, kWorkers, first.bytes(), 0, own);
                Shifted partial(own, shift);
                replica->addChunk(part, chunk, kWorkers, second.bytes(), partial.bytes());
                replica->applyChunk(part, chunk, kWorkers, partial.bytes(), kWorkers);
            }
        QVERIFY(sameBits<float>(replica->mean(), ringMeanOf<float>(plan, dense)));
    }
};

QTEST_GUILESS_MAIN(TestUnalignedBodies)
#include "test_unaligned_bodies.moc"
