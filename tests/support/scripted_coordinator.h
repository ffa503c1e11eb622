// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A coordinator that does only what a test says: plain ROUTERs that speak control messages, with
// workers as threads beside it whose nodes send known contents and keep the means that they got.
#pragma once

#include "engine/core/errors.h"
#include "engine/core/version.h"
#include "engine/training/cluster_node.h"
#include "tests/support/gradient_bodies.h"
#include "transport/wire_format.h"
#include "transport/zmq/control_message.h"
#include "transport/zmq/curve_keys.h"
#include "transport/zmq/sockets.h"
#include "transport/zmq/worker_clock.h"
#include "transport/zmq/worker_process.h"
#include "transport/zmq/zap_handler.h"

#include <QTest>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace gradlab::test {

inline constexpr std::uint64_t kSession = 0x5E5510;
inline constexpr std::chrono::seconds kDeadline{30};

/// What a worker thread's node did, for the test to look at afterwards.
struct NodeLog {
    std::mutex mutex;
    std::map<std::uint64_t, std::vector<std::byte>> means; ///< by step
    std::map<std::uint64_t, engine::ExchangeOutcome> outcomes;
    std::vector<std::string> errors; ///< what step() threw
    std::vector<std::string> loaded; ///< snapshots, the joiner's first
    std::vector<std::string> configured;
};

/// Sends randomContent(plan, kinds, seed, step, rank).
class FakeNode final : public engine::ClusterNode {
public:
    FakeNode(const engine::ExchangeSetup& setup, const engine::ExchangeFactory& make, Kinds kinds,
             NodeLog& log)
        : setup_(setup), exchange_(make(setup)),
          replica_(engine::Aggregator::create(setup.plan, setup.aggregator)), kinds_(kinds),
          log_(log) {}

    void step(std::uint64_t step, std::stop_token stop) override {
        try {
            exchange_->beginStep(step, *replica_);
            const auto content = randomContent<float>(setup_.plan, kinds_, 7,
                                                      static_cast<std::uint32_t>(step), rank());
            for (std::size_t part = 0; part < setup_.plan.parts().size(); ++part) {
                engine::ByteBuffer buffer = exchange_->takeBuffer(rank(), part);
                const auto encoded =
                    encodeContent<float>(setup_.plan, part, content, engine::kFrameHeaderBytes);
                buffer.assign(encoded.begin(), encoded.end());
                exchange_->send(rank(), part, std::move(buffer));
                ++progress_;
            }
            outcome_ = exchange_->finish([this, step] { check(step); }, std::move(stop));
        } catch (const engine::Error& error) {
            exchange_->abandonStep();
            const std::lock_guard lock(log_.mutex);
            log_.errors.emplace_back(error.what());
            throw;
        }
        const std::lock_guard lock(log_.mutex);
        const auto mean = replica_->mean();
        log_.means[step].assign(mean.begin(), mean.end());
        log_.outcomes[step] = outcome_;
    }
    /// Throws in the check of this step.
    static inline std::atomic<std::uint64_t> badStep = 0;

    [[nodiscard]] std::string report(bool withHash) const override {
        return withHash ? "with hash" : "plain";
    }
    [[nodiscard]] const engine::ExchangeOutcome& outcome() const override { return outcome_; }
    void configure(const std::string& experiment, engine::MemoryChange change) override {
        const std::lock_guard lock(log_.mutex);
        log_.configured.push_back(experiment +
                                  (change == engine::MemoryChange::Keep ? " keep" : " drop"));
    }
    [[nodiscard]] engine::ByteBuffer snapshot(bool replica) override {
        const std::string text = replica ? "replica" : "worker";
        const auto bytes = std::as_bytes(std::span(text));
        return {bytes.begin(), bytes.end()};
    }
    void load(engine::ByteView snapshot) override {
        const std::lock_guard lock(log_.mutex);
        log_.loaded.emplace_back(reinterpret_cast<const char*>(snapshot.data()), snapshot.size());
    }
    [[nodiscard]] std::uint32_t rank() const override { return setup_.ranks.front(); }
    [[nodiscard]] std::uint64_t parameterHash() const override { return 0; }
    [[nodiscard]] std::uint64_t progress() const override { return progress_; }

private:
    void check(std::uint64_t step) const {
        if (step == badStep)
            throw engine::NumericError(step, "t1", "the mean is not finite");
    }

    engine::ExchangeSetup setup_;
    std::unique_ptr<engine::GradientExchange> exchange_;
    std::unique_ptr<engine::Aggregator> replica_;
    Kinds kinds_;
    NodeLog& log_; ///< the test's
    engine::ExchangeOutcome outcome_;
    std::atomic<std::uint64_t> progress_ = 0;
};

