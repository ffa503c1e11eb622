// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Frames that were good once, mutated by the thousand: over sockets into a run, and through the
// decoders. GRADLAB_MUTATED_FRAMES says how many (20 000; .ci/hostile a million).
#include "engine/core/errors.h"
#include "engine/core/random.h"
#include "tests/support/coordinator_case.h"
#include "transport/wire_format.h"

#include <QTest>

#include <cstring>
#include <fstream>

using namespace gradlab;
using namespace gradlab::test;
using Ranks = std::vector<std::uint32_t>;

namespace {

std::uint32_t frameCount() {
    bool known = false;
    const int count = qEnvironmentVariableIntValue("GRADLAB_MUTATED_FRAMES", &known);
    return known && count > 0 ? static_cast<std::uint32_t>(count) : 20000U;
}

/// What the address sanitizer keeps of freed memory.
#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t kSanitizersShare = 320U << 20U;
#else
constexpr std::size_t kSanitizersShare = 0;
#endif

/// Resident memory of this process in bytes.
std::size_t residentBytes() {
    std::ifstream file("/proc/self/statm");
    std::size_t total = 0;
    std::size_t resident = 0;
    file >> total >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

class Mutator {
public:
    explicit Mutator(std::vector<engine::ByteBuffer> good) : good_(std::move(good)) {}

    /// A good frame with some bytes changed, cut or added; every other one with a right checksum.
    [[nodiscard]] engine::ByteBuffer next() {
        engine::ByteBuffer frame = good_[below(good_.size())];
        for (std::size_t changes = 1 + below(8); changes > 0; --changes)
            frame[below(frame.size())] = std::byte{static_cast<std::uint8_t>(below(256))};
        if (below(4) == 0)
            frame.resize(below(frame.size() + 1));
        else if (below(8) == 0)
            frame.insert(frame.end(), below(200), std::byte{0x7B});
        if (below(2) == 0 && frame.size() >= engine::kFrameHeaderBytes)
            reseal(frame);
        return frame;
    }

private:
    std::size_t below(std::size_t limit) { return random_.word() % limit; }
    /// Header fields as mutated where they are possible, lengths and checksum right.
    void reseal(engine::ByteBuffer& frame) {
        FrameHeader header;
        header.type = below(4) == 0 ? FrameType::Control : FrameType::Gradient;
        std::memcpy(&header.session, frame.data() + 8, sizeof(header.session));
        std::memcpy(&header.epoch, frame.data() + 16, sizeof(header.epoch));
        std::memcpy(&header.step, frame.data() + 24, sizeof(header.step));
        std::memcpy(&header.rank, frame.data() + 32, sizeof(header.rank));
        std::memcpy(&header.tensors, frame.data() + 40, sizeof(header.tensors));
        header.parts = 3;
        header.part = static_cast<std::uint16_t>(below(3));
        transport::encodeFrame(header, frame);
    }

    std::vector<engine::ByteBuffer> good_;
    engine::RandomStream random_{7, engine::RandomPurpose::Test, 0, 0, 0};
};

std::vector<engine::ByteBuffer> goodFrames(ScriptedWorker& worker) {
    std::vector<engine::ByteBuffer> frames;
    for (std::size_t part = 0; part < worker.plan.parts().size(); ++part)
        frames.push_back(worker.gradient(part));
    const FrameHeader header = worker.header(FrameType::Control);
    transport::Hello hello = worker.hello;
    hello.name = "mallory"; // without keys anybody may join, and take a member's name
    for (const transport::ControlMessage& message : std::vector<transport::ControlMessage>{
             transport::Ready{}, transport::Holds{}, transport::Done{}, transport::Bye{"x"},
             transport::Failed{"numeric", "t", "m"}, transport::Heartbeat{}, hello})
        frames.push_back(transport::encodeControl(header, message));
    return frames;
}

} // namespace

class TestZmqMutatedFrames : public QObject {
    Q_OBJECT

private slots:
    // A stranger who has seen everything of a member sends its frames, mutated, to both ports.
    void overTheSockets() {
        CoordinatorCase one(clusterSetup(2));
        gather(one, 2);
        ScriptedWorker& member = *one.workers[1];
        member.content = one.contentOf(1, 1);
        (void)one.wholeStep(1);
        Mutator mutator(goodFrames(member));
        zmq::context_t context;
        const transport::SocketLimits limits{1000, 1 << 20};
        zmq::socket_t control = transport::makeSocket(context, zmq::socket_type::dealer, limits);
        control.connect(one.coordinator->view().endpoint);
        zmq::socket_t data = transport::makeSocket(context, zmq::socket_type::dealer, limits);
        data.connect("tcp://127.0.0.1:" + std::to_string(member.welcome.dataPort));
        const std::size_t before = residentBytes();
        const std::uint32_t count = frameCount() / 2;
        std::uint64_t step = 1;
        for (std::uint32_t i = 0; i < count; ++i) {
            const engine::ByteBuffer frame = mutator.next();
            // A larger one ends the connection, which would only make the test slow.
            const bool fits = frame.size() <= transport::kMostControlBytes;
            zmq::socket_t& socket = i % 2 == 0 && fits ? control : data;
            while (!transport::trySend(socket, zmq::message_t(frame.data(), frame.size())))
                one.pump();                         // the queue is full: the run goes on meanwhile
            while (transport::tryReceive(socket)) { // refusals
            }
            if (i % (count / 20 + 1) == 0) {
                QCOMPARE(one.wholeStep(++step).contributors, Ranks({0, 1}));
                QVERIFY(one.isRight(step, {0, 1}));
            }
        }
        QCOMPARE(one.wholeStep(++step).contributors, Ranks({0, 1}));
        QVERIFY(one.isRight(step, {0, 1}));
        // It may have joined as a spare meanwhile, and be lost; nobody else is.
        for (const engine::ClusterEvent& lost : one.events("worker_lost"))
            QCOMPARE(lost.rank, 0xFFFFFFFFU);
        // Both queues of both sockets full of the largest frames would be about 60 MB.
        constexpr std::size_t kMostGrowth = (128U << 20U) + kSanitizersShare;
        QVERIFY2(residentBytes() < before + kMostGrowth,
                 std::to_string(residentBytes() - before).c_str());
    }

