// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Decoding hostile bytes: cut, lengthened, bit-flipped and mislabelled messages of every method are
// refused or decode in bounds, and a refused one leaves its target as it was.
#include "engine/compression/unit_encoder.h"
#include "engine/core/errors.h"
#include "tests/support/compression_case.h"

#include <QTest>

using namespace gradlab::engine;
using namespace gradlab::test;

namespace {

constexpr float kGuard = 12345.0F;

/// Decodes every unit of a body into guarded memory. False if anything was refused; throws if the
/// guards changed, values are not finite, or a refusal came after a write.
bool decodesInBounds(const MessagePlan& plan, ByteView body) {
    const auto count = static_cast<std::uint32_t>(plan.parts()[0].size());
    std::vector<UnitView> views;
    try {
        views = splitBody(body, count);
    } catch (const ProtocolError&) {
        return false;
    }
    bool accepted = true;
    UnitDecoder<float> decoder;
    for (const UnitView& view : views) {
        if (view.descriptor.unit >= plan.units().size())
            return false; // the aggregator's check
        const CompressionUnit& unit = plan.units()[view.descriptor.unit];
        std::vector<float> memory(unit.size + 2, 0.0F);
        memory.front() = memory.back() = kGuard;
        const auto range = std::span<float>(memory).subspan(1, unit.size);
        try {
            decoder.addDecoded(view, unit, range);
        } catch (const ProtocolError&) {
            accepted = false;
            for (const float value : range)
                if (value != 0.0F)
                    throw std::runtime_error("a refused message was added");
        }
        if (memory.front() != kGuard || memory.back() != kGuard)
            throw std::runtime_error("written outside");
        for (const float value : range)
            if (!std::isfinite(value))
                throw std::runtime_error("decoded something that is not finite");
    }
    return accepted;
}

struct Message {
    MessagePlan plan;
    std::vector<std::byte> body;
};

Message messageOf(const std::string& method, const std::string& indices,
                  const std::string& levelCode, const std::string& values) {
    CompressionSettings settings = settingsOf(method, "none");
    settings.indices = indices;
    settings.levelCode = levelCode;
    settings.values = values;
    settings.parameters["ratio"] = 0.2;
    settings.parameters["bucket"] = std::int64_t{40};
    CompressionWorker<float> worker(planOf({60, 35}), settings);
    worker.step(contentOf<float>("normal", 95));
    const ByteView body = worker.body(0);
    return {worker.plan, {body.begin(), body.end()}};
}

void addMessages() {
    QTest::addColumn<QString>("method");
    QTest::addColumn<QString>("indices");
    QTest::addColumn<QString>("levelCode");
    QTest::addColumn<QString>("values");
    for (const MethodInfo& method : compressionMethods())
        for (const auto& [indices, levelCode] : codesOf(method))
            for (const std::string& values : valueNames())
                QTest::addRow("%s %s %s %s", method.name.c_str(), indices.c_str(),
                              levelCode.c_str(), values.c_str())
                    << QString::fromStdString(method.name) << QString::fromStdString(indices)
                    << QString::fromStdString(levelCode) << QString::fromStdString(values);
}

Message currentMessage() {
    QFETCH(QString, method);
    QFETCH(QString, indices);
    QFETCH(QString, levelCode);
    QFETCH(QString, values);
    return messageOf(method.toStdString(), indices.toStdString(), levelCode.toStdString(),
                     values.toStdString());
}

/// A body with one unit, from its descriptor and payload.
std::vector<std::byte> bodyOf(UnitDescriptor descriptor, const std::vector<std::byte>& payload) {
    ByteBuffer out;
    UnitWriter writer(out, 0, 1);
    descriptor.payloadBytes = payload.size();
    const auto region = writer.next(descriptor);
    std::copy(payload.begin(), payload.end(), region.begin());
    return {out.begin(), out.end()};
}

} // namespace

class TestUnitDecoder : public QObject {
    Q_OBJECT

private slots:
    void cutAndLengthenedMessagesAreRefused_data() { addMessages(); }
    void cutAndLengthenedMessagesAreRefused() {
        Message message = currentMessage();
        QVERIFY(decodesInBounds(message.plan, message.body));
        for (std::size_t size = 0; size < message.body.size(); ++size)
            QVERIFY(!decodesInBounds(message.plan, ByteView(message.body).first(size)));
        message.body.push_back(std::byte{0});
        QVERIFY(!decodesInBounds(message.plan, message.body));
    }

    void payloadsOfTheWrongLengthAreRefused_data() { addMessages(); }
    void payloadsOfTheWrongLengthAreRefused() {
        const Message message = currentMessage();
        const auto views = splitBody(message.body, 2);
        const MessagePlan one = planOf({60});
        for (const UnitView& view : views) {
            if (view.descriptor.unit != 0)
                continue;
            std::vector<std::byte> payload(view.payload.begin(), view.payload.end());
            QVERIFY(decodesInBounds(one, bodyOf(view.descriptor, payload)));
            payload.push_back(std::byte{0});
            QVERIFY(!decodesInBounds(one, bodyOf(view.descriptor, payload)));
            for (std::size_t size = view.payload.size(); size-- > 0;) {
                payload.resize(size);
                QVERIFY(!decodesInBounds(one, bodyOf(view.descriptor, payload)));
            }
        }
    }

