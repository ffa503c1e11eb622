// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What compression tests share: units of given sizes, gradients with awkward contents, one worker's
// compressor with its buffers, the registry's combinations as rows, and obvious references.
#pragma once

#include "engine/compression/compressor_registry.h"
#include "engine/compression/gradient_compressor.h"
#include "engine/compression/index_code.h"
#include "engine/compression/level_code.h"
#include "engine/compression/unit_decoder.h"
#include "engine/core/random.h"

#include <QString>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace gradlab::test {

inline constexpr std::size_t kHeaderRoom = 40; // any odd amount: the frame's business

inline engine::MessagePlan
planOf(const std::vector<std::size_t>& sizes,
       engine::CompressionScope scope = engine::CompressionScope::Tensor) {
    std::vector<engine::TensorInfo> tensors;
    for (std::size_t i = 0; i < sizes.size(); ++i)
        tensors.push_back({"t" + std::to_string(i), {sizes[i]}, 0, sizes[i]});
    return {engine::ParameterLayout(std::move(tensors)), scope};
}

inline engine::CompressionSettings settingsOf(const std::string& method,
                                              const std::string& memory = "auto",
                                              const std::string& precision = "f32") {
    engine::CompressionSettings settings;
    settings.method = method;
    settings.memory = memory;
    return engine::resolvedCompression(settings, precision);
}

/// Contents that compressors are known to stumble over, by name.
inline const std::vector<std::string>& contentNames() {
    static const std::vector<std::string> names = {
        "normal", "heavy",     "zeros", "oneHot",     "constant",  "negative",
        "few",    "subnormal", "huge",  "mostlyZero", "minusZero", "alternating"};
    return names;
}

template <class T>
std::vector<T> contentOf(const std::string& name, std::size_t n, std::uint32_t seed = 1) {
    engine::RandomStream random(seed, engine::RandomPurpose::Test, 0, 0,
                                static_cast<std::uint32_t>(n));
    std::vector<T> values(n, T{0});
    for (std::size_t i = 0; i < n; ++i) {
        const double x = random.normal();
        const std::uint32_t w = random.word();
        if (name == "normal")
            values[i] = static_cast<T>(x);
        else if (name == "heavy")
            values[i] = static_cast<T>(x * x * x * 10.0);
        else if (name == "oneHot")
            values[i] = i == n / 2 ? T{-3.5} : T{0};
        else if (name == "constant")
            values[i] = T{0.25};
        else if (name == "negative")
            values[i] = static_cast<T>(-std::fabs(x) - 0.1);
        else if (name == "few")
            values[i] = static_cast<T>(static_cast<int>(w % 5U) - 2) * T{0.5};
        else if (name == "subnormal")
            values[i] =
                static_cast<T>(static_cast<int>(w % 7U) - 3) * std::numeric_limits<T>::denorm_min();
        else if (name == "huge")
            values[i] = (w & 1U) != 0 ? std::numeric_limits<T>::max() / T{4}
                                      : -std::numeric_limits<T>::max() / T{4};
        else if (name == "mostlyZero")
            values[i] = w % 50U == 0 ? static_cast<T>(x) : T{0};
        else if (name == "minusZero")
            values[i] = i % 3 == 0 ? static_cast<T>(x) : -T{0};
        else if (name == "alternating")
            values[i] = i % 2 == 0 ? T{1} : T{-1};
    }
    return values;
}

template <class T>
bool sameValues(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// One worker: its compressor, gradient buffer and messages, driven the way training does it.
template <class T>
struct CompressionWorker {
    engine::MessagePlan plan;
    engine::GradientCompressor<T> compressor;
    engine::AlignedBuffer<T> gradient;
    std::vector<T> parameters;
    std::vector<engine::ByteBuffer> bodies; ///< by part, headerRoom bytes in front
    engine::StepPosition position;

    CompressionWorker(const engine::MessagePlan& messagePlan,
                      const engine::CompressionSettings& settings,
                      const engine::CompressorIdentity& identity = {42, 0, 1})
        : plan(messagePlan), compressor(messagePlan, settings, identity),
          gradient(messagePlan.size()), parameters(messagePlan.size(), T{0}),
          bodies(messagePlan.parts().size()) {
        position.lr = 1.0;
    }

    void load(const std::vector<T>& values) {
        std::copy(values.begin(), values.end(), gradient.begin());
    }
    /// Encodes every part of the next step without making it final.
    void encode(const std::vector<T>& values) {
        load(values);
        ++position.step;
        for (std::size_t part = 0; part < bodies.size(); ++part)
            compressor.encodePart(part, gradient.span(), parameters, position, kHeaderRoom,
                                  bodies[part]);
    }
    void commit() { compressor.commit(gradient); }

    [[nodiscard]] engine::ByteView body(std::size_t part) const {
        return engine::ByteView(bodies[part]).subspan(kHeaderRoom);
    }
    [[nodiscard]] std::vector<engine::UnitView> units(std::size_t part) const {
        return engine::splitBody(body(part), static_cast<std::uint32_t>(plan.parts()[part].size()));
    }
    /// What a receiver makes of the last messages.
    [[nodiscard]] std::vector<T> received() const {
        std::vector<T> values(plan.size(), T{0});
        engine::UnitDecoder<T> decoder;
        for (std::size_t part = 0; part < bodies.size(); ++part)
            for (const engine::UnitView& view : units(part)) {
                const engine::CompressionUnit& unit = plan.units()[view.descriptor.unit];
                decoder.decode(view, unit, std::span<T>(values).subspan(unit.offset, unit.size));
            }
        return values;
    }
    /// encode, receive, commit.
    std::vector<T> step(const std::vector<T>& values) {
        encode(values);
        std::vector<T> decoded = received();
        commit();
        return decoded;
    }
    [[nodiscard]] std::vector<T> state(std::size_t piece = 0) {
        const auto pieces = compressor.state();
        return {pieces.at(piece).values.begin(), pieces.at(piece).values.end()};
    }
    /// What waits to be sent: e or v; empty without memory.
    [[nodiscard]] std::vector<T> waiting() {
        const auto pieces = compressor.state();
        if (pieces.empty())
            return {};
        return {pieces.back().values.begin(), pieces.back().values.end()};
    }
};

/// The k largest magnitudes by a full sort: magnitude descending, index ascending.
template <class T>
std::vector<std::uint32_t> sortedTopK(const std::vector<T>& values, std::size_t k) {
    std::vector<std::uint32_t> order(values.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::fabs(values[a]) > std::fabs(values[b]);
    });
    order.resize(k);
    std::sort(order.begin(), order.end());
    return order;
}

/// Every legal pair of the registry; visit(method, memory).
template <class Visit>
void eachPair(const Visit& visit) {
    for (const engine::MethodInfo& method : engine::compressionMethods())
        for (const std::string& memory : method.memories)
            visit(method, memory);
}

/// The codes that a method's messages may use: (indices, level code).
inline std::vector<std::pair<std::string, std::string>> codesOf(const engine::MethodInfo& method) {
    std::vector<std::pair<std::string, std::string>> codes = {{"auto", "auto"}};
    if (method.sparse)
        for (const auto& [name, code] : engine::kIndexCodes)
            codes.emplace_back(name, "auto");
    else if (method.name != "none")
        for (const auto& [name, code] : engine::kLevelCodes)
            codes.emplace_back("auto", name);
    return codes;
}

inline const std::vector<std::string>& valueNames() {
    static const std::vector<std::string> names = {"f32", "f64", "f16", "bf16"};
    return names;
}

} // namespace gradlab::test
