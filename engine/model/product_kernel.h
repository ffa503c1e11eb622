// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The innermost product: a tile of a few rows by a few vectors of the result stays in registers
// while k runs. Written with Eigen's packets, so it follows the instruction set that the engine is
// compiled for; a fused multiply-add is used where that set has one. For the engine's .cpp files
// only.
#pragma once

#include "engine/model/eigen_core.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace gradlab::engine {

template <class T>
struct ProductKernel {
    using Packet = typename Eigen::internal::packet_traits<T>::type;
    static constexpr std::size_t kLanes = Eigen::internal::unpacket_traits<Packet>::size;
    /// 32 registers hold 8×3 sums, three vectors of b and one of a; 16 hold 4×3.
    static constexpr std::size_t kRows = kLanes * sizeof(T) == 64 ? 8 : 4;
    static constexpr std::size_t kVectors = 3;
    static constexpr std::size_t kColumns = kVectors * kLanes;

    /// Element (i, k) of the left-hand side is at[i · rowStride + k · depthStride].
    struct Left {
        const T* at;
        std::size_t rowStride;
        std::size_t depthStride;
    };
    /// Row k of the right-hand side's panel is at[k · stride …]; full vectors can be read.
    struct Right {
        const T* at;
        std::size_t stride;
    };
    /// A tile of the result: `cols` ≤ its vectors' elements are written.
    struct Result {
        T* at;
        std::size_t stride;
        std::size_t cols;
        bool accumulate;
    };

    /// rows ≤ kRows; vectors = ⌈result.cols / kLanes⌉ ≤ kVectors.
    static void run(std::size_t rows, std::size_t depth, const Left& a, const Right& b,
                    const Result& c) {
        const std::size_t vectors = (c.cols + kLanes - 1) / kLanes;
        kTable[rows - 1][vectors - 1](depth, a, b, c);
    }

private:
    using Function = void (*)(std::size_t, const Left&, const Right&, const Result&);

    // NOLINTBEGIN(modernize-avoid-c-arrays): these become registers; packets warn as template
    // arguments.
    template <std::size_t Rows, std::size_t Vectors>
    static void tile(std::size_t depth, const Left& a, const Right& b, const Result& c) {
        using namespace Eigen::internal;
        Packet sum[Rows][Vectors];
#pragma GCC unroll 8
        for (std::size_t i = 0; i < Rows; ++i)
#pragma GCC unroll 3
            for (std::size_t v = 0; v < Vectors; ++v)
                sum[i][v] = pset1<Packet>(T{0});
        const T* left = a.at;
        const T* right = b.at;
        const std::size_t rowStride = a.rowStride;
        for (std::size_t k = 0; k < depth; ++k) {
            Packet value[Vectors];
#pragma GCC unroll 3
            for (std::size_t v = 0; v < Vectors; ++v)
                value[v] = ploadu<Packet>(right + v * kLanes);
#pragma GCC unroll 8
            for (std::size_t i = 0; i < Rows; ++i) {
                const Packet factor = pset1<Packet>(left[i * rowStride]);
#pragma GCC unroll 3
                for (std::size_t v = 0; v < Vectors; ++v)
                    sum[i][v] = pmadd(factor, value[v], sum[i][v]);
            }
            left += a.depthStride;
            right += b.stride;
        }
        if (c.cols == Vectors * kLanes) {
#pragma GCC unroll 8
            for (std::size_t i = 0; i < Rows; ++i)
#pragma GCC unroll 3
                for (std::size_t v = 0; v < Vectors; ++v) {
                    T* to = c.at + i * c.stride + v * kLanes;
                    pstoreu(to, c.accumulate ? padd(ploadu<Packet>(to), sum[i][v]) : sum[i][v]);
                }
        } else {
            alignas(64) T padded[Rows * Vectors * kLanes];
#pragma GCC unroll 8
            for (std::size_t i = 0; i < Rows; ++i)
#pragma GCC unroll 3
                for (std::size_t v = 0; v < Vectors; ++v)
                    pstoreu(padded + (i * Vectors + v) * kLanes, sum[i][v]);
            storeNarrow(padded, Rows, Vectors * kLanes, c);
        }
    }

    // NOLINTEND(modernize-avoid-c-arrays)

    static void storeNarrow(const T* padded, std::size_t rows, std::size_t width, const Result& c) {
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < c.cols; ++j) {
                T& to = c.at[i * c.stride + j];
                to = c.accumulate ? to + padded[i * width + j] : padded[i * width + j];
            }
    }

    template <std::size_t Rows>
    static constexpr std::array<Function, kVectors> row() {
        return {&tile<Rows, 1>, &tile<Rows, 2>, &tile<Rows, 3>};
    }
    static constexpr std::array<std::array<Function, kVectors>, 8> kTable = {
        row<1>(), row<2>(), row<3>(), row<4>(), row<5>(), row<6>(), row<7>(), row<8>()};
};

} // namespace gradlab::engine
