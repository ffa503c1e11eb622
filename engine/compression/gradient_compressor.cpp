// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/gradient_compressor.h"

#include "engine/compression/compression_parameters.h"
#include "engine/compression/compressor.h"
#include "engine/compression/compressor_registry.h"
#include "engine/compression/dense_compressor.h"
#include "engine/compression/flush_memory.h"
#include "engine/compression/gradient_memory.h"
#include "engine/core/check.h"
#include "engine/core/errors.h"

#include <algorithm>
#include <utility>

namespace gradlab::engine {

namespace {

constexpr const char* kParked = "parked ";
constexpr const char* kFlushGradients = "flush gradients";
constexpr const char* kFlushUpdates = "flush updates";

/// Whether this memory's content is lr times a gradient.
bool inUpdateUnits(const CompressionSettings& settings, const std::string& memory) {
    return memory == "residual" && textParameter(settings, "memory_units") == "update";
}

CompressionSettings requireLegal(const CompressionSettings& settings) {
    if (const std::string error = compressionError(settings); !error.empty())
        throw ExperimentError("compression.memory", error);
    return settings;
}

template <class T>
void copyState(const NamedState<T>& from, const NamedState<T>& to) {
    std::copy(from.values.begin(), from.values.end(), to.values.begin());
}

/// What waits to be sent, residual or accumulated velocity: the last piece of either memory.
template <class T>
void moveWaiting(GradientMemory<T>& from, GradientMemory<T>& to) {
    const auto source = from.state();
    const auto target = to.state();
    if (!source.empty() && !target.empty())
        copyState(source.back(), target.back());
}

} // namespace

template <class T>
struct GradientCompressor<T>::Impl {
    MessagePlan plan;
    CompressionSettings settings;
    CompressorIdentity identity;
    std::unique_ptr<Compressor<T>> compressor;
    std::unique_ptr<GradientMemory<T>> memory;
    /// With memory none: what a memory held when it was switched off to be kept; null if nothing.
    std::unique_ptr<GradientMemory<T>> parked;
    std::string parkedName;
    /// Until the next step is committed: what it sends whole, besides; null if nothing. It refers
    /// to `memory`, and nothing is parked meanwhile.
    std::unique_ptr<FlushMemory<T>> flush;
    bool sentWhole = false; ///< the last step was flushed
    std::vector<std::vector<float>> uniforms;
    AlignedBuffer<T> scratch{kTileElements};
    CompressionStats stats;
    SeenCopy<T>* seen = nullptr;  ///< the caller's
    std::size_t partsEncoded = 0; ///< of the open step; 0 = none is open

    Impl(MessagePlan messagePlan, const CompressionSettings& compression,
         const CompressorIdentity& who)
        : plan(std::move(messagePlan)), settings(requireLegal(compression)), identity(who),
          compressor(makeCompressor<T>(settings)),
          memory(makeMemory<T>(settings, plan.size(), identity)) {
        for (const CompressionUnit& unit : plan.units())
            if (unit.size > kMostUnitElements)
                throw ExperimentError("compression.scope",
                                      unit.name + " has " + std::to_string(unit.size) +
                                          " elements, at most 2^31 can be compressed as one");
    }

    [[nodiscard]] GradientMemory<T>& active() {
        return flush ? static_cast<GradientMemory<T>&>(*flush) : *memory;
    }

    void encodeUnit(const CompressionUnit& unit, std::span<T> gradient,
                    const StepPosition& position, UnitWriter& writer) {
        TileSource<T> source(active(), unit, gradient.subspan(unit.offset, unit.size),
                             scratch.span(), position.step, seen);
        UnitContext context;
        context.unit = &unit;
        context.step = position.step;
        context.epoch = position.epoch;
        context.identity = identity;
        if (!uniforms.empty())
            context.uniforms = uniforms.at(unit.id);
        if (flush)
            wholeCompressor().compress(source, context, writer, stats);
        else
            compressor->compress(source, context, writer, stats);
    }

