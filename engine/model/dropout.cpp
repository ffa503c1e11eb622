// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/dropout.h"

#include "engine/core/check.h"
#include "engine/core/parallel.h"
#include "engine/core/random.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gradlab::engine {
namespace {

constexpr std::size_t kMaskBlock = 16384; // elements a task

template <class T>
void keepOrDrop(const float* uniform, std::size_t count, double rate, T* mask) {
    // uniform24 has the values i·2^−24: against the next of them float decides as double would.
    const auto threshold = static_cast<float>(std::ceil(rate * 0x1p24) * 0x1p-24);
    const T scale = static_cast<T>(1.0 / (1.0 - rate));
    for (std::size_t i = 0; i < count; ++i)
        mask[i] = uniform[i] >= threshold ? scale : T{0};
}

} // namespace

template <class T>
void fillDropoutMask(const DropoutContext& context, std::uint32_t site, std::size_t time,
                     std::size_t columns, std::size_t hidden, std::span<T> mask) {
    GRADLAB_CHECK(mask.size() == time * columns * hidden, mask.size(), time, columns, hidden);
    const std::size_t block = std::max<std::size_t>(1, kMaskBlock / hidden);
    parallelRanges(time * columns, block, [&](std::size_t first, std::size_t last) {
        constexpr std::size_t kPiece = 256;
        std::array<float, kPiece> uniform;
        for (std::size_t row = first; row < last; ++row) {
            const std::size_t t = row / columns;
            const auto lane = static_cast<std::uint32_t>(context.firstColumn + row % columns);
            for (std::size_t unit = 0; unit < hidden; unit += kPiece) {
                const std::size_t count = std::min(kPiece, hidden - unit);
                fillUniform({uniform.data(), count}, context.seed, RandomPurpose::Dropout,
                            {context.step, lane, site, 0}, t * hidden + unit);
                keepOrDrop(uniform.data(), count, context.rate, mask.data() + row * hidden + unit);
            }
        }
    });
}

template <class T>
void applyMask(std::span<const T> in, std::span<const T> mask, std::span<T> out) {
    GRADLAB_CHECK(in.size() == mask.size() && in.size() == out.size(), in.size(), mask.size());
    parallelRanges(in.size(), kMaskBlock, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i)
            out[i] = in[i] * mask[i];
    });
}

template void fillDropoutMask<float>(const DropoutContext&, std::uint32_t, std::size_t, std::size_t,
                                     std::size_t, std::span<float>);
template void fillDropoutMask<double>(const DropoutContext&, std::uint32_t, std::size_t,
                                      std::size_t, std::size_t, std::span<double>);
template void applyMask<float>(std::span<const float>, std::span<const float>, std::span<float>);
template void applyMask<double>(std::span<const double>, std::span<const double>,
                                std::span<double>);

} // namespace gradlab::engine
