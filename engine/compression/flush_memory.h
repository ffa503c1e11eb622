// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The one step after a change of method or memory that flushes: what waited goes out whole, with
// the step's gradient, in one dense message of exact values.
//   p = (what the new memory, still empty, would send) + f·w;   all of p is sent;   w is gone
// w is what waited: the old memory's e or v. DGC's velocity u is momentum, not something that
// waits: it goes with its memory. So the sum of what is sent is the sum of the gradients that came
// in, for every pair of old and new. The optimizer clips this step's mean like any other.
//   f = 1; or 1/lr (lr) where w was in update units (gradient units) and the new mean is not: with
//   lr = 0 nothing of updates can be sent as gradients, and f is 0.
#pragma once

#include "engine/compression/gradient_memory.h"

namespace gradlab::engine {

template <class T>
class FlushMemory final : public GradientMemory<T> {
public:
    /// `next` outlives this and is empty; `updates`: waiting holds lr·g.
    FlushMemory(GradientMemory<T>& next, bool nextUpdates, AlignedBuffer<T> waiting, bool updates);
    /// Another change before the step.
    void setNext(GradientMemory<T>& next, bool nextUpdates) noexcept;

    void begin(std::span<const T> gradient, std::span<const T> parameters,
               const StepPosition& position) override;
    void peek(GradientTile<const T> unit, std::span<const std::uint32_t> firsts, std::size_t run,
              bool accumulated, std::span<T> out) const override;
    std::span<const T> accumulate(GradientTile<T> tile, std::span<T> scratch) override;
    std::span<const T> recall(GradientTile<T> tile, std::span<T> scratch) const override;
    /// Never: the message is dense.
    void noteSent(GradientTile<T> unit, std::span<const std::uint32_t> indices,
                  std::span<const T> values, std::size_t most) override;
    /// `values` are all of the tile's p.
    void noteSentTile(GradientTile<T> tile, std::span<const T> values) override;
    bool remembers() const noexcept override { return next_->remembers(); }
    void commit(AlignedBuffer<T>& gradient) override { next_->commit(gradient); }
    void discard() noexcept override { next_->discard(); }
    std::vector<NamedState<T>> state() override { return {{"flush", waiting_.span()}}; }
    void configure(const CompressionSettings& settings) override { next_->configure(settings); }

    [[nodiscard]] bool inUpdateUnits() const noexcept { return updates_; }

private:
    [[nodiscard]] std::span<const T> join(GradientTile<T> tile, std::span<const T> values,
                                          std::span<T> out) const;

    GradientMemory<T>* next_;
    AlignedBuffer<T> waiting_; ///< w
    AlignedBuffer<T> own_;     ///< a tile of what the new memory would send
    T factor_ = T{1};          ///< f
    bool updates_;
    bool nextUpdates_;
};

extern template class FlushMemory<float>;
extern template class FlushMemory<double>;

} // namespace gradlab::engine
