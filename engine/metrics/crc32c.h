// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// CRC-32C (Castagnoli), as event files use it. Of "123456789" it is 0xE3069283. Leaves out: speed;
// the files are small.
#pragma once

#include <cstdint>
#include <string_view>

namespace gradlab::engine {

[[nodiscard]] std::uint32_t crc32c(std::string_view bytes) noexcept;

/// Rotated and offset, so that the checksum of data that holds checksums stays useful.
[[nodiscard]] std::uint32_t maskedCrc32c(std::string_view bytes) noexcept;

} // namespace gradlab::engine