/// The test's thread only.
class ScriptedCoordinator {
public:
    explicit ScriptedCoordinator(const std::optional<transport::ClusterKeys>& keys = {}) {
        if (keys)
            admission_.emplace(context_, keys->admitted());
        for (auto* socket : {&control_, &data_}) {
            *socket = transport::makeSocket(context_, zmq::socket_type::router,
                                            {256, std::int64_t{1} << 30});
            if (keys)
                transport::listenWithKey(*socket, keys->server);
            socket->bind("tcp://127.0.0.1:*");
        }
    }

    [[nodiscard]] std::string endpoint() const { return transport::boundEndpoint(control_); }

    struct Control {
        std::string peer;
        transport::FrameHeader header;
        transport::ControlMessage message;
    };
    struct Data {
        std::string peer;
        transport::FrameHeader header;
        transport::ReceivedBytes bytes;
    };

    /// Takes in what there is, answering heartbeats; waits a little if there is nothing.
    void pump() {
        transport::waitForAny({&control_, &data_}, wakeup_, 5);
        while (auto received = transport::tryReceive(control_)) {
            auto [header, message] = transport::decodeControl(received->view());
            if (const auto* beat = std::get_if<transport::Heartbeat>(&message)) {
                beats[received->peer] = *beat;
                if (answersHeartbeats)
                    say(received->peer,
                        transport::HeartbeatAnswer{beat->sentNs, transport::steadyNs() + clockNs});
                continue;
            }
            control.push_back({received->peer, header, message});
        }
        while (auto received = transport::tryReceive(data_)) {
            const transport::Frame frame = transport::decodeFrame(received->view());
            data.push_back({received->peer, frame.header, *received});
        }
    }
    template <class Condition>
    void pumpUntil(Condition condition) {
        const auto end = std::chrono::steady_clock::now() + kDeadline;
        while (!condition()) {
            if (std::chrono::steady_clock::now() > end)
                throw std::runtime_error("what the test waits for does not happen");
            pump();
        }
    }
    /// The first message of this kind (from this peer); it is taken out.
    template <class Message>
    Control expect(const std::string& peer = {}) {
        return expectControl([&peer](const Control& one) {
            return std::holds_alternative<Message>(one.message) &&
                   (peer.empty() || one.peer == peer);
        });
    }
    template <class Match>
    Control expectControl(Match match) {
        std::optional<Control> found;
        pumpUntil([&] {
            const auto it = std::find_if(control.begin(), control.end(), match);
            if (it == control.end())
                return false;
            found = *it;
            control.erase(it);
            return true;
        });
        return *found;
    }
    template <class Match>
    Data expectData(Match match) {
        std::optional<Data> found;
        pumpUntil([&] {
            for (auto it = data.begin(); it != data.end(); ++it)
                if (match(it->header)) {
                    found = *it;
                    data.erase(it);
                    return true;
                }
            return false;
        });
        return *found;
    }

    void say(const std::string& peer, const transport::ControlMessage& message,
             std::uint64_t step = 0, std::uint32_t rank = 0) {
        transport::FrameHeader header;
        header.session = kSession;
        header.epoch = epoch;
        header.step = step;
        header.rank = rank;
        const engine::ByteBuffer frame = transport::encodeControl(header, message);
        sayBytes(peer, frame);
    }
    void sayBytes(const std::string& peer, const engine::ByteBuffer& frame) {
        if (!transport::trySend(control_, peer, zmq::message_t(frame.data(), frame.size())))
            throw std::runtime_error("a worker is gone");
    }
    void sendData(const std::string& peer, const engine::ByteBuffer& frame,
                  std::optional<std::int64_t> readyNs = {}) {
        if (!transport::trySend(data_, peer, zmq::message_t(frame.data(), frame.size()), readyNs))
            throw std::runtime_error("a worker is gone");
    }
    [[nodiscard]] static engine::ByteBuffer frameOf(transport::FrameHeader header,
                                                    const std::string& body) {
        engine::ByteBuffer frame(engine::kFrameHeaderBytes + body.size());
        std::memcpy(frame.data() + engine::kFrameHeaderBytes, body.data(), body.size());
        transport::encodeFrame(header, frame);
        return frame;
    }
    [[nodiscard]] transport::FrameHeader header(transport::FrameType type,
                                                std::uint64_t step) const {
        transport::FrameHeader header;
        header.type = type;
        header.session = kSession;
        header.epoch = epoch;
        header.step = step;
        return header;
    }

