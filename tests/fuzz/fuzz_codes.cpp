// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Index and level codes: any levels and any indices come back from every code, and with a byte
// changed they are refused or decode in bounds.
#include "engine/compression/index_code.h"
#include "engine/compression/level_code.h"
#include "engine/core/errors.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

using namespace gradlab::engine;

namespace {

constexpr std::size_t kHead = 6;

void require(bool good) {
    if (!good)
        std::abort();
}

/// A byte a level, two where there are more of them than a byte tells.
std::vector<std::int16_t> levelsFrom(std::span<const std::uint8_t> data, std::uint32_t s) {
    const std::size_t width = s < 128U ? 1 : 2;
    std::vector<std::int16_t> levels(data.size() / width);
    for (std::size_t i = 0; i < levels.size(); ++i) {
        std::uint32_t code = data[i * width];
        if (width == 2)
            code |= std::uint32_t{data[i * 2 + 1]} << 8U;
        levels[i] =
            static_cast<std::int16_t>(static_cast<int>(code % (2U * s + 1U)) - static_cast<int>(s));
    }
    return levels;
}

/// A byte is a gap; its upper bits make some of them long.
std::vector<std::uint32_t> indicesFrom(std::span<const std::uint8_t> data, std::size_t& n) {
    std::vector<std::uint32_t> indices;
    std::uint64_t next = 0;
    for (const std::uint8_t byte : data) {
        next += byte < 240U ? byte : std::uint64_t{byte} << (byte % 16U);
        if (next >= (std::size_t{1} << 24U))
            break;
        indices.push_back(static_cast<std::uint32_t>(next++));
    }
    n = static_cast<std::size_t>(next) + data.size();
    return indices;
}

void change(std::vector<std::byte>& bytes, const std::uint8_t* head) {
    if (!bytes.empty())
        bytes[(head[3] | head[4] << 8) % bytes.size()] ^= static_cast<std::byte>(head[5]);
}

void tryLevels(const std::uint8_t* head, std::span<const std::uint8_t> data) {
    const std::uint32_t any = head[1] | std::uint32_t{head[2]} << 8U;
    const std::uint32_t s = 1U + any % (head[0] % 16 == 0 ? kMostLevels : 300U); // many are slow
    const auto levels = levelsFrom(data, s);
    std::vector<std::uint32_t> histogram(2 * s + 1, 0U);
    for (const std::int16_t level : levels)
        ++histogram[static_cast<std::size_t>(level + static_cast<int>(s))];
    static LevelEncoder encoder;
    static LevelDecoder decoder;
    for (const auto& [name, code] : kLevelCodes) {
        const LevelCoding coding = encoder.plan(histogram, levels, code);
        std::vector<std::byte> bytes(coding.bytes);
        encoder.write(coding, s, levels, bytes);
        std::vector<std::int16_t> back(levels.size());
        decoder.read(code, s, bytes, back);
        require(back == levels);
        change(bytes, head);
        try {
            decoder.read(code, s, bytes, back);
        } catch (const ProtocolError&) {
            continue;
        }
        for (const std::int16_t level : back)
            require(std::abs(level) <= static_cast<int>(s));
    }
}

void tryIndices(const std::uint8_t* head, std::span<const std::uint8_t> data) {
    std::size_t n = 0;
    const auto indices = indicesFrom(data, n);
    for (const auto& [name, code] : kIndexCodes) {
        if (code == IndexCode::Bitmap && n > (1U << 16U))
            continue; // slow
        const IndexCoding coding = planIndexCode(indices, n, code);
        std::vector<std::byte> bytes(coding.bytes);
        writeIndices(coding, indices, bytes);
        std::vector<std::uint32_t> back;
        readIndices(coding, bytes, n, indices.size(), back);
        require(back == indices);
        change(bytes, head);
        try {
            readIndices(coding, bytes, n, indices.size(), back);
        } catch (const ProtocolError&) {
            continue;
        }
        for (std::size_t i = 0; i < back.size(); ++i)
            require(back[i] < n && (i == 0 || back[i - 1] < back[i]));
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < kHead)
        return 0;
    const std::span<const std::uint8_t> content(data + kHead, size - kHead);
    if (data[0] % 2 == 0)
        tryLevels(data, content);
    else
        tryIndices(data, content);
    return 0;
}
