// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A worker process's learning that learns nothing: known contents go out, the means that come back
// are kept.
#pragma once

#include "engine/core/errors.h"
#include "engine/training/cluster_node.h"
#include "tests/support/gradient_bodies.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace gradlab::test {

/// What a worker thread's node did, for the test to look at afterwards.
struct NodeLog {
    std::mutex mutex;
    std::map<std::uint64_t, std::vector<std::byte>> means; ///< by step
    std::map<std::uint64_t, engine::ExchangeOutcome> outcomes;
    std::vector<std::string> errors; ///< what step() threw
    std::vector<std::string> loaded; ///< snapshots, the joiner's first
    std::vector<std::string> configured;
    std::atomic<unsigned> foreignDecodes = 0; ///< means that another thread than step()'s decoded
};

/// An aggregator that notes in which thread messages are decoded.
class WatchedReplica final : public engine::Aggregator {
public:
    WatchedReplica(std::unique_ptr<engine::Aggregator> replica, NodeLog& log)
        : replica_(std::move(replica)), log_(log) {}

    void aggregate(std::size_t part, std::span<const engine::ByteView> bodies, std::uint64_t step,
                   std::size_t room, engine::ByteBuffer& out) override {
        replica_->aggregate(part, bodies, step, room, out);
    }
    void applyDownlink(std::size_t part, engine::ByteView body) override {
        note();
        replica_->applyDownlink(part, body);
    }
    void applyGathered(std::size_t part, std::span<const engine::ByteView> bodies) override {
        note();
        replica_->applyGathered(part, bodies);
    }
    void takeChunk(std::size_t part, std::size_t chunk, std::size_t chunks, engine::ByteView own,
                   std::size_t room, engine::ByteBuffer& out) override {
        replica_->takeChunk(part, chunk, chunks, own, room, out);
    }
    void addChunk(std::size_t part, std::size_t chunk, std::size_t chunks, engine::ByteView own,
                  std::span<std::byte> partial) override {
        replica_->addChunk(part, chunk, chunks, own, partial);
    }
    void applyChunk(std::size_t part, std::size_t chunk, std::size_t chunks, engine::ByteView sum,
                    std::size_t contributors) override {
        replica_->applyChunk(part, chunk, chunks, sum, contributors);
    }
    [[nodiscard]] std::span<const std::byte> mean() const noexcept override {
        return replica_->mean();
    }

private:
    void note() {
        if (std::this_thread::get_id() != owner_)
            ++log_.foreignDecodes;
    }

    std::unique_ptr<engine::Aggregator> replica_;
    NodeLog& log_;
    std::thread::id owner_ = std::this_thread::get_id();
};

/// Sends randomContent(plan, kinds, seed, step, rank).
class FakeNode final : public engine::ClusterNode {
public:
    FakeNode(const engine::ExchangeSetup& setup, const engine::ExchangeFactory& make, Kinds kinds,
             NodeLog& log)
        : setup_(setup), exchange_(make(setup)),
          replica_(std::make_unique<WatchedReplica>(
              engine::Aggregator::create(setup.plan, setup.aggregator), log)),
          kinds_(kinds), log_(log) {}

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
        log_.configured.push_back(experiment + " " + engine::toString(change));
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

} // namespace gradlab::test
