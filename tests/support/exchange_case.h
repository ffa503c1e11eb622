// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// One exchange of known messages with ranks as threads: sends, finishes, and keeps the obvious mean
// to compare with.
#pragma once

#include "tests/support/gradient_bodies.h"
#include "transport/in_process/in_process_exchange.h"

#include <QString>

#include <chrono>
#include <memory>
#include <numeric>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace gradlab::test {

inline engine::ExchangeSetup exchangeSetup(const engine::MessagePlan& plan, std::uint32_t workers,
                                           const std::string& topology, bool denseRing = false) {
    engine::ExchangeSetup setup;
    setup.plan = plan;
    setup.ranks.resize(workers);
    std::iota(setup.ranks.begin(), setup.ranks.end(), 0U);
    setup.workers = workers;
    setup.topology = topology;
    setup.denseRing = denseRing;
    setup.session = 0x5E5510;
    return setup;
}

/// An exchange, the replica that it fills, and what its workers say.
struct ExchangeCase {
    explicit ExchangeCase(const engine::ExchangeSetup& exchangeSetup)
        : setup(exchangeSetup), exchange(transport::makeInProcessExchange(setup)),
          replica(engine::Aggregator::create(setup.plan, setup.aggregator)),
          contents(setup.workers) {}

    [[nodiscard]] std::size_t parts() const { return setup.plan.parts().size(); }
    void draw(Kinds kinds, unsigned seed, std::uint32_t step) {
        for (std::uint32_t rank = 0; rank < setup.workers; ++rank)
            contents[rank] = randomContent<float>(setup.plan, kinds, seed, step, rank);
    }
    [[nodiscard]] engine::ByteBuffer message(std::uint32_t rank, std::size_t part) const {
        return encodeContent<float>(setup.plan, part, contents[rank], engine::kFrameHeaderBytes);
    }
    /// Bytes of the frame of one part.
    [[nodiscard]] std::size_t frameBytes(std::uint32_t rank, std::size_t part) const {
        return message(rank, part).size();
    }
    [[nodiscard]] std::size_t messageBytes(std::uint32_t rank) const {
        std::size_t bytes = 0;
        for (std::size_t part = 0; part < parts(); ++part)
            bytes += frameBytes(rank, part);
        return bytes;
    }
    void sendAll(std::uint32_t rank) {
        for (std::size_t part = 0; part < parts(); ++part) {
            // A recycled buffer, as workers use it: whatever it holds is overwritten.
            engine::ByteBuffer buffer = exchange->takeBuffer(rank, part);
            const engine::ByteBuffer encoded = message(rank, part);
            buffer.assign(encoded.begin(), encoded.end());
            exchange->send(rank, part, std::move(buffer));
        }
    }
    engine::ExchangeOutcome run(std::uint64_t step) {
        exchange->beginStep(step, *replica);
        std::vector<std::jthread> threads;
        for (std::uint32_t rank = 0; rank < setup.workers; ++rank)
            threads.emplace_back([this, rank] { sendAll(rank); });
        return exchange->finish({}, {});
    }
    [[nodiscard]] std::vector<float> expectedMean() const {
        std::vector<std::vector<float>> dense;
        for (const auto& content : contents)
            dense.push_back(expand<float>(setup.plan, content));
        return setup.denseRing ? ringMeanOf<float>(setup.plan, dense) : meanOf<float>(dense);
    }
    [[nodiscard]] bool isRight() const { return sameBits<float>(replica->mean(), expectedMean()); }

    engine::ExchangeSetup setup;
    std::unique_ptr<engine::GradientExchange> exchange;
    std::unique_ptr<engine::Aggregator> replica;
    std::vector<WorkerContent<float>> contents; ///< by rank
};

} // namespace gradlab::test
