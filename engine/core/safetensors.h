// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The safetensors file format: named tensors and string metadata in one file, read by PyTorch and
// NumPy alike.
//   u64le header bytes · JSON header, padded with spaces so that the data section is 64-aligned ·
//   tensors, packed
// Source: https://github.com/huggingface/safetensors#format. Bytes read are hostile: every length,
// offset and shape is checked before use. Leaves out: element types that the lab never makes (F8,
// BOOL, …).
#pragma once

#include "engine/core/aligned_buffer.h"
#include "engine/core/byte_buffer.h"
#include "engine/core/export.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gradlab::engine {

enum class TensorType { F64, F32, F16, BF16, I64, I32, U8 };

[[nodiscard]] GRADLAB_ENGINE_EXPORT std::size_t tensorTypeBytes(TensorType type) noexcept;
/// The format's own name: "F32".
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::string_view tensorTypeName(TensorType type) noexcept;

/// One tensor of an open file: little-endian, row-major; `data` lives as long as its
/// SafetensorsFile and need not be aligned, so read it with the copy functions.
struct TensorView {
    std::string name;
    TensorType type = TensorType::F32;
    std::vector<std::size_t> shape; ///< empty: one element
    std::span<const std::byte> data;

    [[nodiscard]] std::size_t elements() const noexcept {
        return data.size() / tensorTypeBytes(type);
    }
    [[nodiscard]] std::string shapeText() const { return describeShape(shape); }
    /// "[3, 4]"
    [[nodiscard]] GRADLAB_ENGINE_EXPORT static std::string
    describeShape(std::span<const std::size_t> shape);
};

class GRADLAB_ENGINE_EXPORT SafetensorsFile {
public:
    /// @throws DataError that names the file and the byte.
    [[nodiscard]] static SafetensorsFile read(const std::filesystem::path& path);
    /// The same from memory; `name` stands for the file in messages.
    [[nodiscard]] static SafetensorsFile parse(AlignedBuffer<std::byte> bytes, std::string name);

    /// In the order of the data section.
    [[nodiscard]] const std::vector<TensorView>& tensors() const noexcept { return tensors_; }
    [[nodiscard]] std::vector<std::string> names() const;
    [[nodiscard]] bool contains(std::string_view name) const noexcept {
        return find(name) != nullptr;
    }
    /// nullptr if there is none.
    [[nodiscard]] const TensorView* find(std::string_view name) const noexcept;
    /// @throws DataError naming file and tensor if there is none.
    [[nodiscard]] const TensorView& tensor(std::string_view name) const;

    /// Converts F64, F32, F16 and BF16 tensors element by element; narrowing rounds to nearest
    /// even.
    /// @throws DataError if the tensor is missing, holds integers, or has not out.size() elements.
    void copyTo(std::string_view name, std::span<float> out) const;
    void copyTo(std::string_view name, std::span<double> out) const;
    /// No conversion: the types must agree (I64, I32, U8).
    void copyTo(std::string_view name, std::span<std::int64_t> out) const;
    void copyTo(std::string_view name, std::span<std::int32_t> out) const;
    void copyTo(std::string_view name, std::span<std::uint8_t> out) const;

    [[nodiscard]] const std::map<std::string, std::string>& metadata() const noexcept {
        return metadata_;
    }
    /// @throws DataError naming file and key if it is missing.
    [[nodiscard]] const std::string& metadata(const std::string& key) const;
    /// The path as given, for messages.
    /// Compares the data with the checksum that the file was written with; a file without one
    /// passes. @throws DataError naming the file
    void requireIntact() const;

    [[nodiscard]] const std::string& name() const noexcept { return name_; }

private:
    SafetensorsFile() = default;
    const TensorView& sized(std::string_view name, std::size_t elements) const;
    template <class T>
    void copyExact(std::string_view name, TensorType type, std::span<T> out) const;

    AlignedBuffer<std::byte> bytes_; ///< the whole file; views point into it
    std::vector<TensorView> tensors_;
    std::map<std::string, std::size_t, std::less<>> index_;
    std::map<std::string, std::string> metadata_;
    std::string name_;
};

/// Collects views and writes them in one go. Tensors are ordered by element size, largest first,
/// else as added.
class GRADLAB_ENGINE_EXPORT SafetensorsWriter {
public:
    /// `data` is not copied: it must live until write(). Little-endian, row-major, exactly the
    /// shape's bytes.
    void add(std::string name, TensorType type, std::vector<std::size_t> shape,
             std::span<const std::byte> data);
    void add(std::string name, std::vector<std::size_t> shape, std::span<const double> data);
    void add(std::string name, std::vector<std::size_t> shape, std::span<const float> data);
    void add(std::string name, std::vector<std::size_t> shape, std::span<const std::int64_t> data);
    void add(std::string name, std::vector<std::size_t> shape, std::span<const std::int32_t> data);
    void add(std::string name, std::vector<std::size_t> shape, std::span<const std::uint8_t> data);
    void setMetadata(std::string key, std::string value);
    /// The file will tell whether its data were changed: see SafetensorsFile::requireIntact().
    void addChecksum() { checksum_ = true; }

    /// Atomic: a reader sees the old file or the new one (AtomicFile).
    /// @throws DataError naming the file.
    void write(const std::filesystem::path& path) const;
    /// The same document in memory. @throws DataError
    [[nodiscard]] ByteBuffer bytes() const;

private:
    [[nodiscard]] std::vector<std::size_t> order() const;
    [[nodiscard]] std::string header(std::span<const std::size_t> order) const;
    std::vector<TensorView> tensors_;
    std::map<std::string, std::string> metadata_;
    bool checksum_ = false;
};

} // namespace gradlab::engine