    [[nodiscard]] static DenseCompressor<T> wholeCompressor() {
        CompressionSettings exact;
        exact.values = sizeof(T) == sizeof(double) ? "f64" : "f32";
        return DenseCompressor<T>(exact);
    }

    void park(std::string name, std::unique_ptr<GradientMemory<T>> old) {
        parked = std::move(old);
        parkedName = std::move(name);
    }

    void changeMemory(const CompressionSettings& next, MemoryChange change) {
        auto fresh = makeMemory<T>(next, plan.size(), identity);
        const bool updates = inUpdateUnits(next, next.memory);
        if (change == MemoryChange::Drop)
            flush.reset();
        if (flush) { // what waits is in there already
            flush->setNext(*fresh, updates);
        } else if (change == MemoryChange::Flush) {
            takeForFlush(*fresh, updates);
        } else if (change == MemoryChange::Keep) {
            GradientMemory<T>& holder = parked ? *parked : *memory;
            if (fresh->remembers())
                moveWaiting(holder, *fresh);
            else if (memory->remembers())
                park(settings.memory, std::move(memory));
        }
        if (change != MemoryChange::Keep || fresh->remembers())
            park({}, nullptr);
        memory = std::move(fresh);
    }

    void takeForFlush(GradientMemory<T>& next, bool nextUpdates) {
        const auto pieces = (parked ? *parked : *memory).state();
        if (pieces.empty())
            return; // nothing waits
        AlignedBuffer<T> waiting(plan.size());
        copyState(pieces.back(), NamedState<T>{{}, waiting.span()});
        const bool updates = inUpdateUnits(settings, parked ? parkedName : settings.memory);
        flush = std::make_unique<FlushMemory<T>>(next, nextUpdates, std::move(waiting), updates);
    }
};

const char* toString(MemoryChange change) noexcept {
    switch (change) {
    case MemoryChange::Keep:
        return "keep";
    case MemoryChange::Flush:
        return "flush";
    case MemoryChange::Drop:
        break;
    }
    return "drop";
}

std::optional<MemoryChange> memoryChangeOf(std::string_view name) noexcept {
    for (const MemoryChange change : {MemoryChange::Keep, MemoryChange::Flush, MemoryChange::Drop})
        if (name == toString(change))
            return change;
    return std::nullopt;
}

template <class T>
GradientCompressor<T>::GradientCompressor(const MessagePlan& plan,
                                          const CompressionSettings& compression,
                                          const CompressorIdentity& identity)
    : impl_(std::make_unique<Impl>(plan, compression, identity)) {}
template <class T>
GradientCompressor<T>::~GradientCompressor() = default;
template <class T>
GradientCompressor<T>::GradientCompressor(GradientCompressor&&) noexcept = default;
template <class T>
GradientCompressor<T>& GradientCompressor<T>::operator=(GradientCompressor&&) noexcept = default;

template <class T>
void GradientCompressor<T>::encodePart(std::size_t part, std::span<T> gradient,
                                       std::span<const T> parameters, const StepPosition& position,
                                       std::size_t headerRoom, ByteBuffer& out) {
    Impl& impl = *impl_;
    GRADLAB_CHECK(part < impl.plan.parts().size(), part, impl.plan.parts().size());
    GRADLAB_CHECK(gradient.size() == impl.plan.size(), gradient.size(), impl.plan.size());
    GRADLAB_CHECK(impl.partsEncoded < impl.plan.parts().size(), impl.partsEncoded);
    if (impl.partsEncoded == 0) {
        impl.stats = {};
        impl.sentWhole = impl.flush != nullptr;
        impl.active().begin(gradient, parameters, position);
    }
    ++impl.partsEncoded;
    const std::vector<std::uint32_t>& ids = impl.plan.parts()[part];
    UnitWriter writer(out, headerRoom, ids.size());
    for (const std::uint32_t id : ids)
        impl.encodeUnit(impl.plan.units()[id], gradient, position, writer);
    // Both memories keep p − D(p), whose norm is that of the error.
    if (impl.memory->remembers())
        impl.stats.squaredResidual = impl.stats.squaredError;
}

template <class T>
void GradientCompressor<T>::commit(AlignedBuffer<T>& gradient) {
    GRADLAB_CHECK(impl_->partsEncoded == impl_->plan.parts().size(), impl_->partsEncoded,
                  impl_->plan.parts().size());
    impl_->active().commit(gradient);
    impl_->flush.reset();
    impl_->partsEncoded = 0;
}

template <class T>
void GradientCompressor<T>::discard() noexcept {
    impl_->active().discard();
    impl_->partsEncoded = 0;
    impl_->stats = {};
}

template <class T>
const CompressionStats& GradientCompressor<T>::stats() const noexcept {
    return impl_->stats;
}

template <class T>
double GradientCompressor<T>::effectiveRatio(std::uint64_t epoch) const {
    return impl_->sentWhole ? 1.0 : impl_->compressor->effectiveRatio(epoch);
}

// It is moved from; the check does not see that in a template.
template <class T>
// NOLINTNEXTLINE(performance-unnecessary-value-param)
void GradientCompressor<T>::setUniforms(std::vector<std::vector<float>> uniforms) {
    GRADLAB_CHECK(uniforms.empty() || uniforms.size() == impl_->plan.units().size(),
                  uniforms.size(), impl_->plan.units().size());
    impl_->uniforms = std::move(uniforms);
}

template <class T>
void GradientCompressor<T>::copySeen(SeenCopy<T>* seen) noexcept {
    impl_->seen = seen;
}

template <class T>
bool GradientCompressor<T>::remembers() const noexcept {
    return impl_->memory->remembers();
}

template <class T>
void GradientCompressor<T>::reconfigure(const CompressionSettings& compression,
                                        MemoryChange change) {
    GRADLAB_CHECK(impl_->partsEncoded == 0, impl_->partsEncoded);
    const CompressionSettings next = requireLegal(compression);
    if (change != MemoryChange::Drop &&
        textParameter(next, "memory_units") != textParameter(impl_->settings, "memory_units"))
        throw ExperimentError("compression.memory_units",
                              "cannot change during a run; start a new one");
    auto compressor = makeCompressor<T>(next);
    if (next.memory != impl_->settings.memory || change != MemoryChange::Keep)
        impl_->changeMemory(next, change);
    else
        impl_->memory->configure(next);
    impl_->compressor = std::move(compressor);
    impl_->settings = next;
}

template <class T>
std::vector<NamedState<T>> GradientCompressor<T>::state() {
    return impl_->parked ? impl_->parked->state() : impl_->active().state();
}

template <class T>
std::string GradientCompressor<T>::scalarState() const {
    if (impl_->flush)
        return impl_->flush->inUpdateUnits() ? kFlushUpdates : kFlushGradients;
    return impl_->parked ? kParked + impl_->parkedName : std::string();
}

template <class T>
void GradientCompressor<T>::setScalarState(const std::string& text) {
    impl_->park({}, nullptr);
    impl_->flush.reset();
    if (text.empty())
        return;
    if (text == kFlushGradients || text == kFlushUpdates) {
        impl_->memory = makeMemory<T>(impl_->settings, impl_->plan.size(), impl_->identity);
        impl_->flush = std::make_unique<FlushMemory<T>>(
            *impl_->memory, inUpdateUnits(impl_->settings, impl_->settings.memory),
            AlignedBuffer<T>(impl_->plan.size()), text == kFlushUpdates);
        return;
    }
    const std::string prefix = kParked;
    CompressionSettings held = impl_->settings;
    held.memory = text.starts_with(prefix) ? text.substr(prefix.size()) : std::string();
    if (impl_->memory->remembers() || findMemory(held.memory) == nullptr || held.memory == "none")
        throw DataError("unknown memory state '" + text + "'; was it saved with other settings?");
    impl_->park(held.memory, makeMemory<T>(held, impl_->plan.size(), impl_->identity));
}

template class GradientCompressor<float>;
template class GradientCompressor<double>;

} // namespace gradlab::engine
