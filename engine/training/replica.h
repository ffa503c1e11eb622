// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A process's copy of the model: parameters, optimizer state and the mean gradient of the step in
// flight. Every replica applies the update itself; equal means give equal bits. Leaves out: who
// computed the gradients.
#pragma once

#include "engine/core/aligned_buffer.h"
#include "engine/core/safetensors.h"
#include "engine/model/parameter_layout.h"
#include "engine/training/aggregator.h"
#include "engine/training/sgd_optimizer.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace gradlab::engine {

template <class T>
class Replica {
public:
    Replica(const ModelShape& shape, const MessagePlan& plan, const AggregatorSettings& settings);

    /// From the seed, or from a safetensors file with PyTorch's names.
    /// @throws DataError naming file and tensor.
    void initialise(std::uint32_t seed, const std::string& initFile);
    void save(const std::string& file) const;
    /// Parameters under PyTorch's names, and optimizer.velocity where it exists. The replica must
    /// not change until the writer has written.
    void addTo(SafetensorsWriter& writer);
    /// The reverse. @throws DataError naming file and tensor
    void loadFrom(const SafetensorsFile& file);

    /// Norm of the mean that the exchange has completed.
    /// @throws NumericError naming step and tensor if it is not finite; nothing has changed then.
    [[nodiscard]] double checkedMeanNorm(std::uint64_t step) const;
    /// In the caller's compute arena.
    SgdOutcome update(double meanNorm, const SgdSettings& settings);

    [[nodiscard]] std::span<T> parameters() noexcept { return parameters_.span(); }
    [[nodiscard]] std::span<const T> parameters() const noexcept { return parameters_.span(); }
    [[nodiscard]] const ParameterLayout& layout() const noexcept { return layout_; }
    [[nodiscard]] Aggregator& aggregator() noexcept { return *aggregator_; }
    [[nodiscard]] SgdOptimizer<T>& optimizer() noexcept { return optimizer_; }
    /// XXH3-64 of the parameters' bytes.
    [[nodiscard]] std::uint64_t hash() const noexcept;

private:
    [[nodiscard]] std::span<const T> mean() const noexcept;

    ModelShape shape_;
    ParameterLayout layout_;
    AlignedBuffer<T> parameters_;
    SgdOptimizer<T> optimizer_;
    std::unique_ptr<Aggregator> aggregator_;
};

extern template class Replica<float>;
extern template class Replica<double>;

} // namespace gradlab::engine
