// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What every compression method implements, and how the registry makes one. A compressor has no
// state that outlives a unit: only buffers that it uses again. Not thread-safe; one a worker.
#pragma once

#include "engine/compression/compressor_registry.h"
#include "engine/compression/gradient_compressor.h"
#include "engine/compression/tile_source.h"
#include "engine/compression/unit_writer.h"

#include <cstdint>
#include <memory>
#include <span>

namespace gradlab::engine {

/// What a compressor knows besides the values.
struct UnitContext {
    const CompressionUnit* unit = nullptr; ///< outlives the call
    std::uint64_t step = 0;
    std::uint64_t epoch = 0;
    CompressorIdentity identity;
    std::span<const float> uniforms; ///< given random numbers, one an element; empty: its own
};

template <class T>
class Compressor {
public:
    Compressor() = default;
    virtual ~Compressor() = default;
    Compressor(const Compressor&) = delete;
    Compressor& operator=(const Compressor&) = delete;

    /// Walks the unit once or more, writes its message, notes with the source what was sent, and
    /// adds to `stats` (not squaredResidual). @throws NumericError
    virtual void compress(TileSource<T>& source, const UnitContext& context, UnitWriter& writer,
                          CompressionStats& stats) = 0;
    /// Kept ratio in use at `epoch`; 1 where every element is sent.
    [[nodiscard]] virtual double effectiveRatio(std::uint64_t epoch) const = 0;
};

template <class T>
using CompressorFactory = std::unique_ptr<Compressor<T>> (*)(const CompressionSettings&);

/// One line of the registry.
struct MethodEntry {
    MethodInfo info;
    CompressorFactory<float> makeFloat = nullptr;
    CompressorFactory<double> makeDouble = nullptr;
};

template <template <class> class Method>
[[nodiscard]] MethodEntry methodEntry(MethodInfo info) {
    return {std::move(info),
            [](const CompressionSettings& settings) -> std::unique_ptr<Compressor<float>> {
                return std::make_unique<Method<float>>(settings);
            },
            [](const CompressionSettings& settings) -> std::unique_ptr<Compressor<double>> {
                return std::make_unique<Method<double>>(settings);
            }};
}

/// `settings` is resolved. @throws ExperimentError for an unknown method.
template <class T>
[[nodiscard]] std::unique_ptr<Compressor<T>> makeCompressor(const CompressionSettings& settings);

} // namespace gradlab::engine
