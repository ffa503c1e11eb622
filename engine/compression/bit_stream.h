// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Bits in bytes, lowest bit first, and Elias's two codes for integers from 1. The writer fills a
// region of known size; the reader checks every bit, as its bytes are hostile.
//   gamma(g): L zeros, a one, then the L low bits of g, L = floor(log2 g);     2L + 1 bits
//   delta(g): gamma(L + 1), then the L low bits of g
// Source: Elias 1975, "Universal codeword sets and representations of the integers".
#pragma once

#include "engine/core/byte_buffer.h"

#include <algorithm>
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

/// Fills a region of at least bytesOfBits(all bits written); call finish() last.
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
        const std::uint32_t low = value ^ (1U << log);
        if (log <= 15U) {
            write((low << 1U | 1U) << log, 2U * log + 1U);
            return;
        }
        write(1U << log, log + 1U);
        write(low, log);
    }
    void writeDelta(std::uint32_t value) noexcept {
        const unsigned log = floorLog2(value);
        writeGamma(log + 1U);
        write(value ^ (1U << log), log);
    }
    /// `zeros` zeros, a one, then the `count` ≤ 31 low bits of `value`.
    void writeRice(std::uint32_t zeros, std::uint32_t value, unsigned count) noexcept {
        for (; zeros >= 32U; zeros -= 32U)
            write(0, 32);
        write(0, zeros);
        write(1U | value << 1U, count + 1U);
    }
    /// Writes the last bits, padded with zeros to a byte; returns where the next byte would go.
    std::byte* finish() noexcept {
        const std::size_t bytes = bytesOfBits(held_);
        if (bytes > 0) // a region of none may be nowhere
            std::memcpy(at_, &pending_, bytes);
        held_ = 0;
        return at_ += bytes;
    }

private:
    std::byte* at_;
    std::uint64_t pending_ = 0;
    unsigned held_ = 0; ///< bits in pending_, below 32 between calls
};

/// Each read throws ProtocolError where the bits end or no code begins. (What is not inline takes
/// no reference to the reader, so that a loop keeps it in registers.)
class BitReader {
public:
    explicit BitReader(ByteView bytes) noexcept
        : end_(bytes.data() + bytes.size()), at_(bytes.data()) {}
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
        if (2U * zeros < held_) { // hardly ever false: refilled, there are 32 or more
            const std::uint64_t low = (pending_ >> zeros >> 1U) & ((std::uint64_t{1} << zeros) - 1);
            pending_ = pending_ >> 2U * zeros >> 1U;
            held_ -= 2U * zeros + 1U;
            return static_cast<std::uint32_t>(low | std::uint64_t{1} << zeros);
        }
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
    /// Zeros up to the next one, which is taken too.
    [[nodiscard]] std::uint64_t readZeros() {
        std::uint64_t zeros = 0;
        while (pending_ == 0) {
            zeros += held_;
            held_ = 0;
            refill(1);
        }
        const auto last = static_cast<unsigned>(std::countr_zero(pending_));
        pending_ = pending_ >> last >> 1U;
        held_ -= last + 1U;
        return zeros + last;
    }
    /// The bytes behind the one that was begun, whose other bits must be zeros.
    [[nodiscard]] ByteView rest() const {
        if ((pending_ & ((std::uint64_t{1} << (held_ % 8U)) - 1U)) != 0)
            fail();
        const std::byte* next = at_ - held_ / 8U;
        return {next, end_};
    }
    /// Nothing but the padding of one byte, all zeros, may be left.
    void requireEnd() const {
        if (at_ != end_ || held_ >= 8U || pending_ != 0)
            failEnd();
    }

private:
    /// Takes as many whole bytes as fit. @throws ProtocolError if fewer than `count` bits are held
    /// then.
    void refill(unsigned count) {
        const unsigned bytes = (63U - held_) / 8U;
        if (end_ - at_ < 8) {
            const auto few = std::min<std::ptrdiff_t>(bytes, end_ - at_);
            pending_ |= lastBytes(at_, few) << held_;
            at_ += few;
            held_ += 8U * static_cast<unsigned>(few);
            if (held_ < count)
                fail();
            return;
        }
        std::uint64_t word = 0;
        std::memcpy(&word, at_, sizeof(word));
        pending_ |= (word & ((std::uint64_t{1} << (8U * bytes)) - 1U)) << held_;
        at_ += bytes;
        held_ += 8U * bytes; // 56 or more
    }
    [[nodiscard]] static std::uint64_t lastBytes(const std::byte* at, std::ptrdiff_t count);
    [[noreturn]] static void fail();
    [[noreturn]] static void failEnd();

    const std::byte* end_;
    const std::byte* at_;
    std::uint64_t pending_ = 0; ///< next bit lowest; bits above held_ are 0
    unsigned held_ = 0;         ///< at most 63
};

/// Reads fields whose lengths come from elsewhere, faster than BitReader: a read does not wait for
/// the one before.
class FieldReader {
public:
    explicit FieldReader(ByteView bytes) noexcept
        : bytes_(bytes), bits_(8U * std::uint64_t{bytes.size()}) {}
    /// `count` ≤ 32. @throws ProtocolError where the bits end
    [[nodiscard]] std::uint32_t read(unsigned count) {
        std::uint64_t word = 0;
        if (bits_ - at_ < 64U)
            word = wordNearEnd(bytes_, at_, count);
        else
            std::memcpy(&word, bytes_.data() + at_ / 8U, sizeof(word));
        word >>= at_ % 8U;
        at_ += count;
        return static_cast<std::uint32_t>(word & ((std::uint64_t{1} << count) - 1U));
    }
    /// As BitReader's.
    void requireEnd() const { requireEnd(bytes_, at_); }

private:
    /// The bytes from that of bit `at`. @throws ProtocolError unless `count` bits are there
    [[nodiscard]] static std::uint64_t wordNearEnd(ByteView bytes, std::uint64_t at,
                                                   unsigned count);
    static void requireEnd(ByteView bytes, std::uint64_t at);

    ByteView bytes_;
    std::uint64_t bits_;
    std::uint64_t at_ = 0; ///< in bits
};

} // namespace gradlab::engine
