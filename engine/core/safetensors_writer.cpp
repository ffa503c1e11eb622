// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The writing half of safetensors.h.
#include "engine/core/atomic_file.h"
#include "engine/core/check.h"
#include "engine/core/errors.h"
#include "engine/core/safetensors.h"
#include "engine/core/safetensors_format.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace gradlab::engine {

void SafetensorsWriter::add(std::string name, TensorType type, std::vector<std::size_t> shape,
                            std::span<const std::byte> data) {
    GRADLAB_CHECK(shapeBytes(shape, type) == data.size(), name, data.size());
    GRADLAB_CHECK(name != kMetadataKey, name);
    for (const TensorView& other : tensors_)
        GRADLAB_CHECK(other.name != name, name);
    tensors_.push_back({std::move(name), type, std::move(shape), data});
}
void SafetensorsWriter::add(std::string name, std::vector<std::size_t> shape,
                            std::span<const double> data) {
    add(std::move(name), TensorType::F64, std::move(shape), std::as_bytes(data));
}
void SafetensorsWriter::add(std::string name, std::vector<std::size_t> shape,
                            std::span<const float> data) {
    add(std::move(name), TensorType::F32, std::move(shape), std::as_bytes(data));
}
void SafetensorsWriter::add(std::string name, std::vector<std::size_t> shape,
                            std::span<const std::int64_t> data) {
    add(std::move(name), TensorType::I64, std::move(shape), std::as_bytes(data));
}
void SafetensorsWriter::add(std::string name, std::vector<std::size_t> shape,
                            std::span<const std::int32_t> data) {
    add(std::move(name), TensorType::I32, std::move(shape), std::as_bytes(data));
}
void SafetensorsWriter::add(std::string name, std::vector<std::size_t> shape,
                            std::span<const std::uint8_t> data) {
    add(std::move(name), TensorType::U8, std::move(shape), std::as_bytes(data));
}

void SafetensorsWriter::setMetadata(std::string key, std::string value) {
    metadata_[std::move(key)] = std::move(value);
}

std::string SafetensorsWriter::header(std::span<const std::size_t> order) const {
    nlohmann::ordered_json header = nlohmann::ordered_json::object();
    std::map<std::string, std::string> metadata = metadata_;
    if (checksum_) {
        std::vector<const TensorView*> tensors;
        for (const std::size_t i : order)
            tensors.push_back(&tensors_[i]);
        metadata[kChecksumKey] = checksumOf(metadata, tensors);
    }
    if (!metadata.empty())
        header[kMetadataKey] = metadata;
    std::size_t offset = 0;
    for (const std::size_t i : order) {
        const TensorView& view = tensors_[i];
        const std::size_t end = offset + view.data.size();
        header[view.name] = {{"dtype", tensorTypeName(view.type)},
                             {"shape", view.shape},
                             {"data_offsets", {offset, end}}};
        offset = end;
    }
    std::string text =
        header.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    const std::size_t used = (kLengthBytes + text.size()) % kBufferAlignment;
    text.append((kBufferAlignment - used) % kBufferAlignment, ' ');
    return text;
}

std::vector<std::size_t> SafetensorsWriter::order() const {
    std::vector<std::size_t> order(tensors_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [&](std::size_t i) { return tensorTypeBytes(tensors_[i].type); });
    return order;
}

void SafetensorsWriter::write(const std::filesystem::path& path) const {
    const std::vector<std::size_t> sequence = order();
    const std::string text = header(sequence);
    if (text.size() > kMaximumHeader)
        throw DataError("cannot write " + path.string() + ": names and metadata exceed 100 MB");
    AtomicFile file(path);
    const std::uint64_t length = text.size();
    file.write(std::as_bytes(std::span(&length, 1)));
    file.write(text);
    for (const std::size_t i : sequence)
        file.write(tensors_[i].data);
    file.commit();
}

ByteBuffer SafetensorsWriter::bytes() const {
    const std::vector<std::size_t> sequence = order();
    const std::string text = header(sequence);
    ByteBuffer bytes;
    const auto append = [&bytes](std::span<const std::byte> piece) {
        bytes.insert(bytes.end(), piece.begin(), piece.end());
    };
    std::size_t size = sizeof(std::uint64_t) + text.size();
    for (const TensorView& tensor : tensors_)
        size += tensor.data.size();
    bytes.reserve(size);
    const std::uint64_t length = text.size();
    append(std::as_bytes(std::span(&length, 1)));
    append(std::as_bytes(std::span(text)));
    for (const std::size_t i : sequence)
        append(tensors_[i].data);
    return bytes;
}

} // namespace gradlab::engine
