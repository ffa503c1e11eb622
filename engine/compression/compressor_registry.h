// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The methods and memories that exist. A method is one pair of files and one line in
// compressor_registry.cpp.
#pragma once

#include "engine/core/export.h"
#include "engine/core/field_spec.h"
#include "engine/training/experiment.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gradlab::engine {

/// What programs and windows need to know of a method; how to make one is internal.
struct MethodInfo {
    std::string name;                  ///< "topk"
    std::string label;                 ///< "Top-k"
    std::string description;           ///< one line
    std::string source;                ///< publication
    std::string defaultMemory;         ///< what memory = auto stands for
    std::vector<std::string> memories; ///< legal ones
    std::vector<FieldSpec>
        parameters;      ///< its own; shared ones (ratio) are declared once and listed by each;
                         ///< usedWhen is filled in from who lists them
    bool sparse = false; ///< sends a selection
};
struct MemoryInfo {
    std::string name;
    std::string label;
    std::string description;
    std::vector<FieldSpec> parameters;
};

[[nodiscard]] GRADLAB_ENGINE_EXPORT const std::vector<MethodInfo>& compressionMethods();
[[nodiscard]] GRADLAB_ENGINE_EXPORT const std::vector<MemoryInfo>& compressionMemories();
[[nodiscard]] GRADLAB_ENGINE_EXPORT const MethodInfo* findMethod(std::string_view name);
[[nodiscard]] GRADLAB_ENGINE_EXPORT const MemoryInfo* findMemory(std::string_view name);
/// Every distinct compression parameter, in the contract's order; usedWhen says which methods use
/// it.
[[nodiscard]] GRADLAB_ENGINE_EXPORT const std::vector<FieldSpec>& compressionParameters();

/// Why a resolved combination is meaningless (an error), or empty. E.g. a memory that the method
/// cannot have.
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::string
compressionError(const CompressionSettings& compression);
/// Why it is risky (a warning), or empty: QSGD with a residual where its error bound is ≥ 1.
/// `largestUnit` = elements of the largest unit, 0 if not known yet.
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::string
compressionRisk(const CompressionSettings& compression, std::size_t largestUnit);
/// memory auto, values auto (`precision` f32 or f64), scale auto … replaced.
[[nodiscard]] GRADLAB_ENGINE_EXPORT CompressionSettings
resolvedCompression(const CompressionSettings& compression, std::string_view precision);

} // namespace gradlab::engine
