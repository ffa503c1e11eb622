// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Clip, weight decay, momentum, step: the study's update rule, applied alike by every replica.
//   g = mean · min(1, clip / (‖mean‖₂ + 1e-6)), norm over all tensors; d = g + λ·w; m ← μ·m + d; w
//   ← w − η·m
// With the dgc memory λ·w is already inside the mean. With memory_units = update the mean carries η
// itself:
//   g = mean · min(1, η·clip / (‖mean‖₂ + η·1e-6)); m ← μ·m + g + η·λ·w; w ← w − m
// Deterministic: norms are summed in double over fixed blocks in order; element loops have no
// order.
#pragma once

#include "engine/core/aligned_buffer.h"

#include <cstddef>
#include <span>

namespace gradlab::engine {

struct SgdSettings {
    double lr = 0.0;
    double momentum = 0.0;
    double weightDecay = 0.0; ///< 0 with the dgc memory, which adds it before the exchange
    double clip = 0.0;        ///< 0 = off
    bool updateUnits = false; ///< the mean is η times a gradient
};

struct SgdOutcome {
    double gradNorm = 0.0; ///< of the mean, before clipping, in gradient units
    bool clipped = false;
};

/// Runs in the caller's compute arena. The velocity exists only once momentum is used.
template <class T>
class SgdOptimizer {
public:
    explicit SgdOptimizer(std::size_t parameters) : parameters_(parameters) {}

    /// Norm of the mean, to be checked for finiteness before anything of the step is committed.
    [[nodiscard]] static double norm(std::span<const T> mean);
    /// `meanNorm` = norm(mean). Overwrites `parameters`.
    SgdOutcome update(std::span<T> parameters, std::span<const T> mean, double meanNorm,
                      const SgdSettings& settings);

    /// Empty until momentum was used.
    [[nodiscard]] std::span<T> velocity() noexcept { return velocity_.span(); }
    /// Makes the velocity exist, for loading a checkpoint.
    std::span<T> ensureVelocity();

private:
    std::size_t parameters_;
    AlignedBuffer<T> velocity_;
};

extern template class SgdOptimizer<float>;
extern template class SgdOptimizer<double>;

} // namespace gradlab::engine
