// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/zmq/coordinator_server.h"

#include "transport/in_process/route.h"
#include "transport/wire_format.h"

#include <algorithm>
#include <span>

namespace gradlab::transport {
namespace {

/// Behind the header, which the network thread has verified.
engine::ByteView bodyOf(const zmq::message_t& frame) {
    return engine::ByteView(static_cast<const std::byte*>(frame.data()), frame.size())
        .subspan(engine::kFrameHeaderBytes);
}

} // namespace

CoordinatorServer::CoordinatorServer(const engine::ExchangeSetup& setup)
    : setup_(setup), server_(engine::Aggregator::create(setup.plan, setup.aggregator)),
      down_(setup.plan.parts().size()), applied_(setup.plan.parts().size(), false) {}

void CoordinatorServer::begin(std::uint64_t step) {
    step_ = step;
    epoch_ = 0;
    toApply_.clear();
    times_ = {};
}

SharedBytes CoordinatorServer::takeBuffer(std::size_t part) {
    SharedBytes& kept = down_[part];
    if (!kept || kept.use_count() > 1)
        kept = std::make_shared<engine::ByteBuffer>();
    // Counting up and down once orders this thread after the one that has sent the old content.
    SharedBytes ordered = kept;
    ordered.reset();
    return kept;
}

SharedBytes CoordinatorServer::aggregate(const PartWork& work) {
    if (work.epoch != epoch_) {
        std::fill(applied_.begin(), applied_.end(), false);
        toApply_.clear();
    }
    epoch_ = work.epoch;
    SharedBytes frame = takeBuffer(work.part);
    aggregating(times_, [&] { formMean(work, *frame); });
    toApply_.push_back(work.part);
    return frame;
}

void CoordinatorServer::formMean(const PartWork& work, engine::ByteBuffer& frame) {
    std::vector<engine::ByteView> bodies;
    for (const auto& message : work.frames)
        bodies.push_back(bodyOf(*message));
    try {
        server_->aggregate(work.part, bodies, step_, engine::kFrameHeaderBytes, frame);
    } catch (const engine::ProtocolError& error) {
        throw BadMessage(culprit(work), error.what());
    }
    FrameHeader header;
    header.type = FrameType::Mean;
    header.session = setup_.session;
    header.epoch = work.epoch;
    header.step = step_;
    header.rank = kServerRank;
    header.part = static_cast<std::uint16_t>(work.part);
    header.parts = static_cast<std::uint16_t>(down_.size());
    header.tensors = static_cast<std::uint32_t>(setup_.plan.parts()[work.part].size());
    encodeFrame(header, frame);
}

void CoordinatorServer::applyNext(engine::Aggregator& replica) {
    const TimedWork timed(times_.decodeWallS, times_.decodeCpuS);
    const std::size_t part = toApply_.front();
    toApply_.pop_front();
    replica.applyDownlink(part, std::span(*down_[part]).subspan(engine::kFrameHeaderBytes));
    applied_[part] = true;
}

bool CoordinatorServer::isComplete() const noexcept {
    return std::find(applied_.begin(), applied_.end(), false) == applied_.end();
}

void CoordinatorServer::addTimes(engine::ExchangeOutcome& outcome) const {
    outcome.aggregating = times_.aggregating;
    outcome.aggregateCpuS += times_.aggregateCpuS;
    outcome.decodeWallS += times_.decodeWallS;
    outcome.decodeCpuS += times_.decodeCpuS;
}

std::uint32_t CoordinatorServer::culprit(const PartWork& work) const {
    // Alone, each of the others can be added up.
    const auto scratch = engine::Aggregator::create(setup_.plan, setup_.aggregator);
    engine::ByteBuffer out;
    for (std::size_t i = 0; i < work.frames.size(); ++i) {
        const engine::ByteView body = bodyOf(*work.frames[i]);
        try {
            scratch->aggregate(work.part, std::span(&body, 1), step_, 0, out);
        } catch (const engine::ProtocolError&) {
            return work.ranks[i];
        } catch (const engine::NumericError&) {
            continue; // it decodes
        }
    }
    return work.ranks.back();
}

} // namespace gradlab::transport
