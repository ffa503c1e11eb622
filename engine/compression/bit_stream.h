// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Bits in bytes, lowest bit first, and Elias's two codes for integers from 1. The writer fills a
// region of known size; the reader checks every bit, as its bytes are hostile.
//   gamma(g): L zeros, a one, then the L low bits of g, L = floor(log2 g);     2L + 1 bits
//   delta(g): gamma(L + 1), then the L low bits of g
// Source: Elias 1975, "Universal codeword sets and representations of the integers".
#pragma once

#include "engine/core/byte_buffer.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace gradlab::engine {

[[nodiscard]] constexpr unsigned floorLog2(std::uint32_t value) noexcept {
    return static_cast<unsigned>(std::bit_width(value)) - 1U;
}
[[nodiscard]] constexpr unsigned gammaBits(std::uint32_t value) noexcept {
    return 2U * floorLog2(value) + 1U;
}
[[nodiscard]] constexpr unsigned deltaBits(std::uint32_t value) noexcept {
    const unsigned log = floorLog2(value);
    return gammaBits(log + 1U) + log;
}
[[nodiscard]] constexpr std::size_t bytesOfBits(std::uint64_t bits) noexcept {
    return static_cast<std::size_t>((bits + 7U) / 8U);
}

/// Fills a region of exactly bytesOfBits(all bits written); call finish() last.
class BitWriter {
public:
    explicit BitWriter(std::span<std::byte> out) noexcept : at_(out.data()) {}
    /// `count` ≤ 32; bits of `value` above them must be 0.
    void write(std::uint32_t value, unsigned count) noexcept {
        pending_ |= std::uint64_t{value} << held_;
        held_ += count;
        if (held_ >= 32U) {
            std::memcpy(at_, &pending_, 4);
            at_ += 4;
            pending_ >>= 32U;
            held_ -= 32U;
        }
    }
    void writeGamma(std::uint32_t value) noexcept {
        const unsigned log = floorLog2(value);
        write(1U << log, log + 1U);
        write(value ^ (1U << log), log);
    }
    void writeDelta(std::uint32_t value) noexcept {
        const unsigned log = floorLog2(value);
        writeGamma(log + 1U);
        write(value ^ (1U << log), log);
    }
    /// Writes the last bits, padded with zeros to a byte.
    void finish() noexcept {
        if (held_ > 0)
            std::memcpy(at_, &pending_, bytesOfBits(held_));
        held_ = 0;
    }

private:
    std::byte* at_;
    std::uint64_t pending_ = 0;
    unsigned held_ = 0; ///< bits in pending_, below 32 between calls
};

/// Each read throws ProtocolError where the bits end or no code begins.
class BitReader {
public:
    explicit BitReader(ByteView bytes) noexcept : at_(bytes.data()), end_(at_ + bytes.size()) {}
    /// `count` ≤ 32.
    [[nodiscard]] std::uint32_t read(unsigned count) {
        if (held_ < count)
            refill(count);
        const auto value = static_cast<std::uint32_t>(pending_ & ((std::uint64_t{1} << count) - 1));
        pending_ >>= count;
        held_ -= count;
        return value;
    }
    /// Values from 1 to 2^32 − 1.
    [[nodiscard]] std::uint32_t readGamma() {
        if (pending_ == 0 || held_ < 32U)
            refill(1);
        const auto zeros = static_cast<unsigned>(std::countr_zero(pending_));
        if (zeros >= held_ || zeros > 31U)
            fail();
        static_cast<void>(read(zeros + 1U));
        return read(zeros) | (1U << zeros);
    }
    [[nodiscard]] std::uint32_t readDelta() {
        const std::uint32_t length = readGamma();
        if (length > 32U)
            fail();
        return read(length - 1U) | (1U << (length - 1U));
    }
    /// Nothing but the padding of one byte, all zeros, may be left.
    void requireEnd() const;

private:
    /// Takes as many whole bytes as fit. @throws ProtocolError if fewer than `count` bits are held
    /// then.
    void refill(unsigned count);
    [[noreturn]] static void fail();

    const std::byte* at_;
    const std::byte* end_;
    std::uint64_t pending_ = 0; ///< next bit lowest; bits above held_ are 0
    unsigned held_ = 0;
};

} // namespace gradlab::engine