    void flippedBitsStayInBounds_data() { addMessages(); }
    void flippedBitsStayInBounds() {
        const Message message = currentMessage();
        std::size_t refused = 0;
        for (std::size_t bit = 0; bit < message.body.size() * 8; ++bit) {
            auto body = message.body;
            body[bit / 8] ^= std::byte{1} << (bit % 8);
            refused += decodesInBounds(message.plan, body) ? 0U : 1U;
        }
        QVERIFY(refused > 0);
    }

    void valuesThatAreNotFiniteAreRefused() {
        const MessagePlan plan = planOf({2});
        UnitDescriptor descriptor;
        descriptor.elements = 2;
        descriptor.selected = 2;
        for (const float bad :
             {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
            std::vector<std::byte> payload(8);
            std::memcpy(payload.data() + 4, &bad, 4);
            QVERIFY(!decodesInBounds(plan, bodyOf(descriptor, payload)));
        }
        descriptor.values = ValueType::F16;
        QVERIFY(!decodesInBounds(
            plan, bodyOf(descriptor, {std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0x7C}})));
        descriptor.values = ValueType::F64; // finite as a double, not as a float
        const double large = 1e300;
        std::vector<std::byte> payload(16);
        std::memcpy(payload.data(), &large, 8);
        QVERIFY(!decodesInBounds(plan, bodyOf(descriptor, payload)));
    }

    void mislabelledUnitsAreRefused() {
        CompressionWorker<float> worker(planOf({60, 35}), settingsOf("topk", "none"));
        worker.step(contentOf<float>("normal", 95));
        UnitView view = worker.units(0)[0];
        const CompressionUnit& unit = worker.plan.units()[view.descriptor.unit];
        std::vector<float> range(unit.size, 0.0F);
        UnitDecoder<float> decoder;
        const auto refuses = [&](auto change) {
            UnitView changed = view;
            change(changed.descriptor);
            try {
                decoder.addDecoded(changed, unit, range);
            } catch (const ProtocolError&) {
                return true;
            }
            return false;
        };
        QVERIFY(!refuses([](UnitDescriptor&) {}));
        QVERIFY(refuses([](UnitDescriptor& d) { d.unit += 1; }));
        QVERIFY(refuses([](UnitDescriptor& d) { d.elements += 1; }));
        QVERIFY(refuses([](UnitDescriptor& d) { d.selected = 0xFFFFFFFFU; }));
        QVERIFY(refuses([](UnitDescriptor& d) { d.version = 2; }));
        QVERIFY(refuses([](UnitDescriptor& d) { d.code = 77; }));
        QVERIFY(refuses([](UnitDescriptor& d) { d.codec = Codec::Levels; }));
    }

    void repeatedUnitsAndHugeCountsAreRefused() {
        CompressionWorker<float> worker(planOf({60, 60}), settingsOf("none"));
        worker.step(contentOf<float>("normal", 120));
        std::vector<std::byte> body(worker.body(0).begin(), worker.body(0).end());
        std::copy_n(body.begin(), 4, body.begin() + kDescriptorBytes); // the same id twice
        QVERIFY_THROWS_EXCEPTION(ProtocolError, (void)splitBody(body, 2));
        QVERIFY_THROWS_EXCEPTION(ProtocolError, (void)splitBody(body, 0xFFFFFFFFU));
        QVERIFY_THROWS_EXCEPTION(ProtocolError, (void)splitBody({}, 1));
        QCOMPARE(splitBody({}, 0).size(), std::size_t{0});
    }

    void emptySelectionIsAMessage() {
        const MessagePlan plan = planOf({50});
        ByteBuffer out;
        UnitWriter writer(out, 0, 1);
        const auto written =
            encodeSparseUnit<float>(plan.units()[0], {}, {}, ValueType::F32, std::nullopt, writer);
        QCOMPARE(written.payloadBytes, std::uint64_t{0});
        QVERIFY(isSparse(written));
        QVERIFY(decodesInBounds(plan, out));
    }

    void addingAddsAndDecodingSets() {
        const MessagePlan plan = planOf({6});
        const std::vector<std::uint32_t> indices = {1, 4};
        const std::vector<float> values = {2.0F, -3.0F};
        ByteBuffer out;
        UnitWriter writer(out, 3, 1);
        encodeSparseUnit<float>(plan.units()[0], indices, values, ValueType::F32, IndexCode::Bitmap,
                                writer);
        const UnitView view = splitBody(ByteView(out).subspan(3), 1)[0];
        UnitDecoder<float> decoder;
        std::vector<float> range(6, 1.0F);
        decoder.addDecoded(view, plan.units()[0], range);
        QCOMPARE(range, (std::vector<float>{1, 3, 1, 1, -2, 1}));
        decoder.decode(view, plan.units()[0], range);
        QCOMPARE(range, (std::vector<float>{0, 2, 0, 0, -3, 0}));
        std::vector<std::uint32_t> back;
        std::vector<float> decoded;
        decoder.decodeSparse(view, plan.units()[0], back, decoded);
        QCOMPARE(back, indices);
        QCOMPARE(decoded, values);
        QCOMPARE(sparseUnitBytes(plan.units()[0], indices, ValueType::F32, IndexCode::Bitmap),
                 view.payload.size());
    }
};

QTEST_GUILESS_MAIN(TestUnitDecoder)
#include "test_unit_decoder.moc"
