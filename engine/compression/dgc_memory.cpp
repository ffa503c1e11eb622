// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/dgc_memory.h"

#include "engine/compression/compression_parameters.h"
#include "engine/compression/tile_kernels.h"
#include "engine/core/check.h"
#include "engine/core/reserve.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gradlab::engine {

namespace {

constexpr const char* kSource = "Lin et al. 2018, arXiv 1712.01887";

FieldSpec dgcField(const char* name, const char* option, FieldType type, FieldValue value) {
    FieldSpec field;
    field.path = std::string("compression.") + name;
    field.option = option;
    field.type = type;
    field.defaultValue = std::move(value);
    field.source = kSource;
    field.usedWhen = {{"compression.memory", {"dgc"}}};
    return field;
}

FieldSpec momentumParameter() {
    FieldSpec field = dgcField("dgc_momentum", "--dgc-momentum", FieldType::Real, 0.5);
    field.minimum = 0.0;
    field.maximum = 1.0;
    field.maximumExcluded = true;
    field.label = "Local momentum";
    field.help = "Momentum that each worker applies before it compresses; the optimiser's own must "
                 "then be 0.";
    field.equation = "u <- m*u + g, v <- v + u";
    return field;
}

FieldSpec maskingParameter() {
    FieldSpec field = dgcField("masking", "--no-masking", FieldType::Boolean, true);
    field.label = "Momentum factor masking";
    field.help = "Clears the velocity of every element that was sent.";
    field.equation = "u <- u*(1 - M)";
    field.advanced = true;
    return field;
}

FieldSpec nesterovParameter() {
    FieldSpec field = dgcField("nesterov", "--nesterov", FieldType::Boolean, false);
    field.label = "Nesterov";
    field.help = "Uses Nesterov's form of the local momentum.";
    field.equation = "u <- m*(u + g), v <- v + u + g";
    field.advanced = true;
    return field;
}

FieldSpec localClipParameter() {
    FieldSpec field = dgcField("local_clip", "--local-clip", FieldType::Real, 0.0);
    field.minimum = 0.0;
    field.label = "Local clip";
    field.help = "Limits the norm of a worker's gradient before it is accumulated; 0 is off. "
                 "Switches overlap off, as it needs the whole gradient first.";
    field.equation = "|g| <= threshold/sqrt(N)";
    field.advanced = true;
    return field;
}

} // namespace

MemoryInfo dgcMemoryInfo() {
    return {"dgc",
            "DGC (momentum correction)",
            "Accumulates a local velocity; what was not sent of it waits.",
            {momentumParameter(), maskingParameter(), nesterovParameter(), localClipParameter()}};
}

template <class T>
DgcMemory<T>::DgcMemory(const CompressionSettings& settings, std::size_t size,
                        std::uint32_t workers)
    : velocity_(size), accumulation_(size), workers_(workers) {
    configure(settings);
}

template <class T>
void DgcMemory<T>::configure(const CompressionSettings& settings) {
    settle();
    momentum_ = static_cast<T>(realParameter(settings, "dgc_momentum"));
    masking_ = booleanParameter(settings, "masking");
    nesterov_ = booleanParameter(settings, "nesterov");
    clipNorm_ = realParameter(settings, "local_clip") / std::sqrt(static_cast<double>(workers_));
    const std::size_t needed = nesterov_ ? velocity_.size() : 0;
    if (nextVelocity_.size() != needed)
        nextVelocity_ = AlignedBuffer<T>(needed);
}

template <class T>
void DgcMemory<T>::begin(std::span<const T> gradient, std::span<const T> parameters,
                         const StepPosition& position) {
    parameters_ = parameters;
    decay_ = static_cast<T>(position.weightDecay);
    clipScale_ = T{1};
    GRADLAB_CHECK(decay_ == T{0} || parameters.size() == velocity_.size(), parameters.size(),
                  velocity_.size());
    if (clipNorm_ > 0.0)
        measureClip(gradient);
}

/// Norm of all tensors together, piece after piece. A norm that is not finite leaves the gradient
/// as it is, for the finiteness check to name its tensor.
template <class T>
void DgcMemory<T>::measureClip(std::span<const T> gradient) {
    std::array<T, kNormElements> tile;
    double squared = 0.0;
    for (std::size_t first = 0; first < gradient.size(); first += kNormElements) {
        const std::size_t count = std::min(kNormElements, gradient.size() - first);
        for (std::size_t i = 0; i < count; ++i)
            tile[i] = prepared(gradient[first + i], first + i);
        squared += sumSquares(std::span<const T>(tile.data(), count));
    }
    const double norm = std::sqrt(squared);
    if (std::isfinite(norm) && norm > clipNorm_)
        clipScale_ = static_cast<T>(clipNorm_ / norm);
}

template <class T>
void DgcMemory<T>::peek(GradientTile<const T> unit, std::span<const std::uint32_t> firsts,
                        std::size_t run, bool accumulated, std::span<T> out) const {
    const T* const gradient = unit.gradient.data();
    const T* const u = velocity_.data() + unit.offset;
    const T* const v = accumulation_.data() + unit.offset;
    if (accumulated) {
        eachOfRuns(
            firsts, run,
            [&](std::size_t at, std::size_t to) {
                out[to] = nesterov_ ? gradient[at] : v[at] + gradient[at];
            },
            gradient, v);
        return;
    }
    const auto toBeSent = [&](std::size_t at, T velocity, T waits) {
        const T g = prepared(gradient[at], unit.offset + at);
        return nesterov_ ? waits + momentum_ * (velocity + g) + g
                         : waits + (momentum_ * velocity + g);
    };
    eachOfRuns(
        firsts, run,
        [&](std::size_t at, std::size_t to) {
            out[to] = toBeSent(at, u[at], owed_ ? v[at] + u[at] : v[at]);
        },
        gradient, u, v);
}

