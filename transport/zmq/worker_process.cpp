// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/zmq/worker_process.h"

#include "engine/core/errors.h"
#include "engine/core/version.h"
#include "transport/zmq/worker_exchange.h"
#include "transport/zmq/worker_network.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace gradlab::transport {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenStays{200};

/// One stay in the cluster: from hello until it is over, for whatever reason.
class WorkerStay {
public:
    WorkerStay(const WorkerOptions& options, const WorkerSocketSettings& sockets,
               const WorkerNetworkSettings& network, const NodeFactory& makeNode)
        : options_(options), makeNode_(makeNode),
          network_(board_, clock_, std::make_unique<WorkerSockets>(sockets), network) {}

    SessionEnd run(const std::stop_token& stop) {
        const std::stop_callback leave(stop, [this] { board_.post(PostLeave{"interrupted"}); });
        while (auto order = board_.nextOrder()) {
            carryOut(*order);
            enter(WorkerPhase::Idle, order->header.step);
        }
        board_.setProgress({});
        return *board_.end();
    }
    ~WorkerStay() { board_.setProgress({}); }
    WorkerStay(const WorkerStay&) = delete;
    WorkerStay& operator=(const WorkerStay&) = delete;

private:
    void carryOut(Order& order);
    void join(const Order& order);
    void step(const Order& order);
    void give(const Fetch& fetch);
    void load(const Order& order);
    [[nodiscard]] Done account(bool withHash) const;
    void enter(WorkerPhase phase, std::uint64_t step) {
        board_.setPhase(phase);
        if (options_.onPhase)
            options_.onPhase(phase, step);
    }
    void fail(const char* kind, const std::string& tensor, const std::exception& error,
              std::uint64_t step) {
        board_.post(PostControl{Failed{kind, tensor, error.what()}, step});
    }

    const WorkerOptions& options_; // the caller's, as is the factory
    const NodeFactory& makeNode_;
    WorkerBoard board_;
    WorkerClock clock_;
    WorkerNetwork network_;
    std::unique_ptr<engine::ClusterNode> node_; ///< its exchange uses the board
};

void WorkerStay::carryOut(Order& order) {
    const std::uint64_t step = order.header.step;
    if (std::holds_alternative<Welcome>(order.message))
        join(order);
    else if (std::holds_alternative<Begin>(order.message))
        this->step(order);
    else if (const auto* fetch = std::get_if<Fetch>(&order.message))
        give(*fetch);
    else if (std::holds_alternative<Load>(order.message))
        load(order);
    else if (const auto* inspect = std::get_if<Inspect>(&order.message))
        node_->inspectNext(inspect->focused ? std::optional(engine::InspectionRequest{
                                                  inspect->rank, inspect->tensor})
                                            : std::nullopt);
    else if (const auto* configure = std::get_if<Configure>(&order.message)) {
        enter(WorkerPhase::Loading, step);
        node_->configure(configure->experiment, configure->memory);
    }
}

void WorkerStay::join(const Order& order) {
    enter(WorkerPhase::Loading, order.header.step);
    const auto& welcome = std::get<Welcome>(order.message);
    const auto exchange = [this, &order](engine::ExchangeSetup setup) {
        setup.session = order.header.session;
        return makeWorkerExchange(setup, board_, options_.onPhase);
    };
    try {
        node_ = makeNode_(order.snapshot, exchange,
                          options_.threads != 0 ? options_.threads : welcome.threads);
    } catch (const engine::ExperimentError& error) {
        fail("other", "", error, order.header.step); // so that the coordinator can tell
        throw;
    }
    board_.setProgress([node = node_.get()] { return node->progress(); });
    board_.post(PostControl{Ready{}, order.header.step});
    if (options_.notice)
        options_.notice("joined as worker " + std::to_string(order.header.rank) + " of " +
                        std::to_string(welcome.workers));
}

void WorkerStay::step(const Order& order) {
    const std::uint64_t step = order.header.step;
    try {
        node_->step(step, order.stop.get_token());
        board_.post(PostControl{account(std::get<Begin>(order.message).wantHash), step});
        return;
    } catch (const engine::Cancelled&) {
        // Given up by the coordinator, or this stay is over.
    } catch (const engine::NumericError& error) {
        fail("numeric", error.tensor(), error, step);
    } catch (const engine::ProtocolError& error) {
        fail("protocol", "", error, step);
    } catch (const std::exception& error) {
        fail("other", "", error, step);
        throw;
    }
    board_.close(order.ticket);
}

Done WorkerStay::account(bool withHash) const {
    Done done{node_->report(withHash), node_->outcome().traffic.front()};
    const std::chrono::nanoseconds offset(clock_.offsetNs());
    done.traffic.lastHandOver += offset;
    done.traffic.arrived += offset;
    return done;
}