    // What a member may send goes deeper: every decoder that its frames reach.
    void throughTheDecoders() {
        CoordinatorCase one(clusterSetup(2));
        gather(one, 2);
        ScriptedWorker& member = *one.workers[1];
        member.content = one.contentOf(1, 1);
        Mutator mutator(goodFrames(member));
        const engine::ExchangeSetup setup = clusterSetup(2).exchange;
        const auto server = engine::Aggregator::create(setup.plan, setup.aggregator);
        engine::ByteBuffer mean;
        std::uint32_t decoded = 0;
        std::uint32_t refused = 0;
        const auto attempt = [&](const auto& decode) {
            try {
                decode();
                ++decoded;
            } catch (const engine::ProtocolError&) {
                ++refused;
            } catch (const engine::NumericError&) {
                ++refused;
            }
        };
        for (std::uint32_t i = 0; i < frameCount() / 2; ++i) {
            const engine::ByteBuffer frame = mutator.next();
            attempt([&] { (void)transport::decodeControl(frame); });
            attempt([&] {
                const transport::Frame oneFrame = transport::decodeFrame(frame);
                server->aggregate(oneFrame.header.part % 3, std::span(&oneFrame.body, 1), 1,
                                  engine::kFrameHeaderBytes, mean);
            });
        }
        QVERIFY(refused > frameCount() / 4); // most of them are broken,
        QVERIFY(decoded > 0);                // some change nothing that matters
    }
};

QTEST_GUILESS_MAIN(TestZmqMutatedFrames)
#include "test_zmq_mutated_frames.moc"
