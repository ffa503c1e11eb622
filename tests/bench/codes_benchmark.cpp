// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Index and level codes: bytes, the information bound (log2 C(n,k) bits, entropy of the levels,
// each summed over tensors), their ratio, and the rate of one thread in bytes of f32 gradient. A
// row for each code and content. Decoding levels includes turning them into floats, decoding
// indices adding values to a dense vector.
//   codes_benchmark [--benchmark_…] [FILE.safetensors …]     each file is a gradient, one more
//   content
#include "engine/compression/index_code.h"
#include "engine/compression/level_code.h"
#include "engine/compression/selection_sender.h"
#include "engine/core/random.h"
#include "engine/core/safetensors.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

using namespace gradlab::engine;

namespace {

constexpr std::size_t kElements = std::size_t{1} << 22U;

using Tensors = std::vector<std::vector<float>>;

/// Independent draws with the tails of a gradient: a normal times a squared normal.
std::vector<float> heavyTailed(std::size_t n) {
    RandomStream random(1, RandomPurpose::Test, 0, 0, 0);
    std::vector<float> values(n);
    for (float& value : values) {
        const double x = random.normal();
        const double y = random.normal();
        value = static_cast<float>(x * y * y);
    }
    return values;
}

/// One element of a thousand is not 0.
std::vector<float> sparse(std::size_t n) {
    RandomStream random(3, RandomPurpose::Test, 0, 0, 0);
    std::vector<float> values(n, 0.0F);
    for (float& value : values)
        if (random.below(1000) == 0)
            value = random.below(2) == 0 ? 1.0F : -1.0F;
    return values;
}

Tensors tensorsOf(const std::string& path) {
    const SafetensorsFile file = SafetensorsFile::read(path);
    Tensors tensors;
    for (const TensorView& view : file.tensors()) {
        tensors.emplace_back(view.elements());
        file.copyTo(view.name, std::span<float>(tensors.back()));
    }
    return tensors;
}

/// Levels of one tensor.
struct Levels {
    std::vector<std::int16_t> values;
    std::vector<std::uint32_t> histogram;
};

/// Rounded at random to s levels of the largest magnitude.
Levels quantised(const std::vector<float>& values, std::uint32_t s) {
    RandomStream random(2, RandomPurpose::Test, 0, 0, 0);
    double norm = 0.0;
    for (const float value : values)
        norm = std::max(norm, std::fabs(double{value}));
    Levels levels{std::vector<std::int16_t>(values.size()),
                  std::vector<std::uint32_t>(2 * s + 1, 0U)};
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double r = norm == 0.0 ? 0.0 : s * (std::fabs(double{values[i]}) / norm);
        const auto q =
            static_cast<int>(std::min(std::floor(r + double{random.uniform()}), 1.0 * s));
        const int level = std::signbit(values[i]) ? -q : q;
        levels.values[i] = static_cast<std::int16_t>(level);
        ++levels.histogram[static_cast<std::size_t>(level + static_cast<int>(s))];
    }
    return levels;
}

struct LevelCase {
    std::string name;
    std::uint32_t s = 0;
    std::vector<Levels> tensors;
    std::size_t elements = 0;
    double boundBytes = 0.0;
};

/// The largest magnitudes of one tensor.
struct Selection {
    std::size_t n = 0;
    std::vector<std::uint32_t> indices;
};

Selection largest(const std::vector<float>& values, double ratio) {
    const auto kept = static_cast<std::size_t>(ratio * static_cast<double>(values.size()));
    const std::size_t k = std::max<std::size_t>(1, kept);
    std::vector<std::uint32_t> order(values.size());
    std::iota(order.begin(), order.end(), 0U);
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k - 1), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) {
                         return std::fabs(values[a]) > std::fabs(values[b]);
                     });
    order.resize(k);
    std::sort(order.begin(), order.end());
    return {values.size(), std::move(order)};
}

struct IndexCase {
    std::string name;
    std::vector<Selection> tensors;
    std::size_t elements = 0;
    double boundBytes = 0.0;
};

template <class Case>
void report(benchmark::State& state, const Case& content, std::size_t bytes) {
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(4 * content.elements));
    state.counters["bytes"] = static_cast<double>(bytes);
    state.counters["bound"] = content.boundBytes;
    state.counters["of_bound"] = static_cast<double>(bytes) / content.boundBytes;
}

void encodeLevels(benchmark::State& state, const LevelCase& content, LevelCode code) {
    LevelEncoder encoder;
    std::vector<std::byte> out;
    std::size_t bytes = 0;
    for ([[maybe_unused]] auto _ : state) {
        bytes = 0;
        for (const Levels& levels : content.tensors) {
            const LevelCoding coding = encoder.plan(levels.histogram, levels.values, code);
            out.resize(std::max(out.size(), coding.bytes));
            encoder.write(coding, content.s, levels.values,
                          std::span<std::byte>(out).first(coding.bytes));
            benchmark::DoNotOptimize(out.data());
            bytes += coding.bytes;
        }
    }
    report(state, content, bytes);
}