    /// A member as the coordinator knows it.
    struct Member {
        std::string control;
        std::string data;
        std::string ring;
        std::string ringKey;
    };
    /// Takes the hello of the worker called w<rank> and gives it that rank.
    void welcome(std::uint32_t rank, std::uint32_t workers) {
        const std::string name = "w" + std::to_string(rank);
        const Control hello = expectControl([&name](const Control& one) {
            const auto* said = std::get_if<transport::Hello>(&one.message);
            return said != nullptr && said->name == name;
        });
        const auto& said = std::get<transport::Hello>(hello.message);
        Member member{hello.peer, "", said.ringEndpoint, said.ringKey};
        const std::uint64_t number = ++lastMember_;
        const std::string text = transport::boundEndpoint(data_);
        transport::Welcome message;
        message.member = number;
        message.workers = workers;
        message.dataPort = static_cast<std::uint16_t>(std::stoul(text.substr(text.rfind(':') + 1)));
        message.mostDataBytes = 64U << 20U;
        message.bootId = sharesClock ? transport::bootId() : "elsewhere";
        say(member.control, message, 0, rank);
        member.data =
            expectData([number](const transport::FrameHeader& frame) {
                return frame.type == transport::FrameType::DataHello && frame.step == number;
            }).peer;
        sendData(member.data, frameOf(header(transport::FrameType::Snapshot, 0), name));
        expect<transport::Ready>(member.control);
        members[rank] = member;
    }

    [[nodiscard]] transport::StepOrder order(const std::vector<std::uint32_t>& ranks,
                                             std::uint32_t rank) const {
        transport::StepOrder made{ranks, "", ""};
        const auto self = std::find(ranks.begin(), ranks.end(), rank) - ranks.begin();
        const std::uint32_t next = ranks[(static_cast<std::size_t>(self) + 1) % ranks.size()];
        made.nextEndpoint = members.at(next).ring;
        made.nextKey = members.at(next).ringKey;
        return made;
    }
    void begin(std::uint64_t step, const std::vector<std::uint32_t>& ranks) {
        for (const std::uint32_t rank : ranks)
            say(members.at(rank).control, transport::Begin{order(ranks, rank), true}, step, rank);
    }
    /// The next epoch.
    void abort(std::uint64_t step, const std::vector<std::uint32_t>& ranks) {
        ++epoch;
        for (const std::uint32_t rank : ranks)
            say(members.at(rank).control, transport::Abort{order(ranks, rank)}, step, rank);
    }
    template <class Message>
    void sayToAll(const std::vector<std::uint32_t>& ranks, const Message& message,
                  std::uint64_t step) {
        for (const std::uint32_t rank : ranks)
            say(members.at(rank).control, message, step, rank);
    }
    template <class Message>
    std::vector<Control> expectFromAll(const std::vector<std::uint32_t>& ranks) {
        std::vector<Control> all;
        for (const std::uint32_t rank : ranks)
            all.push_back(expect<Message>(members.at(rank).control));
        return all;
    }
    /// Server topology: takes in everybody's parts of the current epoch and sends the means down.
    void serve(const engine::ExchangeSetup& setup, std::uint64_t step,
               const std::vector<std::uint32_t>& ranks) {
        const auto server = engine::Aggregator::create(setup.plan, setup.aggregator);
        for (std::size_t part = 0; part < setup.plan.parts().size(); ++part) {
            std::vector<Data> frames;
            std::vector<engine::ByteView> bodies;
            for (const std::uint32_t rank : ranks) {
                frames.push_back(expectData([&](const transport::FrameHeader& frame) {
                    return frame.type == transport::FrameType::Gradient && frame.rank == rank &&
                           frame.part == part && frame.step == step && frame.epoch == epoch;
                }));
                bodies.push_back(frames.back().bytes.view().subspan(engine::kFrameHeaderBytes));
            }
            engine::ByteBuffer mean;
            server->aggregate(part, bodies, step, engine::kFrameHeaderBytes, mean);
            transport::encodeFrame(meanHeader(setup, step, part), mean);
            for (const std::uint32_t rank : ranks)
                sendData(members.at(rank).data, mean,
                         setup.link.emulate ? std::optional(transport::steadyNs() + clockNs)
                                            : std::nullopt);
        }
    }
    [[nodiscard]] transport::FrameHeader meanHeader(const engine::ExchangeSetup& setup,
                                                    std::uint64_t step, std::size_t part) const {
        transport::FrameHeader made = header(transport::FrameType::Mean, step);
        made.rank = transport::kServerRank;
        made.part = static_cast<std::uint16_t>(part);
        made.parts = static_cast<std::uint16_t>(setup.plan.parts().size());
        made.tensors = static_cast<std::uint32_t>(setup.plan.parts()[part].size());
        return made;
    }
    /// From the votes to everybody's report.
    std::vector<Control> finishStep(std::uint64_t step, const std::vector<std::uint32_t>& ranks) {
        for (const std::uint32_t rank : ranks)
            expectControl([&](const Control& one) { // votes of aborted rounds do not count
                return std::holds_alternative<transport::Holds>(one.message) &&
                       one.peer == members.at(rank).control && one.header.epoch == epoch &&
                       one.header.step == step;
            });
        sayToAll(ranks, transport::Commit{}, step);
        return expectFromAll<transport::Done>(ranks);
    }

