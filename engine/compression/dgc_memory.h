// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Memory "dgc": momentum correction. A velocity is accumulated, and what was not sent of it waits.
//   g <- g + lambda*w;  local clip: g <- g * min(1, N^(-1/2)*thr / |g|), on the norm of all tensors
//   u <- m*u + g;  v <- v + u            (Nesterov: u <- m*(u + g);  v <- v + u + g)
//   send D(C(v));  v <- v - D(C(v));     masking: u <- 0 where sent
// The outer optimiser is plain SGD: momentum acts here only.
// Source: Lin, Han, Mao, Wang, Dally 2018, "Deep Gradient Compression", arXiv 1712.01887,
// section 3.
#pragma once

#include "engine/compression/compressor_registry.h"
#include "engine/compression/gradient_memory.h"

namespace gradlab::engine {

[[nodiscard]] MemoryInfo dgcMemoryInfo();

/// State: u and v, whole-model vectors that never alias. During a step the new u stands in the
/// gradient buffer and v + u is computed tile by tile; with Nesterov the new v stands in the
/// gradient buffer and the new u in a buffer of its own. commit() swaps, subtracts what was sent
/// and masks. Where u is masked, the addition of u to v may wait for the next step, which goes
/// through both anyway; whoever looks at the state finds it done.
template <class T>
class DgcMemory final : public GradientMemory<T> {
public:
    DgcMemory(const CompressionSettings& settings, std::size_t size, std::uint32_t workers);
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
    void discard() noexcept override;
    std::vector<NamedState<T>> state() override;
    void configure(const CompressionSettings& settings) override;

private:
    /// λ·w added and the local clip applied.
    [[nodiscard]] T prepared(T gradient, std::size_t index) const {
        return clipScale_ * (decay_ == T{0} ? gradient : gradient + decay_ * parameters_[index]);
    }
    void measureClip(std::span<const T> gradient);
    /// v ← v + u in [begin, end).
    void addVelocity(std::size_t begin, std::size_t end) noexcept;
    /// The same wherever it is owed.
    void settle() noexcept;
    void forgetSent() noexcept;

    AlignedBuffer<T> velocity_;              ///< u
    AlignedBuffer<T> accumulation_;          ///< v
    AlignedBuffer<T> nextVelocity_;          ///< Nesterov only: this step's u
    std::vector<std::uint64_t> sentIndices_; ///< in the whole model, this step
    std::vector<T> sentValues_;
    std::size_t mostSent_ = 0; ///< that there could be by now
    std::size_t unitsSent_ = 0;
    std::span<const T> parameters_; ///< of this step; the caller's, valid until the part is encoded
    T momentum_ = T{0};
    T decay_ = T{0};
    T clipScale_ = T{1};
    double clipNorm_ = 0.0; ///< N^(−1/2) · threshold; 0 = off
    std::uint32_t workers_ = 1;
    bool masking_ = true;
    bool nesterov_ = false;
    bool owed_ = false; ///< v lacks the last step's u, but for the settled_ places
    struct Range {
        std::size_t begin = 0;
        std::size_t end = 0;
    };
    std::vector<Range> settled_; ///< tiles of this step, joined: one a unit
};

} // namespace gradlab::engine
