// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/gradient_file.h"

#include "engine/compression/gradient_compressor.h"
#include "engine/compression/unit_decoder.h"
#include "engine/core/errors.h"
#include "engine/core/parallel.h"
#include "engine/model/parameter_file.h"
#include "engine/training/experiment_schema.h"
#include "engine/training/gradient_exchange.h"
#include "engine/training/training_rules.h"

#include <chrono>
#include <cmath>
#include <span>
#include <utility>

namespace gradlab::engine {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kStateFormat = "gradlab-compressor-state-1";

double millisecondsSince(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// One run of the tool in one arithmetic.
template <class T>
class FileCompression {
public:
    FileCompression(const GradientFileRequest& request, const Experiment& experiment,
                    const SafetensorsFile& input)
        : request_(request), experiment_(experiment), input_(input), layout_(gradientLayout(input)),
          plan_(MessagePlan::oneUnitAPart(layout_, compressionScope(experiment))),
          compressor_(plan_, experiment.compression, compressorIdentity(experiment, 0)),
          gradient_(layout_.size()), decoded_(layout_.size()) {}

    std::vector<UnitCost> run() {
        for (const TensorInfo& tensor : layout_.tensors())
            input_.copyTo(tensor.name, gradient_.span().subspan(tensor.offset, tensor.size));
        if (!request_.stateIn.empty())
            readState();
        if (!request_.uniforms.empty())
            compressor_.setUniforms(readUniforms());
        std::vector<UnitCost> costs;
        for (std::size_t part = 0; part < plan_.parts().size(); ++part)
            costs.push_back(compress(part));
        compressor_.commit(gradient_);
        if (!request_.output.empty())
            writeDecoded();
        if (!request_.stateOut.empty())
            writeState();
        return costs;
    }

private:
    UnitCost compress(std::size_t part) {
        const CompressionUnit& unit = plan_.units().at(plan_.parts()[part].front());
        const StepPosition position{request_.step, request_.epoch, experiment_.training.lr, 0.0};
        const CompressionStats before = part == 0 ? CompressionStats{} : compressor_.stats();
        ByteBuffer message;
        const auto encodeBegin = Clock::now();
        compressor_.encodePart(part, gradient_.span(), {}, position, kFrameHeaderBytes, message);
        UnitCost cost = difference(before, compressor_.stats());
        cost.encodeMs = millisecondsSince(encodeBegin);
        const auto decodeBegin = Clock::now();
        const auto views = splitBody(ByteView(message).subspan(kFrameHeaderBytes), 1);
        decoder_.decode(views.front(), unit, decoded_.span().subspan(unit.offset, unit.size));
        cost.decodeMs = millisecondsSince(decodeBegin);
        cost.name = unit.name;
        cost.elements = unit.size;
        cost.bytesMessage = message.size();
        return cost;
    }

    static UnitCost difference(const CompressionStats& before, const CompressionStats& after) {
        UnitCost cost;
        cost.selected = after.selected - before.selected;
        cost.bytesPaper = after.paperBytes - before.paperBytes;
        cost.boundBytes = after.boundBytes - before.boundBytes;
        const double norm = after.squaredNorm - before.squaredNorm;
        const double error = after.squaredError - before.squaredError;
        const double kept = after.squaredKept - before.squaredKept;
        cost.error = norm > 0.0 ? std::sqrt(std::max(0.0, error) / norm) : 0.0;
        cost.energyKept = norm > 0.0 ? kept / norm : 1.0;
        return cost;
    }

    /// "<piece>/<tensor>": the state of one tensor, under its own name.
    static std::string stateName(const std::string& piece, const TensorInfo& tensor) {
        return piece + "/" + tensor.name;
    }

    void readState() {
        const SafetensorsFile file = SafetensorsFile::read(request_.stateIn);
        const auto format = file.metadata().find("format");
        if (format == file.metadata().end() || format->second != kStateFormat)
            throw DataError("not a compressor's state: " + file.name() +
                            "; give a file that --state-out wrote");
        for (const NamedState<T>& piece : compressor_.state()) {
            for (const TensorInfo& tensor : layout_.tensors())
                file.copyTo(stateName(piece.name, tensor),
                            piece.values.subspan(tensor.offset, tensor.size));
        }
        if (file.metadata().contains("scalars"))
            compressor_.setScalarState(file.metadata("scalars"));
    }

    void writeState() {
        SafetensorsWriter writer;
        for (const NamedState<T>& piece : compressor_.state()) {
            for (const TensorInfo& tensor : layout_.tensors())
                writer.add(stateName(piece.name, tensor), tensor.shape,
                           std::span<const T>(piece.values.subspan(tensor.offset, tensor.size)));
        }
        writer.setMetadata("format", kStateFormat);
        writer.setMetadata("scalars", compressor_.scalarState());
        writer.write(request_.stateOut);
    }

    void writeDecoded() {
        SafetensorsWriter writer;
        addTensors(writer, layout_, std::as_const(decoded_).span());
        writer.write(request_.output);
    }

    [[nodiscard]] std::vector<std::vector<float>> readUniforms() const {
        const SafetensorsFile file = SafetensorsFile::read(request_.uniforms);
        std::vector<float> all(layout_.size());
        for (const TensorInfo& tensor : layout_.tensors())
            file.copyTo(tensor.name, std::span(all).subspan(tensor.offset, tensor.size));
        for (const float value : all) {
            if (!(value >= 0.0F && value < 1.0F))
                throw DataError("a random number is not in [0, 1): " + file.name() +
                                "; give uniform numbers");
        }
        std::vector<std::vector<float>> byUnit;
        for (const CompressionUnit& unit : plan_.units()) {
            const auto range = std::span(all).subspan(unit.offset, unit.size);
            byUnit.emplace_back(range.begin(), range.end());
        }
        return byUnit;
    }

    const GradientFileRequest& request_;
    const Experiment& experiment_;
    const SafetensorsFile& input_;
    ParameterLayout layout_;
    MessagePlan plan_;
    GradientCompressor<T> compressor_;
    UnitDecoder<T> decoder_;
    AlignedBuffer<T> gradient_; ///< overwritten by encoding
    AlignedBuffer<T> decoded_;
};

} // namespace

ParameterLayout gradientLayout(const SafetensorsFile& file) {
    std::vector<TensorInfo> tensors;
    for (const TensorView& tensor : file.tensors()) {
        if (tensor.elements() == 0)
            throw DataError("tensor '" + tensor.name + "' has no elements: " + file.name() +
                            "; leave it out");
        tensors.push_back({tensor.name, tensor.shape, 0, tensor.elements()});
    }
    if (tensors.empty())
        throw DataError("there is no tensor to compress: " + file.name() +
                        "; give a file with gradients");
    return ParameterLayout(std::move(tensors));
}

std::vector<UnitCost> compressGradientFile(const GradientFileRequest& request) {
    requireValid(request.experiment);
    const Experiment experiment = resolved(request.experiment);
    const SafetensorsFile input = SafetensorsFile::read(request.input);
    std::vector<UnitCost> costs;
    ComputeArena arena(static_cast<int>(experiment.cluster.threads));
    arena.execute([&] {
        if (experiment.training.precision == "f64")
            costs = FileCompression<double>(request, experiment, input).run();
        else
            costs = FileCompression<float>(request, experiment, input).run();
    });
    return costs;
}

} // namespace gradlab::engine
