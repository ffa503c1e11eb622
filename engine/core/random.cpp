// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/core/random.h"

#include <Random123/philox.h>

#include <cmath>
#include <numbers>

namespace gradlab::engine {
namespace {

constexpr std::size_t kBatch = 16; // blocks computed side by side

/// philox() of kBatch consecutive blocks as loops that the compiler vectorises: 4 · kBatch
/// uniforms.
void fillBatch(float* out, std::uint32_t seed, RandomPurpose purpose,
               const RandomCounter& counter) noexcept {
    using Words = std::array<std::uint32_t, kBatch>;
    std::array<Words, 4> c{};
    c[0].fill(counter.step);
    c[1].fill(counter.lane);
    c[2].fill(counter.tensor);
    for (std::size_t i = 0; i < kBatch; ++i)
        c[3][i] = counter.block + static_cast<std::uint32_t>(i);
    std::uint32_t key0 = seed;
    auto key1 = static_cast<std::uint32_t>(purpose);
    for (int round = 0; round < 10; ++round) {
        for (std::size_t i = 0; i < kBatch; ++i) {
            const std::uint64_t product0 = std::uint64_t{0xD2511F53U} * c[0][i];
            const std::uint64_t product1 = std::uint64_t{0xCD9E8D57U} * c[2][i];
            c[0][i] = static_cast<std::uint32_t>(product1 >> 32) ^ c[1][i] ^ key0;
            c[1][i] = static_cast<std::uint32_t>(product1);
            c[2][i] = static_cast<std::uint32_t>(product0 >> 32) ^ c[3][i] ^ key1;
            c[3][i] = static_cast<std::uint32_t>(product0);
        }
        key0 += 0x9E3779B9U;
        key1 += 0xBB67AE85U;
    }
    for (std::size_t i = 0; i < kBatch; ++i)
        for (std::size_t word = 0; word < 4; ++word)
            out[4 * i + word] = uniform24(c[word][i]);
}

} // namespace

RandomBlock philox(std::uint32_t seed, RandomPurpose purpose, RandomCounter counter) noexcept {
    const r123::Philox4x32 generator;
    const r123::Philox4x32::ctr_type c = {
        {counter.step, counter.lane, counter.tensor, counter.block}};
    const r123::Philox4x32::key_type k = {{seed, static_cast<std::uint32_t>(purpose)}};
    const auto words = generator(c, k);
    return {words[0], words[1], words[2], words[3]};
}

void fillUniform(std::span<float> out, std::uint32_t seed, RandomPurpose purpose,
                 RandomCounter counter, std::size_t first) noexcept {
    std::size_t done = 0;
    while (done < out.size()) {
        const std::size_t element = first + done;
        counter.block = static_cast<std::uint32_t>(element / 4);
        if (element % 4 == 0 && out.size() - done >= 4 * kBatch) {
            fillBatch(out.data() + done, seed, purpose, counter);
            done += 4 * kBatch;
            continue;
        }
        const RandomBlock words = philox(seed, purpose, counter);
        for (std::size_t word = element % 4; word < 4 && done < out.size(); ++word)
            out[done++] = uniform24(words[word]);
    }
}

RandomStream::RandomStream(std::uint32_t seed, RandomPurpose purpose, std::uint32_t step,
                           std::uint32_t lane, std::uint32_t tensor) noexcept
    : seed_(seed), purpose_(purpose), counter_{step, lane, tensor, 0} {}

std::uint32_t RandomStream::word() noexcept {
    if (used_ == 4) {
        block_ = philox(seed_, purpose_, counter_);
        ++counter_.block;
        used_ = 0;
    }
    return block_[used_++];
}

std::uint32_t RandomStream::below(std::uint32_t bound) noexcept {
    const std::uint32_t rejected = (0U - bound) % bound;
    std::uint64_t product = 0;
    do {
        product = static_cast<std::uint64_t>(word()) * bound;
    } while (static_cast<std::uint32_t>(product) < rejected);
    return static_cast<std::uint32_t>(product >> 32);
}

double RandomStream::normal() noexcept {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - static_cast<double>(uniform())));
    return radius * std::cos(2.0 * std::numbers::pi * static_cast<double>(uniform()));
}

} // namespace gradlab::engine
