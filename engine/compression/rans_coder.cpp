// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/rans_coder.h"

#include "engine/core/errors.h"

#include <algorithm>

namespace gradlab::engine {

namespace {

[[noreturn]] void failSymbols() {
    throw ProtocolError("entropy-coded symbols do not fill their payload; drop the message");
}

} // namespace

RansEncoder::RansEncoder(const SymbolTable& table) : single_(table.size() == 1) {
    std::uint32_t start = 0;
    for (std::size_t i = 0; i < table.size(); ++i) {
        const std::uint32_t frequency = table.frequency(i);
        symbols_[i] = {((std::uint64_t{1} << 46U) + frequency - 1U) / frequency,
                       single_ ? 0U : frequency << 18U, static_cast<std::uint16_t>(start),
                       static_cast<std::uint16_t>(kFrequencySum - frequency)};
        start += frequency;
    }
}

RansDecoder::RansDecoder(const SymbolTable& table, std::int32_t offset)
    : single_(table.size() == 1) {
    std::uint32_t start = 0;
    for (std::size_t i = 0; i < table.size(); ++i) {
        const std::uint32_t frequency = table.frequency(i);
        symbols_[i] = {static_cast<std::uint16_t>(frequency), static_cast<std::uint16_t>(start),
                       static_cast<std::int32_t>(table.id(i)) + offset};
        std::fill_n(symbolOf_.begin() + start, frequency, static_cast<std::uint8_t>(i));
        start += frequency;
    }
}

template <std::size_t Lanes, class Out>
ByteView RansDecoder::decodeLanes(ByteView bytes, std::span<Out> out) const {
    std::array<std::uint32_t, Lanes> states{};
    if (bytes.size() < sizeof(states))
        failSymbols();
    std::memcpy(states.data(), bytes.data(), sizeof(states));
    const std::byte* at = bytes.data() + sizeof(states);
    const std::byte* const end = bytes.data() + bytes.size();
    // Takes one symbol; the state may then want a word.
    const auto take = [this](std::uint32_t& x, Out& value) {
        const std::uint32_t slot = x & (kFrequencySum - 1U);
        const Symbol symbol = symbols_[symbolOf_[slot]];
        value = static_cast<Out>(symbol.value);
        x = symbol.frequency * (x >> kFrequencyBits) + slot - symbol.start;
    };
    std::size_t i = 0;
    for (; out.size() - i >= Lanes && static_cast<std::size_t>(end - at) >= 2 * Lanes; i += Lanes)
#pragma GCC unroll 8
        for (std::size_t lane = 0; lane < Lanes; ++lane) {
            std::uint32_t x = states[lane];
            take(x, out[i + lane]);
            std::uint16_t word = 0;
            std::memcpy(&word, at, sizeof(word));
            // No branch: whether a word is wanted cannot be predicted.
            const std::size_t low = x < kRansLow ? 1 : 0;
            states[lane] = x << 16U * low | (word & (0U - static_cast<std::uint32_t>(low)));
            at += 2U * low;
        }
    for (; i < out.size(); ++i) {
        std::uint32_t& x = states[i % Lanes];
        take(x, out[i]);
        if (x >= kRansLow)
            continue;
        if (end - at < 2)
            failSymbols();
        std::uint16_t word = 0;
        std::memcpy(&word, at, sizeof(word));
        x = x << 16U | word;
        at += 2;
    }
    if (std::any_of(states.begin(), states.end(), [](std::uint32_t x) { return x != kRansLow; }))
        failSymbols();
    return {at, end};
}

template <class Out>
ByteView RansDecoder::decode(bool wide, ByteView bytes, std::span<Out> out) const {
    if (single_) {
        std::fill(out.begin(), out.end(), static_cast<Out>(symbols_[0].value));
        return bytes;
    }
    return wide ? decodeLanes<kRansLanes>(bytes, out) : decodeLanes<1>(bytes, out);
}

template ByteView RansDecoder::decode(bool, ByteView, std::span<std::int16_t>) const;
template ByteView RansDecoder::decode(bool, ByteView, std::span<std::uint32_t>) const;

} // namespace gradlab::engine
