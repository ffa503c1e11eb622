// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/sgd_optimizer.h"

#include "engine/core/check.h"
#include "engine/core/parallel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace gradlab::engine {

namespace {

constexpr std::size_t kGrain = 32768;

// Eight interleaved sums: the same order of additions for every thread count and vector width.
template <class T>
double sumOfSquares(const T* values, std::size_t count) {
    std::array<double, 8> sums{};
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (std::size_t lane = 0; lane < 8; ++lane) {
            const auto value = static_cast<double>(values[i + lane]);
            sums[lane] += value * value;
        }
    for (std::size_t lane = 0; i < count; ++i, ++lane) {
        const auto value = static_cast<double>(values[i]);
        sums[lane] += value * value;
    }
    double sum = 0.0;
    for (const double part : sums)
        sum += part;
    return sum;
}

} // namespace

template <class T>
double SgdOptimizer<T>::norm(std::span<const T> mean) {
    std::vector<double> partial((mean.size() + kGrain - 1) / kGrain);
    parallelRanges(mean.size(), kGrain, [&](std::size_t begin, std::size_t end) {
        partial[begin / kGrain] = sumOfSquares(mean.data() + begin, end - begin);
    });
    double sum = 0.0;
    for (const double part : partial)
        sum += part;
    return std::sqrt(sum);
}

template <class T>
std::span<T> SgdOptimizer<T>::ensureVelocity() {
    if (velocity_.empty())
        velocity_ = AlignedBuffer<T>(parameters_);
    return velocity_.span();
}

template <class T>
SgdOutcome SgdOptimizer<T>::update(std::span<T> parameters, std::span<const T> mean,
                                   double meanNorm, const SgdSettings& settings) {
    GRADLAB_CHECK(parameters.size() == parameters_ && mean.size() == parameters_, parameters.size(),
                  mean.size(), parameters_);
    // In update units everything carries η once; unit = η then, and the step itself is 1.
    const bool scaled = settings.updateUnits && settings.lr > 0.0;
    const double unit = scaled ? settings.lr : 1.0;
    double scale = 1.0;
    if (settings.clip > 0.0)
        scale = std::min(1.0, settings.clip * unit / (meanNorm + 1e-6 * unit));
    const T g = static_cast<T>(scale);
    const T step = static_cast<T>(settings.updateUnits ? 1.0 : settings.lr);
    const T decay = static_cast<T>(settings.updateUnits ? settings.lr * settings.weightDecay
                                                        : settings.weightDecay);
    const T mu = static_cast<T>(settings.momentum);
    T* const velocity = settings.momentum > 0.0 ? ensureVelocity().data() : nullptr;
    parallelRanges(parameters_, kGrain, [&](std::size_t begin, std::size_t end) {
        T* const w = parameters.data();
        for (std::size_t i = begin; i < end; ++i) {
            const T d = mean[i] * g + decay * w[i];
            const T m = velocity == nullptr ? d : mu * velocity[i] + d;
            if (velocity != nullptr)
                velocity[i] = m;
            w[i] -= step * m;
        }
    });
    return {meanNorm / unit, scale < 1.0};
}

template class SgdOptimizer<float>;
template class SgdOptimizer<double>;

} // namespace gradlab::engine
