// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/core/random.h"

#include <Random123/philox.h>

#include <cmath>
#include <numbers>

namespace gradlab::engine {

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
