// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/part_sum.h"

#include "engine/core/reserve.h"

#include <algorithm>
#include <bit>

namespace gradlab::engine {
namespace {

constexpr std::size_t kWordBits = 64;

std::size_t wordsOf(std::size_t elements) {
    return (elements + kWordBits - 1) / kWordBits;
}

} // namespace

template <class T>
PartSum<T>::PartSum(const MessagePlan& plan)
    : plan_(plan), sums_(plan.size()), sparse_(plan.units().size(), false) {
    std::size_t words = 0;
    for (const CompressionUnit& unit : plan_.units()) {
        firstWord_.push_back(words);
        words += wordsOf(unit.size);
    }
    touched_ = AlignedBuffer<std::uint64_t>(words);
}

template <class T>
void PartSum<T>::add(std::size_t part, const PartBodies& bodies) {
    const std::vector<std::uint32_t>& ids = plan_.parts()[part];
    try {
        for (std::size_t place = 0; place < ids.size(); ++place)
            addUnit(ids[place], place, bodies);
    } catch (...) {
        clear(part);
        throw;
    }
}

template <class T>
void PartSum<T>::addUnit(std::uint32_t unit, std::size_t place, const PartBodies& bodies) {
    bool sparse = true;
    for (std::size_t body = 0; body < bodies.bodies(); ++body)
        sparse = sparse && engine::isSparse(bodies.view(body, place).descriptor);
    sparse_[unit] = sparse;
    for (std::size_t body = 0; body < bodies.bodies(); ++body) {
        const UnitView& view = bodies.view(body, place);
        if (sparse)
            addSparse(view, plan_.units()[unit]);
        else
            decoder_.addDecoded(view, plan_.units()[unit], range(unit));
    }
}

template <class T>
void PartSum<T>::addSparse(const UnitView& view, const CompressionUnit& unit) {
    decoder_.decodeSparse(view, unit, indices_, values_);
    const std::span<T> sums = range(unit.id);
    const std::span<std::uint64_t> touched = touchedWords(unit.id);
    for (std::size_t i = 0; i < indices_.size(); ++i) {
        const std::size_t index = indices_[i];
        sums[index] += values_[i];
        touched[index / kWordBits] |= std::uint64_t{1} << (index % kWordBits);
    }
}

template <class T>
void PartSum<T>::takeSparse(std::uint32_t unit, std::size_t count,
                            std::vector<std::uint32_t>& indices, std::vector<T>& values) {
    indices.clear();
    values.clear();
    const std::span<T> sums = range(unit);
    const std::span<std::uint64_t> touched = touchedWords(unit);
    std::size_t total = 0;
    for (const std::uint64_t bits : touched)
        total += static_cast<std::size_t>(std::popcount(bits));
    reserveFor(indices, total, sums.size());
    reserveFor(values, total, sums.size());
    for (std::size_t word = 0; word < touched.size(); ++word) {
        for (std::uint64_t bits = touched[word]; bits != 0; bits &= bits - 1) {
            const std::size_t index =
                word * kWordBits + static_cast<std::size_t>(std::countr_zero(bits));
            indices.push_back(static_cast<std::uint32_t>(index));
            values.push_back(sums[index]);
            sums[index] = T{0};
        }
        touched[word] = 0;
    }
    divideInto<T>(values, values, count);
}

template <class T>
std::span<T> PartSum<T>::divide(std::uint32_t unit, std::size_t count) {
    const std::span<T> sums = range(unit);
    divideInto<T>(sums, sums, count);
    return sums;
}

template <class T>
void PartSum<T>::clearUnit(std::uint32_t unit) {
    const std::span<T> sums = range(unit);
    std::fill(sums.begin(), sums.end(), T{0});
    const std::span<std::uint64_t> touched = touchedWords(unit);
    std::fill(touched.begin(), touched.end(), std::uint64_t{0});
}

template <class T>
void PartSum<T>::clear(std::size_t part) {
    for (const std::uint32_t unit : plan_.parts()[part])
        clearUnit(unit);
}

template <class T>
std::span<T> PartSum<T>::range(std::uint32_t unit) {
    return sums_.span().subspan(plan_.units()[unit].offset, plan_.units()[unit].size);
}

template <class T>
std::span<std::uint64_t> PartSum<T>::touchedWords(std::uint32_t unit) {
    return touched_.span().subspan(firstWord_[unit], wordsOf(plan_.units()[unit].size));
}

template <class T>
void divideInto(std::span<T> out, std::span<const T> sums, std::size_t count) {
    const T divisor = static_cast<T>(count);
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = sums[i] / divisor + T{0};
}

template class PartSum<float>;
template class PartSum<double>;
template void divideInto<float>(std::span<float>, std::span<const float>, std::size_t);
template void divideInto<double>(std::span<double>, std::span<const double>, std::size_t);

} // namespace gradlab::engine
