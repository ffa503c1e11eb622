// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What reader and writer of safetensors files have to agree on.
#pragma once

#include "engine/core/safetensors.h"

#include <bit>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gradlab::engine {

static_assert(std::endian::native == std::endian::little, "tensors are copied as they are");

inline constexpr std::size_t kLengthBytes = 8; ///< of the header's length, before the header
inline constexpr std::size_t kMaximumHeader = 100'000'000; ///< the format's own limit
inline constexpr const char* kMetadataKey = "__metadata__";
inline constexpr const char* kChecksumKey = "xxh3"; ///< of the metadata: 16 hexadecimal digits

/// XXH3-64 over the metadata but the checksum itself, and over names and data in the file's order.
[[nodiscard]] std::string checksumOf(const std::map<std::string, std::string>& metadata,
                                     const std::vector<const TensorView*>& tensors);

/// Bytes of a tensor, or nothing when the product does not fit.
[[nodiscard]] inline std::optional<std::size_t> shapeBytes(std::span<const std::size_t> shape,
                                                           TensorType type) {
    std::size_t bytes = tensorTypeBytes(type);
    for (const std::size_t size : shape)
        if (__builtin_mul_overflow(bytes, size, &bytes))
            return std::nullopt;
    return bytes;
}

} // namespace gradlab::engine
