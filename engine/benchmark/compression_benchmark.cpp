// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/benchmark/compression_benchmark.h"

#include "engine/benchmark/bench_clock.h"
#include "engine/compression/gradient_compressor.h"
#include "engine/compression/gradient_file.h"
#include "engine/compression/unit_decoder.h"
#include "engine/core/allocation_count.h"
#include "engine/core/median.h"
#include "engine/core/parallel.h"
#include "engine/core/random.h"
#include "engine/training/experiment_schema.h"
#include "engine/training/gradient_exchange.h"
#include "engine/training/training_rules.h"

#include <cstring>
#include <limits>
#include <optional>
#include <vector>

namespace gradlab::engine {

namespace {

/// A gradient and how it is cut into tensors.
template <class T>
struct Gradient {
    ParameterLayout layout;
    AlignedBuffer<T> values;
};

template <class T>
Gradient<T> generated(std::size_t elements, std::uint32_t seed) {
    Gradient<T> gradient{ParameterLayout({{"gradient", {elements}, 0, elements}}),
                         AlignedBuffer<T>(elements)};
    RandomStream random(seed, RandomPurpose::Bench, 0, 0, 0);
    for (T& value : gradient.values) {
        const double sign = random.normal();
        const double size = random.normal();
        value = static_cast<T>(sign * size * size);
    }
    return gradient;
}

template <class T>
Gradient<T> fromFile(const std::filesystem::path& path) {
    const SafetensorsFile file = SafetensorsFile::read(path);
    Gradient<T> gradient{gradientLayout(file), {}};
    gradient.values = AlignedBuffer<T>(gradient.layout.size());
    for (const TensorInfo& tensor : gradient.layout.tensors())
        file.copyTo(tensor.name, gradient.values.span().subspan(tensor.offset, tensor.size));
    return gradient;
}

template <class T>
class Measurement {
public:
    Measurement(const Experiment& experiment, Gradient<T> gradient)
        : gradient_(std::move(gradient)), plan_(gradient_.layout, compressionScope(experiment)),
          compressor_(plan_, experiment.compression, compressorIdentity(experiment, 0)),
          lr_(experiment.training.lr), work_(gradient_.values.size()),
          decoded_(gradient_.values.size()), messages_(plan_.parts().size()) {}

    CompressionCost run(int rounds) {
        step(1); // pages, buffers, a memory that holds something
        std::vector<double> copy;
        std::vector<double> encode;
        std::vector<double> decode;
        const auto before = countedAllocations();
        for (int round = 0; round < rounds; ++round) {
            copy.push_back(copyOnce());
            const Times times = step(static_cast<std::uint64_t>(round) + 2);
            encode.push_back(times.encode);
            decode.push_back(times.decode);
        }
        const auto after = countedAllocations();
        cost_.copyMs = 1e3 * median(copy);
        cost_.encodeMs = 1e3 * median(encode);
        cost_.decodeMs = 1e3 * median(decode);
        cost_.allocations = before && after ? static_cast<double>(*after - *before) / rounds
                                            : std::numeric_limits<double>::quiet_NaN();
        return cost_;
    }

private:
    struct Times {
        double encode = 0.0;
        double decode = 0.0;
    };

    double copyOnce() {
        const auto begin = BenchClock::now();
        std::memcpy(work_.data(), gradient_.values.data(), work_.size() * sizeof(T));
        return secondsSince(begin);
    }

    Times step(std::uint64_t step) {
        static_cast<void>(copyOnce()); // encoding overwrites the gradient
        const AllocationScope counted;
        Times times;
        auto begin = BenchClock::now();
        for (std::size_t part = 0; part < messages_.size(); ++part)
            compressor_.encodePart(part, work_.span(), {}, {step, 0, lr_, 0.0}, kFrameHeaderBytes,
                                   messages_[part]);
        const CompressionStats stats = compressor_.stats();
        compressor_.commit(work_);
        times.encode = secondsSince(begin);
        begin = BenchClock::now();
        decodeAll();
        times.decode = secondsSince(begin);
        cost_.elements = plan_.size();
        cost_.selected = stats.selected;
        cost_.bytesPaper = stats.paperBytes;
        cost_.boundBytes = stats.boundBytes;
        return times;
    }

    void decodeAll() {
        cost_.bytes = 0.0;
        for (std::size_t part = 0; part < messages_.size(); ++part) {
            const auto& ids = plan_.parts()[part];
            splitBody(ByteView(messages_[part]).subspan(kFrameHeaderBytes),
                      static_cast<std::uint32_t>(ids.size()), views_);
            for (std::size_t i = 0; i < views_.size(); ++i) {
                const CompressionUnit& unit = plan_.units()[ids[i]];
                decoder_.decode(views_[i], unit, decoded_.span().subspan(unit.offset, unit.size));
                cost_.bytes += static_cast<double>(views_[i].payload.size());
            }
        }
    }

    Gradient<T> gradient_;
    MessagePlan plan_;
    GradientCompressor<T> compressor_;
    UnitDecoder<T> decoder_;
    double lr_;
    AlignedBuffer<T> work_;
    AlignedBuffer<T> decoded_;
    std::vector<ByteBuffer> messages_;
    std::vector<UnitView> views_;
    CompressionCost cost_;
};

template <class T>
CompressionCost measured(const CompressionBenchmark& request, const Experiment& experiment) {
    auto gradient =
        request.gradient.empty()
            ? generated<T>(request.elements, static_cast<std::uint32_t>(experiment.training.seed))
            : fromFile<T>(request.gradient);
    return Measurement<T>(experiment, std::move(gradient)).run(request.rounds);
}

} // namespace

CompressionCost measureCompression(const CompressionBenchmark& request) {
    requireValid(request.experiment);
    const Experiment experiment = resolved(request.experiment);
    CompressionCost cost;
    ComputeArena arena(static_cast<int>(experiment.cluster.threads));
    arena.execute([&] {
        cost = experiment.training.precision == "f64" ? measured<double>(request, experiment)
                                                      : measured<float>(request, experiment);
    });
    return cost;
}

} // namespace gradlab::engine