void WorkerStay::give(const Fetch& fetch) {
    enter(WorkerPhase::Loading, 0);
    const engine::ByteBuffer snapshot =
        fetch.inspection ? node_->inspection() : node_->snapshot(fetch.replica);
    auto frame = std::make_shared<engine::ByteBuffer>(engine::kFrameHeaderBytes + snapshot.size());
    std::copy(snapshot.begin(), snapshot.end(), frame->begin() + engine::kFrameHeaderBytes);
    board_.post(PostSnapshot{fetch.request, std::move(frame)});
}

void WorkerStay::load(const Order& order) {
    enter(WorkerPhase::Loading, order.header.step);
    node_->load(order.snapshot);
    board_.post(PostControl{Loaded{std::get<Load>(order.message).request}, order.header.step});
}

WorkerSocketSettings socketSettings(const WorkerOptions& options) {
    WorkerSocketSettings settings;
    settings.coordinator = Endpoint::parse("--connect", options.connect);
    if (settings.coordinator.host == "*" || settings.coordinator.port == "*")
        throw engine::ExperimentError("", "no address to connect to: --connect " + options.connect +
                                              "; give the one that the coordinator shows");
    settings.listen = Endpoint::parse("--listen", options.listen);
    if (settings.listen.host == "localhost")
        settings.listen.host = "127.0.0.1"; // names cannot be bound
    if (settings.listen.host == "*" || settings.listen.host == "0.0.0.0" ||
        settings.listen.host == "::")
        throw engine::ExperimentError("", "neighbours are told this address: --listen " +
                                              options.listen +
                                              "; give the one by which they reach this machine");
    if (!settings.listen.isLoopback() && options.keysFile.empty() && !options.insecure)
        throw engine::ExperimentError(
            "", "anybody who reaches " + options.listen +
                    " could send: --listen; give --keys FILE (gradlab-cli keygen makes one), or "
                    "--insecure on a network that you trust");
    if (!options.keysFile.empty())
        settings.keys = ClusterKeys::load(options.keysFile);
    settings.name = options.name;
    return settings;
}

WorkerNetworkSettings networkSettings(const WorkerOptions& options) {
    WorkerNetworkSettings settings;
    Hello& hello = settings.hello;
    hello.version = engine::version();
    hello.isa = engine::isaLevel();
    hello.cpu = engine::cpuName();
    hello.host = engine::machineName();
    hello.bootId = bootId();
    hello.pid = ::getpid();
    hello.name = options.name.empty() ? hello.host + ":" + std::to_string(hello.pid) : options.name;
    hello.cores = std::thread::hardware_concurrency();
    settings.lostAfter = options.lostAfter;
    settings.parentPid = options.parentPid;
    settings.notice = [notice = options.notice](const std::string& line) {
        if (notice)
            notice(line);
    };
    return settings;
}

/// False if `stop` asked meanwhile.
bool pause(std::chrono::milliseconds time, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any news;
    std::unique_lock lock(mutex);
    news.wait_for(lock, stop, time, [] { return false; });
    return !stop.stop_requested();
}

[[noreturn]] void giveUp(const WorkerOptions& options, const std::string& reason) {
    throw engine::TransportError("no coordinator (" + reason + "): --connect " + options.connect +
                                 "; start one there, or give --rejoin more seconds");
}

} // namespace

WorkerLeave runWorker(const WorkerOptions& options, const NodeFactory& makeNode,
                      const std::stop_token& stop) {
    const WorkerSocketSettings sockets = socketSettings(options);
    const WorkerNetworkSettings network = networkSettings(options);
    auto lastHeard = steady_clock::now();
    std::string told;
    while (true) {
        const SessionEnd end = WorkerStay(options, sockets, network, makeNode).run(stop);
        switch (end.kind) {
        case SessionEnd::Kind::Finished:
            return WorkerLeave::Finished;
        case SessionEnd::Kind::Left:
            return WorkerLeave::Interrupted;
        case SessionEnd::Kind::Orphaned:
            return WorkerLeave::Orphaned;
        case SessionEnd::Kind::Failed:
            std::rethrow_exception(end.error);
        case SessionEnd::Kind::Refused:
            throw engine::TransportError("refused by the coordinator: --connect " +
                                         options.connect + "; " + end.reason);
        case SessionEnd::Kind::Lost:
            break;
        }
        lastHeard = end.lastHeard.value_or(lastHeard);
        if (steady_clock::now() - lastHeard >= options.rejoin)
            giveUp(options, end.reason);
        if (end.joined || end.reason != told)
            network.notice(end.reason + "; joining again for " +
                           std::to_string(options.rejoin.count()) + " s");
        told = end.reason;
        if (!pause(kBetweenStays, stop))
            return WorkerLeave::Interrupted;
    }
}

} // namespace gradlab::transport
