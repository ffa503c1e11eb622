// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The run's thread's side: posts orders to the network thread, waits for news in the inbox, and
// does the server's heavy work in between.
#include "transport/zmq/zmq_coordinator.h"

#include "engine/core/errors.h"
#include "engine/training/experiment_schema.h"
#include "transport/zmq/coordinator_inbox.h"
#include "transport/zmq/coordinator_network.h"
#include "transport/zmq/coordinator_server.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>

namespace gradlab::transport {
namespace {

using Step = InboxState::Step;

std::uint64_t randomSession() {
    std::random_device device;
    constexpr unsigned kHalf = 32;
    return (static_cast<std::uint64_t>(device()) << kHalf | device()) | 1U; // 0 is nobody's
}

engine::ClusterSetup withSession(engine::ClusterSetup setup) {
    setup.exchange.session = randomSession();
    return setup;
}

class ZmqCoordinator final : public engine::ClusterCoordinator {
public:
    ZmqCoordinator(const engine::ClusterSetup& setup, const CoordinatorOptions& options)
        : setup_(setup.exchange), server_(setup.exchange), network_(setup, options, inbox_) {
        if (setup.experiment.cluster.waitFor > 0)
            return;
        for (std::int64_t i = 0; i < setup.experiment.cluster.workers; ++i)
            startLocalWorker();
    }
    ~ZmqCoordinator() override { end("the run is over"); }

    void boundary(const engine::SnapshotMaker& snapshot, std::stop_token stop) override;
    engine::ExchangeOutcome step(std::uint64_t step, bool wantHash, engine::Aggregator& replica,
                                 const engine::MeanCheck& check, std::stop_token stop) override;
    std::vector<engine::WorkerReport> reports(std::stop_token stop) override;
    void configure(const engine::Experiment& experiment, engine::MemoryChange change,
                   const engine::ExchangeSetup& setup) override;
    engine::ByteBuffer fetch(std::uint32_t rank, bool replica, std::stop_token stop) override;
    void inspectNext(const std::optional<engine::InspectionRequest>& focus) override;
    engine::ByteBuffer fetchInspection(std::uint32_t rank, const std::stop_token& stop) override;
    bool load(std::uint32_t rank, engine::ByteView snapshot, std::stop_token stop) override;
    [[nodiscard]] std::vector<std::uint32_t> activeRanks() const override {
        return inbox_.with([](InboxState& state) { return state.active; });
    }
    [[nodiscard]] std::vector<engine::ClusterEvent> takeEvents() override {
        return inbox_.with([](InboxState& state) { return std::exchange(state.events, {}); });
    }
    [[nodiscard]] bool takePauseRequest() override {
        return inbox_.with(
            [](InboxState& state) { return std::exchange(state.pauseRequested, false); });
    }
    void end(const std::string& reason) override;
    [[nodiscard]] engine::ClusterView view() const override {
        return inbox_.with([](InboxState& state) { return state.view; });
    }
    void act(std::uint32_t rank, engine::WorkerAction action) override {
        network_.post([=](CoordinatorSession& session) { session.act(rank, action); });
    }
    void startLocalWorker() override {
        network_.post([](CoordinatorSession& session) { session.startLocalWorker(); });
    }

private:
    void aggregate(const PartWork& work);
    void applyNext(engine::Aggregator& replica, const engine::MeanCheck& check);
    /// Until the step is committed. @throws why it is not
    void exchange(engine::Aggregator& replica, const engine::MeanCheck& check,
                  const std::stop_token& stop);
    /// True if the network thread had already committed it.
    [[nodiscard]] bool abandon();
    engine::ByteBuffer fetched(std::uint32_t rank, const Fetch& what, const std::stop_token& stop);
    [[nodiscard]] std::optional<engine::ByteBuffer> awaitAnswer(const std::stop_token& stop);
    void throwIfStopped();

