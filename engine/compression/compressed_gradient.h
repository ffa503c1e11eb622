// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A compressed gradient as it travels: descriptors, then payloads, little-endian.
//   body of a part = descriptor[count] (32 bytes each), then the payloads in the same order,
//   packed.
// The frame around it (magic, session, epoch, step, rank, hash) is the transport's.
#pragma once

#include "engine/core/byte_buffer.h"
#include "engine/core/export.h"

#include <cstdint>
#include <vector>

namespace gradlab::engine {

/// Values are on the wire: never renumber.
enum class ValueType : std::uint8_t { F32 = 1, F64 = 2, F16 = 3, BF16 = 4 };
enum class Codec : std::uint8_t {
    Dense = 1,        ///< n values
    Sparse = 2,       ///< k indices by an IndexCode, then k values
    SeededSparse = 3, ///< random-k: the counter that regenerates its indices, then k values
    Levels = 4        ///< QSGD: norms, then n signed levels by a LevelCode
};
enum class IndexCode : std::uint8_t {
    None = 0,
    Raw32 = 1,
    Gap = 2,
    Elias = 3,
    Bitmap = 4,
    Entropy = 5
};
enum class LevelCode : std::uint8_t { None = 0, Fixed = 1, Elias = 2, Entropy = 3 };

/// What one unit's payload is. 32 bytes on the wire, in this order.
struct UnitDescriptor {
    std::uint32_t unit = 0; ///< tensor id; 0 with scope model
    Codec codec = Codec::Dense;
    ValueType values = ValueType::F32;
    std::uint8_t code = 0; ///< IndexCode or LevelCode, as the codec says
    std::uint8_t version = 1;
    std::uint32_t elements = 0;  ///< n
    std::uint32_t selected = 0;  ///< k (also of a dense fallback); n for Dense and Levels
    std::uint32_t flags = 0;     ///< kFlag…; Levels: levels s in bits 16–31
    std::uint32_t parameter = 0; ///< Levels: bucket, 0 = whole unit; SeededSparse: lane of the draw
    std::uint64_t payloadBytes = 0;
};
inline constexpr std::size_t kDescriptorBytes = 32;
/// The dense vector of a selection whose encoding would have been larger: selected values, zeros
/// elsewhere.
inline constexpr std::uint32_t kFlagDenseFallback = 1U;
/// The Elias index code is delta, not gamma.
inline constexpr std::uint32_t kFlagEliasDelta = 2U;
/// Most elements of one unit: indices and counts fit 31 bits.
inline constexpr std::size_t kMostUnitElements = std::size_t{1} << 31U;

struct UnitView {
    UnitDescriptor descriptor;
    ByteView payload;
};

/// Splits a body into its units after checking every length. Contents are checked by the decoders.
/// `views` is reused. @throws ProtocolError
GRADLAB_ENGINE_EXPORT void splitBody(ByteView body, std::uint32_t unitCount,
                                     std::vector<UnitView>& views);
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::vector<UnitView> splitBody(ByteView body,
                                                                    std::uint32_t unitCount);

} // namespace gradlab::engine
