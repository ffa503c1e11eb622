// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// One worker's way from gradient to bytes: memory and compressor of every unit, run tile by tile in
// one pass. A step changes state once: encodePart() keeps what it would change aside, commit()
// makes it so. Leaves out: frames and sockets (transport), summing (Aggregator).
#pragma once

#include "engine/compression/compressed_gradient.h"
#include "engine/compression/message_plan.h"
#include "engine/compression/seen_copy.h"
#include "engine/core/aligned_buffer.h"
#include "engine/core/export.h"
#include "engine/core/precision.h"
#include "engine/training/experiment.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gradlab::engine {

/// Who compresses; fixed for a run.
struct CompressorIdentity {
    std::uint32_t seed = 0;
    std::uint32_t rank = 0;
    std::uint32_t workers = 1; ///< configured N (local clip, shared patterns)
};

/// Where training stands; decides random numbers and warm-up.
struct StepPosition {
    std::uint64_t step = 0;   ///< from 1
    std::uint64_t epoch = 0;  ///< from 0
    double lr = 0.0;          ///< for memory_units = update
    double weightDecay = 0.0; ///< λ; used only when the memory adds λ·w itself (dgc)
};

/// Sums over the units of one step; norms are squared so that they add.
struct CompressionStats {
    std::uint64_t selected = 0;
    std::uint64_t nonzero = 0;
    double paperBytes = 0.0;
    double boundBytes = 0.0; ///< information bound: k values + log2 C(n,k) bits, level entropy, …
    double squaredNorm = 0.0;     ///< ‖p‖²
    double squaredKept = 0.0;     ///< ‖D(p)‖²
    double squaredError = 0.0;    ///< ‖p − D(p)‖²
    double squaredResidual = 0.0; ///< of the memory once this step is committed; 0 without memory
    std::uint32_t denseFallbacks = 0;
    std::uint32_t adjustPasses = 0; ///< DGC's threshold corrections
};

/// What happens to a memory's content when method or memory change mid-run.
enum class MemoryChange {
    Keep,  ///< it waits in the new memory; with memory none it rests until there is one again
    Flush, ///< it is sent whole, exactly and dense, with the next step; see flush_memory.h
    Drop   ///< it is lost
};
/// "keep", "flush" or "drop": in logs, scripts and on the wire.
[[nodiscard]] GRADLAB_ENGINE_EXPORT const char* toString(MemoryChange change) noexcept;
/// Nothing for any other name.
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::optional<MemoryChange>
memoryChangeOf(std::string_view name) noexcept;

/// A piece of state for checkpoints: survives save → load bit for bit.
template <class T>
struct NamedState {
    std::string name;    ///< "residual", "dgc.u", "dgc.v"
    std::span<T> values; ///< whole-model vectors in parameter order
};

/// Not thread-safe; one object a worker. `compression` must be resolved (no auto left except
/// codes).
template <class T>
class GradientCompressor {
public:
    GradientCompressor(const MessagePlan& plan, const CompressionSettings& compression,
                       const CompressorIdentity& identity);
    ~GradientCompressor();
    GradientCompressor(GradientCompressor&&) noexcept;
    GradientCompressor& operator=(GradientCompressor&&) noexcept;
    GradientCompressor(const GradientCompressor&) = delete;
    GradientCompressor& operator=(const GradientCompressor&) = delete;

    /// Encodes the units of part `part`. `gradient` and `parameters` are whole-model vectors; the
    /// part's ranges of `gradient` are overwritten. Writes the body at out[headerRoom…]; `out` is
    /// resized. Adds to stats(). Same bits for any number of threads of the calling arena.
    /// @throws NumericError naming step and tensor when the gradient (or what is to be sent) is not
    /// finite;
    ///         then call discard().
    void encodePart(std::size_t part, std::span<T> gradient, std::span<const T> parameters,
                    const StepPosition& position, std::size_t headerRoom, ByteBuffer& out);

    /// Makes the step's changes final, after every part was encoded. May swap `gradient` with its
    /// own buffer: its content is unspecified afterwards.
    void commit(AlignedBuffer<T>& gradient);
    /// Forgets the step; state is as before it.
    void discard() noexcept;

    /// Of the parts encoded since the last commit or discard.
    [[nodiscard]] const CompressionStats& stats() const noexcept;
    /// Kept ratio that the method uses at `epoch` (DGC's warm-up), 1 for none and QSGD and after a
    /// step that was flushed.
    [[nodiscard]] double effectiveRatio(std::uint64_t epoch) const;
    /// Random numbers that QSGD uses in place of its own, by unit id; for oracles and tools. Empty
    /// = own.
    void setUniforms(std::vector<std::vector<float>> uniforms);

    /// Copies what the units of later calls of encodePart() have to send; null: not. It must
    /// outlive them.
    void copySeen(SeenCopy<T>* seen) noexcept;
    /// Whether what is not sent waits for the next step.
    [[nodiscard]] bool remembers() const noexcept;

    /// Takes new parameters, method or memory at a step boundary. Flush takes a step: until it is
    /// committed what waits is the state, and another change may still drop it.
    void reconfigure(const CompressionSettings& compression, MemoryChange change);
    /// State to save or load. Buffers exist from construction; loading writes into the spans.
    [[nodiscard]] std::vector<NamedState<T>> state();
    /// Scalars of the memory that checkpoints keep as text (previous lr of update units, …).
    [[nodiscard]] std::string scalarState() const;
    void setScalarState(const std::string& text);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

extern template class GradientCompressor<float>;
extern template class GradientCompressor<double>;

} // namespace gradlab::engine
