// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/flush_memory.h"

#include "engine/compression/tile_kernels.h"
#include "engine/core/check.h"

#include <utility>

namespace gradlab::engine {

template <class T>
FlushMemory<T>::FlushMemory(GradientMemory<T>& next, bool nextUpdates, AlignedBuffer<T> waiting,
                            bool updates)
    : next_(&next), waiting_(std::move(waiting)), own_(kTileElements), updates_(updates),
      nextUpdates_(nextUpdates) {}

template <class T>
void FlushMemory<T>::setNext(GradientMemory<T>& next, bool nextUpdates) noexcept {
    next_ = &next;
    nextUpdates_ = nextUpdates;
}

template <class T>
void FlushMemory<T>::begin(std::span<const T> gradient, std::span<const T> parameters,
                           const StepPosition& position) {
    next_->begin(gradient, parameters, position);
    const auto lr = static_cast<T>(position.lr);
    factor_ = T{1};
    if (updates_ && !nextUpdates_)
        factor_ = lr == T{0} ? T{0} : T{1} / lr;
    else if (!updates_ && nextUpdates_)
        factor_ = lr;
}

template <class T>
void FlushMemory<T>::peek(GradientTile<const T> unit, std::span<const std::uint32_t> firsts,
                          std::size_t run, bool accumulated, std::span<T> out) const {
    next_->peek(unit, firsts, run, accumulated, out);
    const T* const w = waiting_.data() + unit.offset;
    eachOfRuns(
        firsts, run, [&](std::size_t at, std::size_t to) { out[to] += factor_ * w[at]; }, w);
}

/// `values` may stand in `out`, or in the gradient buffer, which stays the new memory's.
template <class T>
std::span<const T> FlushMemory<T>::join(GradientTile<T> tile, std::span<const T> values,
                                        std::span<T> out) const {
    const T* const w = waiting_.data() + tile.offset;
    for (std::size_t i = 0; i < values.size(); ++i)
        out[i] = values[i] + factor_ * w[i];
    return out.first(values.size());
}

template <class T>
std::span<const T> FlushMemory<T>::accumulate(GradientTile<T> tile, std::span<T> scratch) {
    return join(tile, next_->accumulate(tile, scratch), scratch);
}

template <class T>
std::span<const T> FlushMemory<T>::recall(GradientTile<T> tile, std::span<T> scratch) const {
    return join(tile, next_->recall(tile, scratch), scratch);
}

template <class T>
void FlushMemory<T>::noteSent(GradientTile<T>, std::span<const std::uint32_t> indices,
                              std::span<const T>, std::size_t) {
    GRADLAB_CHECK(false, indices.size());
}

/// The new memory sent all that was its own, and so keeps nothing.
template <class T>
void FlushMemory<T>::noteSentTile(GradientTile<T> tile, std::span<const T>) {
    next_->noteSentTile(tile, next_->recall(tile, own_.span()));
}

template class FlushMemory<float>;
template class FlushMemory<double>;

} // namespace gradlab::engine