void decodeLevels(benchmark::State& state, const LevelCase& content, LevelCode code) {
    std::vector<std::vector<std::byte>> messages;
    std::size_t bytes = 0;
    for (const Levels& tensor : content.tensors) {
        LevelEncoder encoder;
        const LevelCoding coding = encoder.plan(tensor.histogram, tensor.values, code);
        messages.emplace_back(coding.bytes);
        encoder.write(coding, content.s, tensor.values, messages.back());
        bytes += coding.bytes;
    }
    LevelDecoder decoder;
    std::vector<std::int16_t> levels;
    std::vector<float> values;
    for ([[maybe_unused]] auto _ : state)
        for (std::size_t t = 0; t < messages.size(); ++t) {
            levels.resize(content.tensors[t].values.size());
            values.resize(levels.size());
            decoder.read(code, content.s, messages[t], levels);
            dequantise<float>(levels, 1.0F, content.s, values);
            benchmark::DoNotOptimize(values.data());
        }
    if (levels != content.tensors.back().values)
        state.SkipWithError("decoded something else");
    report(state, content, bytes);
}

void encodeIndices(benchmark::State& state, const IndexCase& content, IndexCode code) {
    std::vector<std::byte> out;
    std::size_t bytes = 0;
    for ([[maybe_unused]] auto _ : state) {
        bytes = 0;
        for (const Selection& tensor : content.tensors) {
            const IndexCoding coding = planIndexCode(tensor.indices, tensor.n, code);
            out.resize(std::max(out.size(), coding.bytes));
            writeIndices(coding, tensor.indices, std::span<std::byte>(out).first(coding.bytes));
            benchmark::DoNotOptimize(out.data());
            bytes += coding.bytes;
        }
    }
    report(state, content, bytes);
}

void decodeIndices(benchmark::State& state, const IndexCase& content, IndexCode code) {
    std::vector<IndexCoding> codings;
    std::vector<std::vector<std::byte>> messages;
    std::size_t bytes = 0;
    for (const Selection& tensor : content.tensors) {
        codings.push_back(planIndexCode(tensor.indices, tensor.n, code));
        messages.emplace_back(codings.back().bytes);
        writeIndices(codings.back(), tensor.indices, messages.back());
        bytes += messages.back().size();
    }
    std::vector<std::uint32_t> indices;
    std::vector<float> sum(content.elements, 0.0F);
    for ([[maybe_unused]] auto _ : state)
        for (std::size_t t = 0; t < messages.size(); ++t) {
            const Selection& tensor = content.tensors[t];
            readIndices(codings[t], messages[t], tensor.n, tensor.indices.size(), indices);
            for (const std::uint32_t index : indices)
                sum[index] += 1.0F;
            benchmark::DoNotOptimize(sum.data());
        }
    if (indices != content.tensors.back().indices)
        state.SkipWithError("decoded something else");
    report(state, content, bytes);
}

template <class Case, class Code>
void add(const Case& content, std::string_view codeName, Code code, const char* what,
         void (*run)(benchmark::State&, const Case&, Code)) {
    const std::string name = content.name + " " + std::string(codeName) + " " + what;
    benchmark::RegisterBenchmark(name.c_str(), [=, &content](benchmark::State& state) {
        run(state, content, code);
    })->Unit(benchmark::kMillisecond);
}

std::deque<LevelCase> levelCases; // a deque keeps its elements where they are
std::deque<IndexCase> indexCases;

void addLevels(const std::string& name, const Tensors& tensors, std::uint32_t s) {
    LevelCase& content = levelCases.emplace_back();
    content.name = "levels " + name + " s=" + std::to_string(s);
    content.s = s;
    for (const auto& tensor : tensors) {
        content.tensors.push_back(quantised(tensor, s));
        content.elements += tensor.size();
        content.boundBytes += entropyBits(content.tensors.back().histogram) / 8.0;
    }
    for (const auto& [codeName, code] : kLevelCodes) {
        add(content, codeName, code, "encode", encodeLevels);
        add(content, codeName, code, "decode", decodeLevels);
    }
}

void addIndices(const std::string& name, const Tensors& tensors, double ratio) {
    IndexCase& content = indexCases.emplace_back();
    std::array<char, 16> percent{};
    std::snprintf(percent.data(), percent.size(), "%g%%", 100.0 * ratio);
    content.name = "indices " + name + " " + percent.data();
    for (const auto& tensor : tensors) {
        content.tensors.push_back(largest(tensor, ratio));
        const Selection& selection = content.tensors.back();
        content.elements += tensor.size();
        content.boundBytes += log2Choose(selection.n, selection.indices.size()) / 8.0;
    }
    for (const auto& [codeName, code] : kIndexCodes) {
        add(content, codeName, code, "encode", encodeIndices);
        add(content, codeName, code, "decode", decodeIndices);
    }
}

void addContent(const std::string& name, const Tensors& tensors) {
    for (const std::uint32_t s : {1U, 4U, 16U, 64U, 1000U})
        addLevels(name, tensors, s);
    for (const double ratio : {0.1, 0.01, 0.001, 0.0001})
        addIndices(name, tensors, ratio);
}

} // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    addContent("heavy", {heavyTailed(kElements)});
    addLevels("sparse", {sparse(kElements)}, 1);
    for (int i = 1; i < argc; ++i)
        addContent(std::filesystem::path(argv[i]).stem().string(), tensorsOf(argv[i]));
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
