// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/replica.h"

#include "engine/core/errors.h"
#include "engine/core/safetensors.h"
#include "engine/model/language_model.h"
#include "engine/model/parameter_file.h"

#include <xxhash.h>

#include <cmath>
#include <utility>

namespace gradlab::engine {

namespace {

constexpr const char* kVelocity = "optimizer.velocity";

bool allFinite(const auto& values) {
    for (const auto value : values)
        if (!std::isfinite(value))
            return false;
    return true;
}

} // namespace

template <class T>
Replica<T>::Replica(const ModelShape& shape, const MessagePlan& plan,
                    const AggregatorSettings& settings)
    : shape_(shape), layout_(shape), parameters_(layout_.size()), optimizer_(layout_.size()),
      aggregator_(Aggregator::create(plan, settings)) {}

template <class T>
void Replica<T>::initialise(std::uint32_t seed, const std::string& initFile) {
    if (initFile.empty()) {
        initialiseParameters<T>(layout_, shape_, seed, parameters_.span());
        return;
    }
    const SafetensorsFile file = SafetensorsFile::read(initFile);
    for (const TensorInfo& tensor : layout_.tensors()) {
        const TensorView& view = file.tensor(tensor.name);
        if (view.shape != tensor.shape)
            throw DataError("wrong shape " + view.shapeText() + " of tensor " + tensor.name + ": " +
                            initFile + "; this model needs " +
                            TensorView::describeShape(tensor.shape));
        const std::span<T> values = parameters_.span().subspan(tensor.offset, tensor.size);
        file.copyTo(tensor.name, values);
        if (!allFinite(values))
            throw DataError("tensor " + tensor.name + " has a value that is not finite: " +
                            initFile + "; start from finite parameters");
    }
}

template <class T>
void Replica<T>::save(const std::string& file) const {
    SafetensorsWriter writer;
    addTensors(writer, layout_, parameters());
    writer.setMetadata("format", "pt");
    writer.write(file);
}

template <class T>
void Replica<T>::addTo(SafetensorsWriter& writer) {
    addTensors(writer, layout_, std::as_const(*this).parameters());
    const std::span<const T> velocity = optimizer_.velocity();
    if (!velocity.empty())
        writer.add(kVelocity, {velocity.size()}, velocity);
}

template <class T>
void Replica<T>::loadFrom(const SafetensorsFile& file) {
    for (const TensorInfo& tensor : layout_.tensors())
        file.copyTo(tensor.name, parameters().subspan(tensor.offset, tensor.size));
    if (file.contains(kVelocity))
        file.copyTo(kVelocity, optimizer_.ensureVelocity());
}

template <class T>
std::span<const T> Replica<T>::mean() const noexcept {
    const std::span<const std::byte> bytes = aggregator_->mean();
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

template <class T>
double Replica<T>::checkedMeanNorm(std::uint64_t step) const {
    const double norm = SgdOptimizer<T>::norm(mean());
    if (std::isfinite(norm))
        return norm;
    std::string name = "mean gradient";
    for (const TensorInfo& tensor : layout_.tensors())
        if (!allFinite(mean().subspan(tensor.offset, tensor.size))) {
            name = tensor.name;
            break;
        }
    throw NumericError(step, name,
                       "the mean gradient is not finite: step " + std::to_string(step) +
                           ", tensor " + name + "; use a lower learning rate");
}

template <class T>
SgdOutcome Replica<T>::update(double meanNorm, const SgdSettings& settings) {
    return optimizer_.update(parameters_.span(), mean(), meanNorm, settings);
}

template <class T>
std::uint64_t Replica<T>::hash() const noexcept {
    return XXH3_64bits(parameters_.data(), parameters_.size() * sizeof(T));
}

template class Replica<float>;
template class Replica<double>;

} // namespace gradlab::engine
