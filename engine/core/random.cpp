// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/core/random.h"

#include <Random123/philox.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace gradlab::engine {
namespace {

constexpr std::uint32_t kMultiplier0 = 0xD2511F53U;
constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57U;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9U; // what the key's words grow by each round
constexpr std::uint32_t kWeyl1 = 0xBB67AE85U;
constexpr int kRounds = 10;

#ifdef __AVX512F__

constexpr std::size_t kVectors = 8; // computed side by side, to fill the multiplier's pipeline
constexpr std::size_t kBatch = 8 * kVectors;

using Lanes = std::uint64_t __attribute__((vector_size(64)));

/// Of the low halves of the lanes.
Lanes product(Lanes a, std::uint32_t b) noexcept {
    constexpr __mmask8 kAll = 0xFF; // the form without a mask warns of itself in GCC 12
    return reinterpret_cast<Lanes>(
        _mm512_maskz_mul_epu32(kAll, reinterpret_cast<__m512i>(a), _mm512_set1_epi64(b)));
}
Lanes exclusiveOr(Lanes a, Lanes b, std::uint32_t key) noexcept {
    constexpr int kTruthTable = 0x96;
    return reinterpret_cast<Lanes>(_mm512_ternarylogic_epi64(reinterpret_cast<__m512i>(a),
                                                             reinterpret_cast<__m512i>(b),
                                                             _mm512_set1_epi64(key), kTruthTable));
}

/// The words of philox() of kBatch consecutive blocks. A word has the low half
/// of a 64-bit lane to itself, where the multiplication finds it and leaves the
/// whole product; the high half holds what nobody reads.
void makeWords(std::uint32_t* out, std::uint32_t seed, RandomPurpose purpose,
               const RandomCounter& counter) noexcept {
    std::array<std::array<Lanes, kVectors>, 4> c;
    c[0].fill(Lanes{} + counter.step);
    c[1].fill(Lanes{} + counter.lane);
    c[2].fill(Lanes{} + counter.tensor);
    // So ordered, the interleaving at the end yields blocks 0 to 3, then 4 to 7.
    const Lanes order = {0, 4, 1, 5, 2, 6, 3, 7};
    for (std::size_t v = 0; v < kVectors; ++v)
        c[3][v] = order + (counter.block + 8 * v);
    std::uint32_t key0 = seed;
    auto key1 = static_cast<std::uint32_t>(purpose);
#pragma GCC unroll 10
    for (int round = 0; round < kRounds; ++round) {
        for (std::size_t v = 0; v < kVectors; ++v) {
            const Lanes product0 = product(c[0][v], kMultiplier0);
            const Lanes product1 = product(c[2][v], kMultiplier1);
            c[0][v] = exclusiveOr(product1 >> 32, c[1][v], key0);
            c[1][v] = product1;
            c[2][v] = exclusiveOr(product0 >> 32, c[3][v], key1);
            c[3][v] = product0;
        }
        key0 += kWeyl0;
        key1 += kWeyl1;
    }
    for (std::size_t v = 0; v < kVectors; ++v) {
        const auto pair = [&](std::size_t word) {
            return (c[word][v] & 0xFFFFFFFFU) | c[word + 1][v] << 32;
        };
        const Lanes first = pair(0);
        const Lanes second = pair(2);
        const Lanes even = __builtin_shufflevector(first, second, 0, 8, 2, 10, 4, 12, 6, 14);
        const Lanes odd = __builtin_shufflevector(first, second, 1, 9, 3, 11, 5, 13, 7, 15);
        std::memcpy(out + 32 * v, &even, sizeof(even));
        std::memcpy(out + 32 * v + 16, &odd, sizeof(odd));
    }
}

#else

constexpr std::size_t kBatch = 16;

/// The words of philox() of kBatch consecutive blocks, as loops that the
/// compiler vectorises.
void makeWords(std::uint32_t* out, std::uint32_t seed, RandomPurpose purpose,
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
    for (int round = 0; round < kRounds; ++round) {
        for (std::size_t i = 0; i < kBatch; ++i) {
            const std::uint64_t product0 = std::uint64_t{kMultiplier0} * c[0][i];
            const std::uint64_t product1 = std::uint64_t{kMultiplier1} * c[2][i];
            c[0][i] = static_cast<std::uint32_t>(product1 >> 32) ^ c[1][i] ^ key0;
            c[1][i] = static_cast<std::uint32_t>(product1);
            c[2][i] = static_cast<std::uint32_t>(product0 >> 32) ^ c[3][i] ^ key1;
            c[3][i] = static_cast<std::uint32_t>(product0);
        }
        key0 += kWeyl0;
        key1 += kWeyl1;
    }
    for (std::size_t i = 0; i < kBatch; ++i)
        for (std::size_t word = 0; word < 4; ++word)
            out[4 * i + word] = c[word][i];
}

#endif

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
            std::array<std::uint32_t, 4 * kBatch> words;
            makeWords(words.data(), seed, purpose, counter);
            for (const std::uint32_t word : words)
                out[done++] = uniform24(word);
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

void RandomStream::refill() noexcept {
    static_assert(kAhead % (4 * kBatch) == 0);
    next_ = 0;
    if (counter_.block == 0) { // many want no more than this
        const RandomBlock words = philox(seed_, purpose_, counter_);
        std::copy(words.begin(), words.end(), words_.begin());
        counter_.block = 1;
        end_ = words.size();
        return;
    }
    for (end_ = 0; end_ < kAhead; end_ += 4 * kBatch) {
        makeWords(words_.data() + end_, seed_, purpose_, counter_);
        counter_.block += kBatch;
    }
}

double RandomStream::normal() noexcept {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - static_cast<double>(uniform())));
    return radius * std::cos(2.0 * std::numbers::pi * static_cast<double>(uniform()));
}

} // namespace gradlab::engine