template <class T>
std::span<const T> DgcMemory<T>::accumulate(GradientTile<T> tile, std::span<T> scratch) {
    T* const g = tile.gradient.data();
    const T* const u = velocity_.data() + tile.offset;
    T* const v = accumulation_.data() + tile.offset;
    const std::size_t count = tile.gradient.size();
    if (decay_ != T{0} || clipScale_ != T{1})
        for (std::size_t i = 0; i < count; ++i)
            g[i] = prepared(g[i], tile.offset + i);
    if (nesterov_) {
        T* const next = nextVelocity_.data() + tile.offset;
        for (std::size_t i = 0; i < count; ++i) {
            next[i] = momentum_ * (u[i] + g[i]);
            g[i] = v[i] + next[i] + g[i];
        }
        return tile.gradient;
    }
    T* const out = scratch.data();
    if (!owed_) {
        for (std::size_t i = 0; i < count; ++i) {
            g[i] = momentum_ * u[i] + g[i];
            out[i] = v[i] + g[i];
        }
        return scratch.first(count);
    }
    for (std::size_t i = 0; i < count; ++i) {
        const T whole = v[i] + u[i];
        v[i] = whole;
        g[i] = momentum_ * u[i] + g[i];
        out[i] = whole + g[i];
    }
    if (settled_.empty() || settled_.back().end != tile.offset)
        settled_.push_back({tile.offset, tile.offset});
    settled_.back().end += count;
    return scratch.first(count);
}

template <class T>
std::span<const T> DgcMemory<T>::recall(GradientTile<T> tile, std::span<T> scratch) const {
    if (nesterov_)
        return tile.gradient;
    const T* const u = tile.gradient.data();
    const T* const v = accumulation_.data() + tile.offset;
    T* const out = scratch.data();
    for (std::size_t i = 0; i < tile.gradient.size(); ++i)
        out[i] = v[i] + u[i];
    return scratch.first(tile.gradient.size());
}

template <class T>
void DgcMemory<T>::noteSent(GradientTile<T> unit, std::span<const std::uint32_t> indices,
                            std::span<const T> values, std::size_t most) {
    mostSent_ += most;
    ++unitsSent_;
    reserveFor(sentIndices_, mostSent_, mostSent_);
    reserveFor(sentValues_, mostSent_, mostSent_);
    for (const std::uint32_t index : indices)
        sentIndices_.push_back(unit.offset + index);
    sentValues_.insert(sentValues_.end(), values.begin(), values.end());
}

template <class T>
void DgcMemory<T>::noteSentTile(GradientTile<T> tile, std::span<const T> values) {
    for (std::size_t i = 0; i < values.size(); ++i)
        sentIndices_.push_back(tile.offset + i);
    sentValues_.insert(sentValues_.end(), values.begin(), values.end());
}

template <class T>
void DgcMemory<T>::addVelocity(std::size_t begin, std::size_t end) noexcept {
    const T* const u = velocity_.data();
    T* const v = accumulation_.data();
    for (std::size_t i = begin; i < end; ++i)
        v[i] += u[i];
}

template <class T>
void DgcMemory<T>::settle() noexcept {
    if (owed_) {
        std::sort(settled_.begin(), settled_.end(),
                  [](const Range& a, const Range& b) { return a.begin < b.begin; });
        std::size_t begin = 0;
        for (const Range& range : settled_) {
            addVelocity(begin, range.begin);
            begin = range.end;
        }
        addVelocity(begin, accumulation_.size());
    }
    owed_ = false;
    settled_.clear();
}

template <class T>
void DgcMemory<T>::commit(AlignedBuffer<T>& gradient) {
    GRADLAB_CHECK(gradient.size() == velocity_.size(), gradient.size(), velocity_.size());
    settled_.clear(); // every tile was visited
    owed_ = masking_ && !nesterov_;
    if (nesterov_) {
        accumulation_.swap(gradient);
        velocity_.swap(nextVelocity_);
    } else {
        velocity_.swap(gradient);
        if (!owed_)
            addVelocity(0, accumulation_.size());
    }
    T* const u = velocity_.data();
    T* const v = accumulation_.data();
    for (std::size_t i = 0; i < sentIndices_.size(); ++i) {
        const std::uint64_t at = sentIndices_[i];
        v[at] = (owed_ ? v[at] + u[at] : v[at]) - sentValues_[i];
        if (masking_)
            u[at] = T{0}; // and v + u is v
    }
    settled_.reserve(unitsSent_);
    forgetSent();
}

template <class T>
void DgcMemory<T>::forgetSent() noexcept {
    sentIndices_.clear();
    sentValues_.clear();
    mostSent_ = 0;
    unitsSent_ = 0;
}

template <class T>
void DgcMemory<T>::discard() noexcept {
    settle();
    forgetSent();
}

template <class T>
std::vector<NamedState<T>> DgcMemory<T>::state() {
    settle();
    return {{"dgc.u", velocity_.span()}, {"dgc.v", accumulation_.span()}};
}

template class DgcMemory<float>;
template class DgcMemory<double>;

} // namespace gradlab::engine
