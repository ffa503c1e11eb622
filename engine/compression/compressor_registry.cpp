// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/compressor_registry.h"

#include "engine/compression/compression_parameters.h"
#include "engine/compression/compressor.h"
#include "engine/compression/dense_compressor.h"
#include "engine/compression/dgc_compressor.h"
#include "engine/compression/dgc_memory.h"
#include "engine/compression/qsgd_compressor.h"
#include "engine/compression/qsgd_parameters.h"
#include "engine/compression/random_k_compressor.h"
#include "engine/compression/residual_memory.h"
#include "engine/compression/top_k_compressor.h"
#include "engine/compression/top_k_sort_compressor.h"
#include "engine/core/errors.h"

#include <algorithm>
#include <array>

namespace gradlab::engine {

namespace {

/// A new method is one more line.
const std::vector<MethodEntry>& methodEntries() {
    static const std::vector<MethodEntry> entries = {
        denseMethod(),    //
        topKMethod(),     //
        randomKMethod(),  //
        dgcMethod(),      //
        qsgdMethod(),     //
        topKSortMethod(), //
    };
    return entries;
}

} // namespace

const std::vector<MethodInfo>& compressionMethods() {
    static const std::vector<MethodInfo> methods = [] {
        std::vector<MethodInfo> all;
        for (const MethodEntry& entry : methodEntries())
            all.push_back(entry.info);
        return all;
    }();
    return methods;
}

template <class T>
std::unique_ptr<Compressor<T>> makeCompressor(const CompressionSettings& settings) {
    for (const MethodEntry& entry : methodEntries())
        if (entry.info.name == settings.method) {
            if constexpr (sizeof(T) == 4)
                return entry.makeFloat(settings);
            else
                return entry.makeDouble(settings);
        }
    throw ExperimentError("compression.method", "unknown method '" + settings.method + "'");
}

template std::unique_ptr<Compressor<float>> makeCompressor<float>(const CompressionSettings&);
template std::unique_ptr<Compressor<double>> makeCompressor<double>(const CompressionSettings&);

const std::vector<MemoryInfo>& compressionMemories() {
    static const std::vector<MemoryInfo> memories = {
        {"none", "None", "What is not sent is lost.", {}},
        residualMemoryInfo(),
        dgcMemoryInfo(),
    };
    return memories;
}

const MethodInfo* findMethod(std::string_view name) {
    const auto& all = compressionMethods();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const MethodInfo& method) { return method.name == name; });
    return found == all.end() ? nullptr : &*found;
}

const MemoryInfo* findMemory(std::string_view name) {
    const auto& all = compressionMemories();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const MemoryInfo& memory) { return memory.name == name; });
    return found == all.end() ? nullptr : &*found;
}

namespace {

/// The contract's order; a parameter that is not listed follows in the order of the registry.
std::size_t contractRank(const FieldSpec& field) {
    static constexpr std::array<std::string_view, 15> kOrder = {
        "ratio",      "levels",       "norm",          "bucket",  "beta",
        "gamma",      "memory_units", "dgc_momentum",  "masking", "nesterov",
        "local_clip", "sample",       "warmup_epochs", "pattern", "scale"};
    const std::string_view name = std::string_view(field.path).substr(field.path.rfind('.') + 1);
    return static_cast<std::size_t>(std::find(kOrder.begin(), kOrder.end(), name) - kOrder.begin());
}

std::vector<std::string> methodsThatList(const std::string& path) {
    std::vector<std::string> names;
    for (const MethodInfo& method : compressionMethods())
        for (const FieldSpec& field : method.parameters)
            if (field.path == path)
                names.push_back(method.name);
    return names;
}

std::vector<FieldSpec> collectParameters() {
    std::vector<FieldSpec> all;
    const auto add = [&](const std::vector<FieldSpec>& fields) {
        for (const FieldSpec& field : fields)
            if (std::none_of(all.begin(), all.end(),
                             [&](const FieldSpec& known) { return known.path == field.path; }))
                all.push_back(field);
    };
    for (const MethodInfo& method : compressionMethods())
        add(method.parameters);
    for (FieldSpec& field : all)
        field.usedWhen = {{"compression.method", methodsThatList(field.path)}};
    for (const MemoryInfo& memory : compressionMemories())
        add(memory.parameters);
    std::stable_sort(all.begin(), all.end(), [](const FieldSpec& a, const FieldSpec& b) {
        return contractRank(a) < contractRank(b);
    });
    return all;
}

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0)
            text += i + 1 == names.size() ? " or " : ", ";
        text += names[i];
    }
    return text;
}

} // namespace

const std::vector<FieldSpec>& compressionParameters() {
    static const std::vector<FieldSpec> parameters = collectParameters();
    return parameters;
}

std::string compressionError(const CompressionSettings& compression) {
    const MethodInfo* method = findMethod(compression.method);
    if (method == nullptr)
        return "unknown method '" + compression.method + "'";
    if (compression.memory == "auto")
        return {};
    if (findMemory(compression.memory) == nullptr)
        return "unknown memory '" + compression.memory + "'";
    const auto& legal = method->memories;
    if (std::find(legal.begin(), legal.end(), compression.memory) == legal.end())
        return "method " + method->name + " cannot have the " + compression.memory +
               " memory; allowed are " + joined(legal);
    if (compression.memory == "dgc" && textParameter(compression, "memory_units") == "update")
        return "the dgc memory holds velocities in gradient units; memory_units = update needs the "
               "residual memory";
    return {};
}

std::string compressionRisk(const CompressionSettings& compression, std::size_t largestUnit) {
    if (compression.method != "qsgd" || compression.memory != "residual")
        return {};
    return qsgdResidualRisk(compression, largestUnit);
}

CompressionSettings resolvedCompression(const CompressionSettings& compression,
                                        std::string_view precision) {
    CompressionSettings resolved = compression;
    if (resolved.memory == "auto")
        if (const MethodInfo* method = findMethod(resolved.method))
            resolved.memory = method->defaultMemory;
    if (resolved.values == "auto")
        resolved.values = precision == "f64" ? "f64" : "f32";
    for (const FieldSpec& field : compressionParameters())
        resolved.parameters.try_emplace(field.path.substr(field.path.rfind('.') + 1),
                                        field.defaultValue);
    return resolved;
}

} // namespace gradlab::engine
