// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/benchmark/machine_limits.h"

#include "engine/benchmark/bench_clock.h"
#include "engine/core/aligned_buffer.h"
#include "engine/core/check.h"
#include "engine/core/median.h"
#include "engine/core/random.h"
#include "engine/model/matrix_product.h"
#include "engine/model/rounded_twin.h"

#include <malloc.h>

#include <algorithm>
#include <barrier>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace gradlab::engine {

namespace {

constexpr std::size_t kSide = 1024;
constexpr int kProductRounds = 5;
constexpr int kCopyRounds = 9;

/// Seconds of `rounds` rounds, each from when the first thread begins to when the last has ended;
/// `make` gives each thread its own work.
template <class Make>
std::vector<double> timeTogether(int threads, int rounds, const Make& make) {
    struct Spell {
        BenchClock::time_point begin;
        BenchClock::time_point end;
    };
    const auto count = static_cast<std::size_t>(threads);
    std::vector<std::vector<Spell>> spells(count); // of each thread
    {
        std::barrier<> gate(threads);
        std::vector<std::jthread> team;
        for (std::size_t i = 0; i < count; ++i)
            team.emplace_back([&, i] {
                auto work = make();
                work(); // pages and caches
                for (int round = 0; round < rounds; ++round) {
                    gate.arrive_and_wait();
                    const auto begin = BenchClock::now();
                    work();
                    spells[i].push_back({begin, BenchClock::now()});
                }
            });
    }
    std::vector<double> seconds;
    for (std::size_t round = 0; round < spells.front().size(); ++round) {
        Spell all = spells.front()[round];
        for (const auto& own : spells) {
            all.begin = std::min(all.begin, own[round].begin);
            all.end = std::max(all.end, own[round].end);
        }
        seconds.push_back(std::chrono::duration<double>(all.end - all.begin).count());
    }
    return seconds;
}

template <class T>
struct SquareProduct {
    explicit SquareProduct(ProductType type = ProductType::Native)
        : a(kSide * kSide), c(kSide * kSide), b(type), twin(type) {
        std::vector<float> uniforms(kSide * kSide);
        fillUniform(uniforms, 1, RandomPurpose::Bench, {});
        for (std::size_t i = 0; i < a.size(); ++i)
            a[i] = static_cast<T>(uniforms[i] - 0.5F);
        twin.roundAll(a.data(), kSide, kSide);
        b.pack(twin.factor(a.data(), 0, kSide));
    }
    void operator()() {
        multiply<T>(twin.factor(a.data(), 0, kSide), b, {c.data(), kSide, kSide}, Accumulate::No);
    }
    AlignedBuffer<T> a;
    AlignedBuffer<T> c;
    PackedMatrix<T> b;
    RoundedTwin<T> twin; ///< of a
};

std::vector<double> timeProducts(Precision precision, int threads) {
    switch (precision) {
    case Precision::F64:
        return timeTogether(threads, kProductRounds, [] { return SquareProduct<double>(); });
    case Precision::BF16:
        return timeTogether(threads, kProductRounds,
                            [] { return SquareProduct<float>(ProductType::Bf16); });
    default:
        return timeTogether(threads, kProductRounds, [] { return SquareProduct<float>(); });
    }
}

} // namespace

double measureProductGflops(Precision precision, int threads) {
    GRADLAB_CHECK(threads >= 1, threads);
    GRADLAB_CHECK(precision != Precision::BF16 || bf16Ability() == Bf16Ability::Ready,
                  whyNotBf16(bf16Ability()));
    constexpr double kFlops = 2.0 * kSide * kSide * kSide;
    return threads * kFlops / median(timeProducts(precision, threads)) * 1e-9;
}

double measureCopyRate(std::size_t bytes, int threads) {
    const std::vector<double> seconds = timeTogether(threads, kCopyRounds, [bytes] {
        return [from = AlignedBuffer<char>(bytes), to = AlignedBuffer<char>(bytes)]() mutable {
            std::memcpy(to.data(), from.data(), from.size());
        };
    });
    return threads * static_cast<double>(bytes) / median(seconds);
}

double peakResidentMib() {
    std::ifstream status("/proc/self/status");
    constexpr double kKibPerMib = 1024.0;
    for (std::string word; status >> word;) {
        double kib = 0.0;
        if (word == "VmHWM:" && status >> kib)
            return kib / kKibPerMib;
    }
    return 0.0;
}

void resetPeakMemory() {
    static_cast<void>(malloc_trim(0));
    std::ofstream("/proc/self/clear_refs") << 5;
}

} // namespace gradlab::engine