    std::deque<Control> control; ///< not yet expected
    std::deque<Data> data;
    std::map<std::string, transport::Heartbeat> beats; ///< the last one, by peer
    std::map<std::uint32_t, Member> members;           ///< by rank
    std::uint64_t epoch = 1;
    bool answersHeartbeats = true;
    bool sharesClock = true;
    std::int64_t clockNs = 0; ///< how much this clock is ahead

private:
    zmq::context_t context_;
    std::optional<transport::ZapHandler> admission_;
    zmq::socket_t control_;
    zmq::socket_t data_;
    transport::Wakeup wakeup_;
    std::uint64_t lastMember_ = 0;
};

/// Stops a worker's compute thread at a phase until the test lets it go on.
class Gate {
public:
    /// In the compute thread.
    void pass() {
        std::unique_lock lock(mutex_);
        reached_ = true;
        news_.wait(lock, [this] { return open_; });
    }
    void open() {
        const std::lock_guard lock(mutex_);
        open_ = true;
        news_.notify_all();
    }
    [[nodiscard]] bool isReached() {
        const std::lock_guard lock(mutex_);
        return reached_;
    }

private:
    std::mutex mutex_;
    std::condition_variable news_;
    bool reached_ = false;
    bool open_ = false;
};

/// A worker process's main function in a thread.
struct WorkerThread {
    WorkerThread(transport::WorkerOptions workerOptions, const engine::ExchangeSetup& setup,
                 Kinds kinds)
        : options(std::move(workerOptions)),
          thread([this, setup, kinds](const std::stop_token& stop) { run(setup, kinds, stop); }) {}

    std::optional<transport::WorkerLeave> left; ///< after the thread has ended
    std::string error;
    NodeLog log;
    std::atomic<bool> ended = false;
    transport::WorkerOptions options;
    std::jthread thread;

private:
    void run(engine::ExchangeSetup setup, Kinds kinds, const std::stop_token& stop) {
        const auto make = [&](engine::ByteView snapshot, const engine::ExchangeFactory& exchange,
                              std::size_t) {
            const std::string text(reinterpret_cast<const char*>(snapshot.data()), snapshot.size());
            setup.ranks = {static_cast<std::uint32_t>(std::stoul(text.substr(1)))};
            {
                const std::lock_guard lock(log.mutex);
                log.loaded.push_back(text);
            }
            return std::make_unique<FakeNode>(setup, exchange, kinds, log);
        };
        try {
            left = transport::runWorker(options, make, stop);
        } catch (const std::exception& failure) {
            error = failure.what();
        }
        ended = true;
    }
};

/// N workers that have joined.
struct ScriptedCluster {
    ScriptedCluster(
        const engine::ExchangeSetup& exchangeSetup, Kinds kinds,
        const std::function<void(std::uint32_t, transport::WorkerOptions&)>& change = {},
        const std::optional<transport::ClusterKeys>& keys = {})
        : setup(exchangeSetup), coordinator(keys) {
        for (std::uint32_t rank = 0; rank < setup.workers; ++rank) {
            transport::WorkerOptions options;
            options.connect = coordinator.endpoint();
            options.name = "w" + std::to_string(rank);
            options.lostAfter = std::chrono::seconds(20);
            if (change)
                change(rank, options);
            workers.push_back(std::make_unique<WorkerThread>(options, setup, kinds));
            ranks.push_back(rank);
        }
    }
    void join() {
        for (const std::uint32_t rank : ranks)
            coordinator.welcome(rank, setup.workers);
    }
    /// A whole step.
    std::vector<ScriptedCoordinator::Control> step(std::uint64_t number) {
        coordinator.begin(number, ranks);
        if (setup.topology == "server")
            coordinator.serve(setup, number, ranks);
        return coordinator.finishStep(number, ranks);
    }
    void finish() {
        for (const auto& [rank, member] : coordinator.members)
            if (!workers[rank]->ended)
                coordinator.say(member.control, transport::Finish{"done"}, 0, rank);
        for (auto& worker : workers)
            worker->thread.join();
    }
    [[nodiscard]] std::vector<std::byte> mean(std::uint32_t rank, std::uint64_t number) {
        const std::lock_guard lock(workers[rank]->log.mutex);
        return workers[rank]->log.means[number];
    }

    engine::ExchangeSetup setup;
    ScriptedCoordinator coordinator;
    std::vector<std::unique_ptr<WorkerThread>> workers; ///< by rank
    std::vector<std::uint32_t> ranks;
};

} // namespace gradlab::test