    engine::ExchangeSetup setup_;
    mutable CoordinatorInbox inbox_; ///< has its own mutex
    CoordinatorServer server_;
    CoordinatorNetwork network_; ///< refers to inbox_
    std::uint64_t lastBoundary_ = 0;
    std::uint64_t lastRequest_ = 0;
    bool ended_ = false;
};

void ZmqCoordinator::throwIfStopped() {
    const std::string why = inbox_.with([](InboxState& state) { return state.stopped; });
    if (!why.empty())
        throw engine::TransportError(why);
}

void ZmqCoordinator::boundary(const engine::SnapshotMaker& snapshot, std::stop_token stop) {
    const std::uint64_t number = ++lastBoundary_;
    network_.post([number](CoordinatorSession& session) { session.openBoundary(number); });
    for (;;) {
        const auto wanted = inbox_.await(
            stop,
            [number](const InboxState& state) {
                return state.boundariesDone == number || !state.snapshotsWanted.empty() ||
                       !state.stopped.empty();
            },
            [](InboxState& state) -> std::optional<SnapshotWanted> {
                if (state.snapshotsWanted.empty())
                    return std::nullopt;
                const SnapshotWanted first = state.snapshotsWanted.front();
                state.snapshotsWanted.pop_front();
                return first;
            });
        throwIfStopped();
        if (!wanted)
            return;
        const SharedBytes frame =
            snapshotFrame(setup_.session, 0, wanted->rank, snapshot(wanted->rank));
        network_.post([member = wanted->member, frame](CoordinatorSession& session) {
            session.giveSnapshot(member, frame);
        });
    }
}

engine::ExchangeOutcome ZmqCoordinator::step(std::uint64_t step, bool wantHash,
                                             engine::Aggregator& replica,
                                             const engine::MeanCheck& check, std::stop_token stop) {
    throwIfStopped();
    inbox_.change([](InboxState& state) {
        state.step = Step::Running;
        state.stepFailure = nullptr;
        state.work.clear();
    });
    server_.begin(step);
    network_.post([=](CoordinatorSession& session) { session.beginStep(step, wantHash); });
    try {
        exchange(replica, check, stop);
    } catch (...) {
        if (!abandon())
            throw;
    }
    engine::ExchangeOutcome outcome = inbox_.with([](InboxState& state) { return state.outcome; });
    server_.addTimes(outcome);
    return outcome;
}

void ZmqCoordinator::exchange(engine::Aggregator& replica, const engine::MeanCheck& check,
                              const std::stop_token& stop) {
    for (;;) {
        bool running = true;
        const auto work = inbox_.await(
            stop,
            [this](const InboxState& state) {
                return state.step != Step::Running || !state.work.empty() || server_.hasMore();
            },
            [&running](InboxState& state) -> std::optional<PartWork> {
                if (state.step == Step::GivenUp && state.stepFailure)
                    std::rethrow_exception(state.stepFailure);
                running = state.step == Step::Running;
                if (!running || state.work.empty())
                    return std::nullopt;
                PartWork first = std::move(state.work.front());
                state.work.pop_front();
                return first;
            });
        if (!running)
            return;
        if (work)
            aggregate(*work);
        else
            applyNext(replica, check);
    }
}

void ZmqCoordinator::applyNext(engine::Aggregator& replica, const engine::MeanCheck& check) {
    server_.applyNext(replica);
    if (!server_.isComplete())
        return;
    if (check)
        check();
    network_.post([epoch = server_.epoch()](CoordinatorSession& session) {
        session.coordinatorHolds(epoch);
    });
}

void ZmqCoordinator::aggregate(const PartWork& work) {
    try {
        const SharedBytes frame = server_.aggregate(work);
        network_.post([epoch = work.epoch, part = work.part, frame](CoordinatorSession& session) {
            session.sendMean(epoch, part, frame);
        });
    } catch (const BadMessage& bad) {
        network_.post([epoch = work.epoch, rank = bad.rank(), what = std::string(bad.what())](
                          CoordinatorSession& session) { session.blame(epoch, rank, what); });
    }
}

bool ZmqCoordinator::abandon() {
    network_.post([](CoordinatorSession& session) { session.abandonStep(); });
    return inbox_.await(
        {}, [](const InboxState& state) { return state.step != Step::Running; },
        [](const InboxState& state) { return state.step == Step::Committed; });
}

std::vector<engine::WorkerReport> ZmqCoordinator::reports(std::stop_token stop) {
    return inbox_.await(
        stop, [](const InboxState& state) { return state.reportsDone; },
        [](InboxState& state) { return std::exchange(state.reports, {}); });
}

void ZmqCoordinator::configure(const engine::Experiment& experiment, engine::MemoryChange change,
                               const engine::ExchangeSetup& setup) {
    const std::uint64_t session = setup_.session;
    setup_ = setup;
    setup_.session = session;
    server_ = CoordinatorServer(setup_);
    network_.post([order = Configure{engine::toJson(experiment), change},
                   memory = experiment.compression.memory, exchange = setup_](
                      CoordinatorSession& network) { network.configure(order, memory, exchange); });
}

engine::ByteBuffer ZmqCoordinator::fetch(std::uint32_t rank, bool replica, std::stop_token stop) {
    return fetched(rank, Fetch{++lastRequest_, replica}, stop);
}

engine::ByteBuffer ZmqCoordinator::fetchInspection(std::uint32_t rank,
                                                   const std::stop_token& stop) {
    return fetched(rank, Fetch{++lastRequest_, false, true}, stop);
}

engine::ByteBuffer ZmqCoordinator::fetched(std::uint32_t rank, const Fetch& what,
                                           const std::stop_token& stop) {
    network_.post([=](CoordinatorSession& session) { session.fetch(rank, what); });
    return awaitAnswer(stop).value_or(engine::ByteBuffer{});
}

void ZmqCoordinator::inspectNext(const std::optional<engine::InspectionRequest>& focus) {
    Inspect what;
    if (focus)
        what = {true, focus->rank, focus->tensor};
    network_.post([=](CoordinatorSession& session) { session.inspectNext(what); });
}

bool ZmqCoordinator::load(std::uint32_t rank, engine::ByteView snapshot, std::stop_token stop) {
    const std::uint64_t request = ++lastRequest_;
    const SharedBytes frame = snapshotFrame(setup_.session, request, rank, snapshot);
    network_.post([request, rank, frame](CoordinatorSession& session) {
        session.load(request, rank, frame);
    });
    return awaitAnswer(stop).has_value();
}

std::optional<engine::ByteBuffer> ZmqCoordinator::awaitAnswer(const std::stop_token& stop) {
    return inbox_.await(
        stop, [this](const InboxState& state) { return state.answered == lastRequest_; },
        [](InboxState& state) { return std::exchange(state.answer, std::nullopt); });
}

void ZmqCoordinator::end(const std::string& reason) {
    if (std::exchange(ended_, true))
        return;
    network_.post([reason](CoordinatorSession& session) { session.finish(reason); });
    network_.join();
}

} // namespace

std::unique_ptr<engine::ClusterCoordinator> makeZmqCoordinator(const engine::ClusterSetup& setup,
                                                               const CoordinatorOptions& options) {
    return std::make_unique<ZmqCoordinator>(withSession(setup), options);
}

} // namespace gradlab::transport
