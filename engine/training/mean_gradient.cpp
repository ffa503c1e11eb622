// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/mean_gradient.h"

#include "engine/core/reserve.h"

#include <algorithm>

namespace gradlab::engine {
namespace {

/// Of a unit; with more set it is faster to clear it as a whole.
constexpr std::size_t kSparseShare = 8;

} // namespace

template <class T>
MeanGradient<T>::MeanGradient(const MessagePlan& plan)
    : plan_(plan), values_(plan.size()), supports_(plan.units().size()) {}

template <class T>
void MeanGradient<T>::setSparse(std::uint32_t unit, std::span<const std::uint32_t> indices,
                                std::span<const T> values) {
    clear(unit);
    const std::span<T> mean = range(unit);
    for (std::size_t i = 0; i < indices.size(); ++i)
        mean[indices[i]] = values[i];
    reserveFor(supports_[unit].indices, indices.size(), mean.size());
    supports_[unit].indices.assign(indices.begin(), indices.end());
    supports_[unit].known = true;
}

template <class T>
std::span<T> MeanGradient<T>::dense(std::uint32_t unit) {
    supports_[unit].known = false;
    return range(unit);
}

template <class T>
void MeanGradient<T>::clear(std::uint32_t unit) {
    const std::span<T> mean = range(unit);
    const Support& support = supports_[unit];
    if (!support.known || support.indices.size() > mean.size() / kSparseShare)
        std::fill(mean.begin(), mean.end(), T{0});
    else
        for (const std::uint32_t index : support.indices)
            mean[index] = T{0};
}

template <class T>
std::span<T> MeanGradient<T>::range(std::uint32_t unit) {
    return values_.span().subspan(plan_.units()[unit].offset, plan_.units()[unit].size);
}

template class MeanGradient<float>;
template class MeanGradient<double>;

} // namespace gradlab::engine
