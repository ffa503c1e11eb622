// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Entropy coding of symbols by a table of frequencies: asymmetric numeral systems with 32-bit
// states, 16-bit words and L = 1 or 8 states that take turns (symbol i belongs to state i mod L).
//   encoding, last symbol first, from x = 2^16:
//     while x ≥ f·2^18 put the low word of x in front of the others and shift it out;
//     x ← floor(x/f)·2^14 + x mod f + start
//   on the wire: L states, then the words in the order in which a decoder takes them; nothing at
//   all where the table has a single symbol.
// A decoder reads at most its bytes, whatever they are, and ends in the states that the encoder
// began with. Source: Duda 2013, "Asymmetric numeral systems", arXiv 1311.2540; the interleaving is
// Giesen's 2014, arXiv 1402.3392.
#pragma once

#include "engine/compression/symbol_table.h"
#include "engine/core/byte_buffer.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace gradlab::engine {

inline constexpr std::uint32_t kRansLow = 1U << 16U; ///< states rest in [2^16, 2^32)
inline constexpr std::size_t kRansLanes = 8;

/// Eight states where their 32 bytes are little beside the rest.
[[nodiscard]] constexpr bool ransIsWide(double codedBits) noexcept {
    return codedBits >= 8192.0;
}

class RansEncoder {
public:
    explicit RansEncoder(const SymbolTable& table);
    /// Most bytes that `count` symbols take.
    [[nodiscard]] static constexpr std::size_t mostBytes(std::size_t count) noexcept {
        return 2U * count + 4U * kRansLanes;
    }
    /// Writes symbolAt(0 … count − 1), numbers of the table's symbols, so that they end at `end`;
    /// returns where they begin.
    template <class SymbolAt>
    std::byte* encode(bool wide, std::size_t count, const SymbolAt& symbolAt,
                      std::byte* end) const {
        Words sink{end};
        run(wide, count, symbolAt, sink);
        return sink.at;
    }
    /// The bytes that encode() would write.
    template <class SymbolAt>
    [[nodiscard]] std::size_t measure(bool wide, std::size_t count,
                                      const SymbolAt& symbolAt) const {
        Counter sink;
        run(wide, count, symbolAt, sink);
        return sink.bytes;
    }

private:
    struct Symbol {
        std::uint64_t reciprocal = 0; ///< ceil(2^46 / f)
        std::uint32_t limit = 0;      ///< f · 2^18
        std::uint16_t start = 0;
        std::uint16_t complement = 0; ///< 2^14 − f
    };
    struct Words {
        std::byte* at;
        void word(std::uint32_t x, std::size_t full) noexcept {
            std::memcpy(at - 2, &x, 2);
            at -= 2U * full;
        }
        void state(std::uint32_t x) noexcept {
            at -= sizeof(x);
            std::memcpy(at, &x, sizeof(x));
        }
    };
    struct Counter {
        std::size_t bytes = 0;
        void word(std::uint32_t, std::size_t full) noexcept { bytes += 2U * full; }
        void state(std::uint32_t x) noexcept { bytes += sizeof(x); }
    };

    /// floor(x/f) = x · ceil(2^46/f) >> 46, exactly: x < f·2^18 and f < 2^14, so the error
    /// x/2^46 stays below 1/f and the product below 2^64.
    template <class Sink>
    static std::uint32_t step(const Symbol& symbol, std::uint32_t x, Sink& sink) noexcept {
        const std::size_t full = x >= symbol.limit ? 1 : 0; // no branch: it is unpredictable
        sink.word(x, full);
        x >>= 16U * full;
        const auto quotient = static_cast<std::uint32_t>((x * symbol.reciprocal) >> 46U);
        return x + symbol.start + quotient * symbol.complement;
    }

    template <std::size_t Lanes, class SymbolAt, class Sink>
    void runLanes(std::size_t count, const SymbolAt& symbolAt, Sink& out) const {
        Sink sink = out; // a local can stay in registers
        std::array<std::uint32_t, Lanes> states;
        states.fill(kRansLow);
        std::size_t i = count;
        for (; i % Lanes != 0; --i)
            states[(i - 1) % Lanes] =
                step(symbols_[symbolAt(i - 1)], states[(i - 1) % Lanes], sink);
        for (; i != 0; i -= Lanes)
#pragma GCC unroll 8
            for (std::size_t back = 1; back <= Lanes; ++back)
                states[Lanes - back] =
                    step(symbols_[symbolAt(i - back)], states[Lanes - back], sink);
        for (std::size_t lane = Lanes; lane-- > 0;)
            sink.state(states[lane]);
        out = sink;
    }

    template <class SymbolAt, class Sink>
    void run(bool wide, std::size_t count, const SymbolAt& symbolAt, Sink& sink) const {
        if (single_)
            return;
        if (wide)
            runLanes<kRansLanes>(count, symbolAt, sink);
        else
            runLanes<1>(count, symbolAt, sink);
    }

    bool single_;
    std::array<Symbol, kMostSymbols> symbols_;
};

/// Decodes to id + offset.
class RansDecoder {
public:
    RansDecoder(const SymbolTable& table, std::int32_t offset);
    /// Fills `out` from the front of `bytes` and returns what follows. @throws ProtocolError
    template <class Out>
    [[nodiscard]] ByteView decode(bool wide, ByteView bytes, std::span<Out> out) const;

private:
    struct Symbol {
        std::uint16_t frequency = 0;
        std::uint16_t start = 0;
        std::int32_t value = 0;
    };

    template <std::size_t Lanes, class Out>
    [[nodiscard]] ByteView decodeLanes(ByteView bytes, std::span<Out> out) const;

    bool single_;
    std::array<Symbol, kMostSymbols> symbols_;
    std::array<std::uint8_t, kFrequencySum> symbolOf_; ///< of each slot
};

extern template ByteView RansDecoder::decode(bool, ByteView, std::span<std::int16_t>) const;
extern template ByteView RansDecoder::decode(bool, ByteView, std::span<std::uint32_t>) const;

} // namespace gradlab::engine
