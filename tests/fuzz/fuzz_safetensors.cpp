// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as a safetensors file, and once more as the header of one: refused with an error, or
// tensors that can be copied out.
#include "engine/core/errors.h"
#include "engine/core/safetensors.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

using namespace gradlab::engine;

namespace {

void copyOut(const SafetensorsFile& file, const TensorView& view) {
    try {
        std::vector<double> values(view.elements());
        file.copyTo(view.name, values);
    } catch (const DataError&) {
        // Integers are refused by design.
    }
}

void read(AlignedBuffer<std::byte> bytes) {
    try {
        const SafetensorsFile file = SafetensorsFile::parse(std::move(bytes), "fuzz");
        for (const TensorView& view : file.tensors())
            copyOut(file, view);
    } catch (const DataError&) {
        // A refused file is a good end.
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    AlignedBuffer<std::byte> bytes(size);
    if (size > 0)
        std::memcpy(bytes.data(), data, size);
    read(std::move(bytes));

    // A right length, and 64 bytes of data behind it.
    const std::uint64_t length = size;
    AlignedBuffer<std::byte> framed(sizeof(length) + size + 64);
    std::memcpy(framed.data(), &length, sizeof(length));
    if (size > 0)
        std::memcpy(framed.data() + sizeof(length), data, size);
    read(std::move(framed));
    return 0;
}
