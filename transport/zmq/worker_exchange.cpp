// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/zmq/worker_exchange.h"

#include "engine/core/check.h"
#include "transport/in_process/route.h"
#include "transport/wire_format.h"
#include "transport/zmq/buffer_pool.h"

#include <utility>

namespace gradlab::transport {
namespace {

class WorkerExchange final : public engine::GradientExchange {
public:
    WorkerExchange(const engine::ExchangeSetup& setup, WorkerBoard& board, PhaseHook hook)
        : board_(board), hook_(std::move(hook)), session_(setup.session) {
        configure(setup);
    }

    void beginStep(std::uint64_t step, engine::Aggregator& replica) override;
    void send(std::uint32_t rank, std::size_t part, engine::ByteBuffer message) override;
    [[nodiscard]] engine::ByteBuffer takeBuffer(std::uint32_t rank, std::size_t part) override;
    engine::ExchangeOutcome finish(const engine::MeanCheck& check, std::stop_token stop) override;
    void abandonStep() override { board_.close(ticket_); }
    void setLink(const engine::LinkSettings& link) override {
        setup_.link = link;
        board_.post(PostSetup{setup_, pool_});
    }
    void reconfigure(const engine::ExchangeSetup& setup) override { configure(setup); }

private:
    void configure(const engine::ExchangeSetup& setup);
    /// The round whose mean the replica holds.
    [[nodiscard]] std::uint64_t formMean(const std::stop_token& stop);
    void enter(WorkerPhase phase);

    WorkerBoard& board_;
    PhaseHook hook_;
    std::uint64_t session_;
    engine::ExchangeSetup setup_;
    std::shared_ptr<BufferPool> pool_;
    StepTicket ticket_ = 0;
    std::uint64_t step_ = 0;
    engine::Aggregator* replica_ = nullptr; ///< the node's, of the step
    double decodeWallS_ = 0.0;              ///< of the step
    double decodeCpuS_ = 0.0;
};

void WorkerExchange::configure(const engine::ExchangeSetup& setup) {
    GRADLAB_CHECK(setup.ranks.size() == 1, setup.ranks.size());
    GRADLAB_CHECK(setup.plan.parts().size() <= 0xFFFFU, setup.plan.parts().size());
    setup_ = setup;
    setup_.session = session_; // the cluster's, whatever the method
    // A slot for each part's message, another one for its chunks.
    pool_ = BufferPool::create(2 * setup.plan.parts().size());
    board_.post(PostSetup{setup_, pool_});
}

void WorkerExchange::enter(WorkerPhase phase) {
    board_.setPhase(phase);
    if (hook_)
        hook_(phase, step_);
}

void WorkerExchange::beginStep(std::uint64_t step, engine::Aggregator& replica) {
    step_ = step;
    ticket_ = board_.ticket();
    replica_ = &replica;
    decodeWallS_ = decodeCpuS_ = 0.0;
    board_.post(PostOpen{ticket_, &replica});
    enter(WorkerPhase::Computing);
}

engine::ByteBuffer WorkerExchange::takeBuffer(std::uint32_t /*rank*/, std::size_t part) {
    return pool_->take(part);
}

void WorkerExchange::send(std::uint32_t rank, std::size_t part, engine::ByteBuffer message) {
    GRADLAB_CHECK(rank == setup_.ranks.front() && part < setup_.plan.parts().size(), rank, part);
    // Should the epoch change from here on, the network thread writes the header anew.
    const std::uint64_t epoch = board_.epoch();
    enter(WorkerPhase::HandingOver);
    // The hash reads every byte: here, in the worker's thread. A dense ring's messages stay here.
    if (!setup_.denseRing || setup_.topology != "ring") {
        FrameHeader header;
        header.type = FrameType::Gradient;
        header.session = setup_.session;
        header.epoch = epoch;
        header.step = step_;
        header.rank = rank;
        header.part = static_cast<std::uint16_t>(part);
        header.parts = static_cast<std::uint16_t>(setup_.plan.parts().size());
        header.tensors = static_cast<std::uint32_t>(setup_.plan.parts()[part].size());
        encodeFrame(header, message);
    }
    board_.post(PostPart{ticket_, epoch, part, pool_->share(part, std::move(message)),
                         std::chrono::steady_clock::now()});
}

std::uint64_t WorkerExchange::formMean(const std::stop_token& stop) {
    for (;;) {
        const MeanNews news = board_.awaitMean(ticket_, stop);
        if (!news.work)
            return news.round;
        const TimedWork timed(decodeWallS_, decodeCpuS_);
        if (news.work->gathered)
            replica_->applyGathered(news.work->part, news.work->bodies);
        else
            replica_->applyDownlink(news.work->part, news.work->bodies.front());
    }
}

engine::ExchangeOutcome WorkerExchange::finish(const engine::MeanCheck& check,
                                               std::stop_token stop) {
    enter(WorkerPhase::Exchanging);
    while (true) {
        const std::uint64_t round = formMean(stop);
        if (check)
            check();
        enter(WorkerPhase::Voting);
        board_.post(PostVote{ticket_});
        if (board_.awaitCommit(ticket_, round, stop))
            break;
        enter(WorkerPhase::Exchanging);
    }
    enter(WorkerPhase::Committed);
    engine::ExchangeOutcome outcome = board_.outcome();
    outcome.decodeWallS += decodeWallS_;
    outcome.decodeCpuS += decodeCpuS_;
    enter(WorkerPhase::Updating);
    return outcome;
}

} // namespace

std::unique_ptr<engine::GradientExchange> makeWorkerExchange(const engine::ExchangeSetup& setup,
                                                             WorkerBoard& board, PhaseHook hook) {
    return std::make_unique<WorkerExchange>(setup, board, std::move(hook));
}

} // namespace gradlab::transport
