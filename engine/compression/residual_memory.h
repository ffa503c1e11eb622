// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Memory "residual": error feedback. What was not sent waits and is added to the next gradient.
//   gradient units: p = gamma*g + beta*e;     e <- p - D(C(p));  w <- w - lr*mean(D)
//   update units:   p = gamma*lr*g + beta*e;  e <- p - D(C(p));  w <- w - mean(D)
// The error fed back is the worker's own, p - D(C(p)), not that of the workers' average.
// Sources: Stich et al. 2018, arXiv 1809.07599; Karimireddy et al. 2019, arXiv 1901.09847 (update
// units).
#pragma once

#include "engine/compression/compressor_registry.h"
#include "engine/compression/gradient_memory.h"

namespace gradlab::engine {

[[nodiscard]] MemoryInfo residualMemoryInfo();

/// State: e. During a step p, and after noteSent p − D, stand in the gradient buffer; e itself is
/// untouched, and commit() swaps the two.
template <class T>
class ResidualMemory final : public GradientMemory<T> {
public:
    ResidualMemory(const CompressionSettings& settings, std::size_t size);
    void begin(std::span<const T> gradient, std::span<const T> parameters,
               const StepPosition& position) override;
    void peek(GradientTile<const T> unit, std::span<const std::uint32_t> firsts, std::size_t run,
              bool accumulated, std::span<T> out) const override;
    std::span<const T> accumulate(GradientTile<T> tile, std::span<T> scratch) override;
    std::span<const T> recall(GradientTile<T> tile, std::span<T> scratch) const override;
    void noteSent(GradientTile<T> unit, std::span<const std::uint32_t> indices,
                  std::span<const T> values, std::size_t most) override;
    void noteSentTile(GradientTile<T> tile, std::span<const T> values) override;
    bool remembers() const noexcept override { return true; }
    void commit(AlignedBuffer<T>& gradient) override;
    void discard() noexcept override {}
    std::vector<NamedState<T>> state() override;
    void configure(const CompressionSettings& settings) override;

private:
    AlignedBuffer<T> residual_; ///< e
    double gamma_ = 1.0;
    T beta_ = T{1};
    bool updateUnits_ = false;
    T weight_ = T{1}; ///< of this step's gradient: gamma, times lr in update units
};

} // namespace gradlab::engine
