// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/index_code.h"

#include "engine/compression/bit_stream.h"
#include "engine/compression/entropy_index_code.h"
#include "engine/core/errors.h"

#include <algorithm>
#include <cstring>

namespace gradlab::engine {

namespace {

constexpr unsigned kVarintBits = 7;
constexpr unsigned kVarintMost = 5; // bytes of a 32-bit number

struct GapSizes {
    std::uint64_t varintBytes = 0;
    std::uint64_t gammaBits = 0;
    std::uint64_t deltaBits = 0;
};

/// Calls visit(gap) with gap ≥ 1; the first is index + 1.
template <class Visit>
void eachGap(std::span<const std::uint32_t> indices, const Visit& visit) {
    std::uint32_t next = 0; // previous index + 1
    for (const std::uint32_t index : indices) {
        visit(index - next + 1U);
        next = index + 1U;
    }
}

GapSizes gapSizes(std::span<const std::uint32_t> indices) {
    GapSizes sizes;
    eachGap(indices, [&](std::uint32_t gap) {
        const auto width = static_cast<unsigned>(std::bit_width((gap - 1U) | 1U));
        sizes.varintBytes += (width + kVarintBits - 1U) / kVarintBits;
        sizes.gammaBits += gammaBits(gap);
        sizes.deltaBits += deltaBits(gap);
    });
    return sizes;
}

[[noreturn]] void failIndices() {
    throw ProtocolError("indices do not rise, leave the tensor or do not fill their payload; drop "
                        "the message");
}

void requireRising(std::span<const std::uint32_t> indices, std::size_t n) {
    bool good = indices.empty() || indices.back() < n;
    for (std::size_t i = 1; i < indices.size(); ++i)
        good = good && indices[i - 1] < indices[i];
    if (!good)
        failIndices();
}

void writeGaps(std::span<const std::uint32_t> indices, std::byte* at) {
    eachGap(indices, [&](std::uint32_t gap) {
        std::uint32_t rest = gap - 1U;
        while (rest >= 128U) {
            *at++ = static_cast<std::byte>((rest & 127U) | 128U);
            rest >>= kVarintBits;
        }
        *at++ = static_cast<std::byte>(rest);
    });
}

std::uint64_t readVarint(const std::byte*& at, const std::byte* end) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < kVarintMost; ++i) {
        if (at == end)
            failIndices();
        const auto byte = std::to_integer<std::uint32_t>(*at++);
        value |= std::uint64_t{byte & 127U} << (i * kVarintBits);
        if (byte < 128U)
            return value;
    }
    failIndices();
}

void readGaps(ByteView bytes, std::size_t n, std::span<std::uint32_t> indices) {
    const std::byte* at = bytes.data();
    const std::byte* end = at + bytes.size();
    std::uint64_t next = 0;
    for (std::uint32_t& index : indices) {
        next += readVarint(at, end);
        if (next >= n)
            failIndices();
        index = static_cast<std::uint32_t>(next++);
    }
    if (at != end)
        failIndices();
}

void readElias(ByteView bytes, bool delta, std::size_t n, std::span<std::uint32_t> indices) {
    BitReader reader(bytes);
    std::uint64_t next = 0;
    for (std::uint32_t& index : indices) {
        next += delta ? reader.readDelta() : reader.readGamma();
        if (next > n)
            failIndices();
        index = static_cast<std::uint32_t>(next - 1U);
    }
    reader.requireEnd();
}

void writeBitmap(std::span<const std::uint32_t> indices, std::span<std::byte> out) {
    std::fill(out.begin(), out.end(), std::byte{0});
    for (const std::uint32_t index : indices)
        out[index / 8U] |= static_cast<std::byte>(1U << (index % 8U));
}

void readBitmap(ByteView bytes, std::size_t n, std::span<std::uint32_t> indices) {
    if (bytes.size() != bytesOfBits(n))
        failIndices();
    std::size_t found = 0;
    for (std::size_t at = 0; at < bytes.size(); at += 8U) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8U, bytes.size() - at));
        for (; word != 0; word &= word - 1U) {
            const std::size_t index = at * 8U + static_cast<unsigned>(std::countr_zero(word));
            if (index >= n || found == indices.size())
                failIndices();
            indices[found++] = static_cast<std::uint32_t>(index);
        }
    }
    if (found != indices.size())
        failIndices();
}

IndexCoding entropyCoding(std::span<const std::uint32_t> indices) {
    const EntropyIndexCoding coding = planEntropyIndices(indices);
    return {IndexCode::Entropy, false, coding.bytes, coding.form};
}

} // namespace

IndexCoding planIndexCode(std::span<const std::uint32_t> indices, std::size_t n,
                          std::optional<IndexCode> asked) {
    const IndexCoding raw{IndexCode::Raw32, false, 4U * indices.size()};
    const IndexCoding bitmap{IndexCode::Bitmap, false, bytesOfBits(n)};
    if (asked == IndexCode::Raw32)
        return raw;
    if (asked == IndexCode::Bitmap)
        return bitmap;
    if (asked == IndexCode::Entropy)
        return entropyCoding(indices);
    const GapSizes sizes = gapSizes(indices);
    const IndexCoding gap{IndexCode::Gap, false, static_cast<std::size_t>(sizes.varintBytes)};
    const bool delta = sizes.deltaBits < sizes.gammaBits;
    const IndexCoding elias{IndexCode::Elias, delta,
                            bytesOfBits(delta ? sizes.deltaBits : sizes.gammaBits)};
    if (asked == IndexCode::Gap)
        return gap;
    if (asked == IndexCode::Elias)
        return elias;
    // Of equal sizes the one that decodes fastest.
    IndexCoding best = raw;
    for (const IndexCoding& coding : {bitmap, gap, elias, entropyCoding(indices)})
        if (coding.bytes < best.bytes)
            best = coding;
    return best;
}

void writeIndices(const IndexCoding& coding, std::span<const std::uint32_t> indices,
                  std::span<std::byte> out) {
    switch (coding.code) {
    case IndexCode::Gap:
        writeGaps(indices, out.data());
        return;
    case IndexCode::Elias: {
        BitWriter writer(out);
        eachGap(indices, [&](std::uint32_t gap) {
            coding.delta ? writer.writeDelta(gap) : writer.writeGamma(gap);
        });
        writer.finish();
        return;
    }
    case IndexCode::Bitmap:
        writeBitmap(indices, out);
        return;
    case IndexCode::Entropy:
        writeEntropyIndices({coding.form, coding.bytes}, indices, out);
        return;
    default:
        if (!indices.empty())
            std::memcpy(out.data(), indices.data(), out.size());
    }
}

void readIndices(const IndexCoding& coding, ByteView bytes, std::size_t n, std::size_t k,
                 std::vector<std::uint32_t>& indices) {
    indices.resize(k);
    switch (coding.code) {
    case IndexCode::Raw32:
        if (bytes.size() != 4U * k)
            failIndices();
        if (k > 0)
            std::memcpy(indices.data(), bytes.data(), bytes.size());
        requireRising(indices, n);
        return;
    case IndexCode::Gap:
        readGaps(bytes, n, indices);
        return;
    case IndexCode::Elias:
        readElias(bytes, coding.delta, n, indices);
        return;
    case IndexCode::Bitmap:
        readBitmap(bytes, n, indices);
        return;
    case IndexCode::Entropy:
        readEntropyIndices(bytes, n, indices);
        return;
    default:
        throw ProtocolError("unknown index code; use the same version everywhere");
    }
}

} // namespace gradlab::engine
