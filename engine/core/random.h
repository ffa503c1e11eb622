// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Counter-based random numbers: Philox4x32-10. A number is a pure function of
// what it is for, so it depends neither on the order of calls nor on the number
// of threads, and no consumer disturbs another.
//   key = (seed, purpose); counter = (step, lane, tensor, element div 4); word
//   = element mod 4
// Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3";
// generator from Random123.
#pragma once

#include "engine/core/export.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gradlab::engine {

/// What a random number is for. Values are part of the contract of
/// reproducibility: never renumber.
enum class RandomPurpose : std::uint32_t {
    Init = 1,      ///< lane 0, tensor id, element of the tensor
    Dropout = 2,   ///< lane = global column, tensor = dropout site, element = time
                   ///< · hidden + unit
    Rounding = 3,  ///< QSGD: lane = worker, tensor id, element
    Selection = 4, ///< random-k: lane = worker (or shared), tensor id, draw
    Sampling = 5,  ///< DGC's threshold sample: lane = worker, tensor id, draw
    Corpus = 6,    ///< the generated language
    Text = 7,      ///< the sentence sampled at an evaluation
    Bench = 8,     ///< synthetic gradients
    Test = 9       ///< property tests
};

/// Where in the random space: see RandomPurpose for what lane, tensor and
/// element mean.
struct RandomCounter {
    std::uint32_t step = 0;
    std::uint32_t lane = 0;
    std::uint32_t tensor = 0;
    std::uint32_t block = 0; ///< element div 4
};

using RandomBlock = std::array<std::uint32_t, 4>;

[[nodiscard]] GRADLAB_ENGINE_EXPORT RandomBlock philox(std::uint32_t seed, RandomPurpose purpose,
                                                       RandomCounter counter) noexcept;

/// Uniform in [0, 1) with 24 bits: the same value in float and double.
[[nodiscard]] constexpr float uniform24(std::uint32_t word) noexcept {
    return static_cast<float>(word >> 8) * 0x1p-24F;
}

/// Fills `out` with uniform24 of elements first, first+1, … of one (step, lane,
/// tensor).
GRADLAB_ENGINE_EXPORT void fillUniform(std::span<float> out, std::uint32_t seed,
                                       RandomPurpose purpose, RandomCounter counter,
                                       std::size_t first = 0) noexcept;

/// Sequential reader of one (seed, purpose, step, lane, tensor): word 0, 1, 2,
/// … Cheap to construct.
class GRADLAB_ENGINE_EXPORT RandomStream {
public:
    RandomStream(std::uint32_t seed, RandomPurpose purpose, std::uint32_t step, std::uint32_t lane,
                 std::uint32_t tensor) noexcept;
    [[nodiscard]] std::uint32_t word() noexcept {
        if (next_ == end_)
            refill();
        return words_[next_++];
    }
    [[nodiscard]] float uniform() noexcept { return uniform24(word()); }
    /// Unbiased integer in [0, bound), bound ≥ 1 (Lemire's multiply-shift with
    /// rejection).
    [[nodiscard]] std::uint32_t below(std::uint32_t bound) noexcept {
        std::uint64_t product = std::uint64_t{word()} * bound;
        if (static_cast<std::uint32_t>(product) < bound) // else it is above what is rejected too
            for (const std::uint32_t rejected = (0U - bound) % bound;
                 static_cast<std::uint32_t>(product) < rejected;)
                product = std::uint64_t{word()} * bound;
        return static_cast<std::uint32_t>(product >> 32);
    }
    /// Standard normal by Box-Muller, one of a pair at a time.
    [[nodiscard]] double normal() noexcept;

private:
    static constexpr std::size_t kAhead = 256; ///< words made at once, but for the first four
    void refill() noexcept;

    std::uint32_t seed_;
    RandomPurpose purpose_;
    RandomCounter counter_;
    std::array<std::uint32_t, kAhead> words_;
    std::size_t next_ = 0; ///< in words_
    std::size_t end_ = 0;
};

} // namespace gradlab::engine
