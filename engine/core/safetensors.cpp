// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/core/safetensors.h"

#include "engine/core/errors.h"
#include "engine/core/safetensors_format.h"

#include <fcntl.h>
#include <nlohmann/json.hpp>

#define XXH_STATIC_LINKING_ONLY // the state's size, so that it may live on the stack
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <set>
#include <system_error>
#include <utility>

namespace gradlab::engine {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are copied as they are");

constexpr std::size_t kMaximumDepth = 3; // header, tensor, shape or offsets

struct TypeRow {
    TensorType type;
    std::string_view name;
    std::size_t bytes;
};
constexpr std::array<TypeRow, 7> kTypes = {{{TensorType::F64, "F64", 8},
                                            {TensorType::F32, "F32", 4},
                                            {TensorType::F16, "F16", 2},
                                            {TensorType::BF16, "BF16", 2},
                                            {TensorType::I64, "I64", 8},
                                            {TensorType::I32, "I32", 4},
                                            {TensorType::U8, "U8", 1}}};

/// Says where: header bytes count from the file's start.
[[noreturn]] void reject(const std::string& file, std::size_t byte, const std::string& what) {
    throw DataError("not a valid safetensors file (" + what + "): " + file + " byte " +
                    std::to_string(byte) + "; give a file that is complete");
}

/// Parses the header and refuses what nlohmann accepts silently: repeated keys and deep nesting.
nlohmann::json parseHeader(std::string_view text, const std::string& file) {
    std::vector<std::set<std::string>> keys;
    const auto watch = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
        using Event = nlohmann::json::parse_event_t;
        if (depth > static_cast<int>(kMaximumDepth))
            reject(file, kLengthBytes, "the header is nested too deeply");
        if (event == Event::object_start)
            keys.emplace_back();
        else if (event == Event::object_end)
            keys.pop_back();
        else if (event == Event::key && !keys.back().insert(value.get<std::string>()).second)
            reject(file, kLengthBytes, "the name '" + value.get<std::string>() + "' appears twice");
        return true;
    };
    try {
        return nlohmann::json::parse(text, watch);
    } catch (const nlohmann::json::parse_error& error) {
        reject(file, kLengthBytes + error.byte, "the header is not JSON");
    } catch (const nlohmann::json::out_of_range&) {
        reject(file, kLengthBytes, "a number in the header is beyond every range");
    }
}

const nlohmann::json& member(const nlohmann::json& entry, const char* key, const std::string& file,
                             const std::string& name) {
    const auto found = entry.find(key);
    if (found == entry.end())
        reject(file, kLengthBytes, "tensor '" + name + "' has no " + key);
    return *found;
}

std::size_t count(const nlohmann::json& value, const std::string& file, const std::string& name) {
    if (!value.is_number_unsigned())
        reject(file, kLengthBytes, "tensor '" + name + "' has a size that is no whole number");
    return value.get<std::size_t>();
}

TensorType typeOf(const nlohmann::json& value, const std::string& file, const std::string& name) {
    if (value.is_string())
        for (const TypeRow& row : kTypes)
            if (value.get_ref<const std::string&>() == row.name)
                return row.type;
    reject(file, kLengthBytes,
           "tensor '" + name + "' has the type " + value.dump(-1, ' ', true) +
               ", known are F64 F32 F16 BF16 I64 I32 U8");
}

TensorView viewOf(const std::string& name, const nlohmann::json& entry,
                  std::span<const std::byte> data, const std::string& file) {
    if (!entry.is_object())
        reject(file, kLengthBytes, "the entry '" + name + "' is no object");
    TensorView view;
    view.name = name;
    view.type = typeOf(member(entry, "dtype", file, name), file, name);
    const nlohmann::json& shape = member(entry, "shape", file, name);
    const nlohmann::json& offsets = member(entry, "data_offsets", file, name);
    if (!shape.is_array() || !offsets.is_array() || offsets.size() != 2)
        reject(file, kLengthBytes, "tensor '" + name + "' has no proper shape and data_offsets");
    for (const nlohmann::json& size : shape)
        view.shape.push_back(count(size, file, name));
    const std::size_t begin = count(offsets[0], file, name);
    const std::size_t end = count(offsets[1], file, name);
    if (begin > end || end > data.size())
        reject(file, kLengthBytes,
               "tensor '" + name + "' ends at data byte " + std::to_string(end) + " of " +
                   std::to_string(data.size()) + ", the file is cut or damaged");
    if (shapeBytes(view.shape, view.type) != end - begin)
        reject(file, kLengthBytes,
               "tensor '" + name + "' of shape " + view.shapeText() + " does not fit its " +
                   std::to_string(end - begin) + " bytes");
    view.data = data.subspan(begin, end - begin);
    return view;
}

std::map<std::string, std::string> metadataOf(const nlohmann::json& entry,
                                              const std::string& file) {
    if (!entry.is_object())
        reject(file, kLengthBytes, "__metadata__ is no object");
    std::map<std::string, std::string> metadata;
    for (const auto& [key, value] : entry.items()) {
        if (!value.is_string())
            reject(file, kLengthBytes, "the metadata '" + key + "' is no string");
        metadata[key] = value.get<std::string>();
    }
    return metadata;
}

/// The data section must be covered once and completely.
void checkCover(const std::vector<TensorView>& tensors, std::span<const std::byte> data,
                std::size_t dataStart, const std::string& file) {
    const std::byte* expected = data.data();
    for (const TensorView& view : tensors) {
        if (view.data.data() != expected)
            reject(file, dataStart + static_cast<std::size_t>(view.data.data() - data.data()),
                   "tensor '" + view.name + "' overlaps another or leaves a hole");
        expected += view.data.size();
    }
    if (expected != data.data() + data.size())
        reject(file, dataStart + static_cast<std::size_t>(expected - data.data()),
               "bytes that belong to no tensor");
}

float halfToFloat(std::uint16_t half) noexcept {
    const std::uint32_t sign = (half & 0x8000U) << 16;
    const std::uint32_t exponent = (half >> 10) & 0x1FU;
    const std::uint32_t fraction = half & 0x3FFU;
    if (exponent == 0x1F)
        return std::bit_cast<float>(sign | 0x7F800000U | (fraction << 13));
    if (exponent != 0)
        return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F; // zero and subnormals, exact
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

float bfloatToFloat(std::uint16_t value) noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
}

template <class Stored, class T, class Convert>
void convert(std::span<const std::byte> data, std::span<T> out, Convert convertOne) {
    for (std::size_t i = 0; i < out.size(); ++i) {
        Stored value{};
        std::memcpy(&value, data.data() + i * sizeof(Stored), sizeof(Stored));
        out[i] = static_cast<T>(convertOne(value));
    }
}

template <class T>
void copyReal(const TensorView& view, const std::string& file, std::span<T> out) {
    switch (view.type) {
    case TensorType::F64:
        return convert<double>(view.data, out, [](double value) { return value; });
    case TensorType::F32:
        return convert<float>(view.data, out, [](float value) { return value; });
    case TensorType::F16:
        return convert<std::uint16_t>(view.data, out, halfToFloat);
    case TensorType::BF16:
        return convert<std::uint16_t>(view.data, out, bfloatToFloat);
    default:
        throw DataError("tensor '" + view.name + "' holds " +
                        std::string(tensorTypeName(view.type)) + ": " + file +
                        "; give floating-point numbers (F64, F32, F16 or BF16)");
    }
}

class Descriptor {
public:
    explicit Descriptor(int value) : value_(value) {}
    ~Descriptor() {
        if (value_ >= 0)
            ::close(value_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    [[nodiscard]] int value() const noexcept { return value_; }

private:
    int value_;
};

[[noreturn]] void failRead(const std::string& file) {
    throw DataError("cannot read the file (" + std::generic_category().message(errno) +
                    "): " + file + "; check the path");
}

AlignedBuffer<std::byte> readWhole(const std::string& file) {
    // O_NONBLOCK: opening a pipe does not wait for a writer; regular files do not know it.
    const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status = {};
    if (descriptor.value() < 0 || ::fstat(descriptor.value(), &status) != 0)
        failRead(file);
    if (!S_ISREG(status.st_mode))
        throw DataError("not a regular file: " + file + "; give a .safetensors file");
    AlignedBuffer<std::byte> bytes(static_cast<std::size_t>(status.st_size));
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t got = ::read(descriptor.value(), bytes.data() + done, bytes.size() - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            failRead(file);
        if (got == 0)
            reject(file, done, "the file became shorter while it was read");
        done += static_cast<std::size_t>(got);
    }
    return bytes;
}

} // namespace

std::size_t tensorTypeBytes(TensorType type) noexcept {
    return kTypes[static_cast<std::size_t>(type)].bytes;
}

std::string_view tensorTypeName(TensorType type) noexcept {
    return kTypes[static_cast<std::size_t>(type)].name;
}

std::string TensorView::describeShape(std::span<const std::size_t> shape) {
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i)
        text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    return text + "]";
}

SafetensorsFile SafetensorsFile::read(const std::filesystem::path& path) {
    return parse(readWhole(path.string()), path.string());
}

SafetensorsFile SafetensorsFile::parse(AlignedBuffer<std::byte> bytes, std::string name) {
    if (bytes.size() < kLengthBytes)
        reject(name, bytes.size(), "the file is too short");
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), kLengthBytes);
    if (length > kMaximumHeader || length > bytes.size() - kLengthBytes)
        reject(name, 0, "the header's length " + std::to_string(length) + " exceeds the file");
    SafetensorsFile file;
    file.bytes_ = std::move(bytes);
    file.name_ = std::move(name);
    const auto* text = reinterpret_cast<const char*>(file.bytes_.data() + kLengthBytes);
    if (length == 0 || *text != '{')
        reject(file.name_, kLengthBytes, "the header does not start with '{'");
    const std::size_t dataStart = kLengthBytes + length;
    const auto data = std::as_const(file.bytes_).span().subspan(dataStart);
    const nlohmann::json header = parseHeader({text, length}, file.name_);
    for (const auto& [key, entry] : header.items()) {
        if (key == kMetadataKey)
            file.metadata_ = metadataOf(entry, file.name_);
        else
            file.tensors_.push_back(viewOf(key, entry, data, file.name_));
    }
    // An empty tensor shares its offset with the next one and must come before it.
    std::ranges::sort(file.tensors_, {}, [](const TensorView& view) {
        return std::pair(view.data.data(), view.data.size());
    });
    checkCover(file.tensors_, data, dataStart, file.name_);
    for (std::size_t i = 0; i < file.tensors_.size(); ++i)
        file.index_[file.tensors_[i].name] = i;
    return file;
}

std::vector<std::string> SafetensorsFile::names() const {
    std::vector<std::string> names;
    for (const TensorView& view : tensors_)
        names.push_back(view.name);
    return names;
}

const TensorView* SafetensorsFile::find(std::string_view name) const noexcept {
    const auto found = index_.find(name);
    return found == index_.end() ? nullptr : &tensors_[found->second];
}

const TensorView& SafetensorsFile::tensor(std::string_view name) const {
    const TensorView* view = find(name);
    if (view == nullptr)
        throw DataError("tensor '" + std::string(name) + "' is missing: " + name_ +
                        "; give a file that holds it");
    return *view;
}

const std::string& SafetensorsFile::metadata(const std::string& key) const {
    const auto found = metadata_.find(key);
    if (found == metadata_.end())
        throw DataError("metadata '" + key + "' is missing: " + name_ +
                        "; give a file that holds it");
    return found->second;
}

const TensorView& SafetensorsFile::sized(std::string_view name, std::size_t elements) const {
    const TensorView& view = tensor(name);
    if (view.elements() != elements)
        throw DataError("tensor '" + view.name + "' has shape " + view.shapeText() + ": " + name_ +
                        "; give one of " + std::to_string(elements) + " elements");
    return view;
}

void SafetensorsFile::copyTo(std::string_view name, std::span<float> out) const {
    copyReal(sized(name, out.size()), name_, out);
}
void SafetensorsFile::copyTo(std::string_view name, std::span<double> out) const {
    copyReal(sized(name, out.size()), name_, out);
}
void SafetensorsFile::copyTo(std::string_view name, std::span<std::int64_t> out) const {
    copyExact(name, TensorType::I64, out);
}
void SafetensorsFile::copyTo(std::string_view name, std::span<std::int32_t> out) const {
    copyExact(name, TensorType::I32, out);
}
void SafetensorsFile::copyTo(std::string_view name, std::span<std::uint8_t> out) const {
    copyExact(name, TensorType::U8, out);
}

template <class T>
void SafetensorsFile::copyExact(std::string_view name, TensorType type, std::span<T> out) const {
    const TensorView& view = sized(name, out.size());
    if (view.type != type)
        throw DataError("tensor '" + view.name + "' holds " +
                        std::string(tensorTypeName(view.type)) + ": " + name_ + "; give " +
                        std::string(tensorTypeName(type)));
    if (!out.empty())
        std::memcpy(out.data(), view.data.data(), view.data.size());
}

std::string checksumOf(const std::map<std::string, std::string>& metadata,
                       const std::vector<const TensorView*>& tensors) {
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    const auto addText = [&state](const std::string& text) {
        const std::uint64_t size = text.size(); // "ab" + "c" is not "a" + "bc"
        XXH3_64bits_update(&state, &size, sizeof(size));
        XXH3_64bits_update(&state, text.data(), text.size());
    };
    for (const auto& [key, value] : metadata) {
        if (key == kChecksumKey)
            continue;
        addText(key);
        addText(value);
    }
    for (const TensorView* tensor : tensors) {
        addText(tensor->name);
        XXH3_64bits_update(&state, tensor->data.data(), tensor->data.size());
    }
    constexpr int kDigits = 16;
    constexpr int kBitsADigit = 4;
    std::uint64_t hash = XXH3_64bits_digest(&state);
    std::string text(kDigits, '0');
    for (int at = kDigits - 1; at >= 0; --at, hash >>= kBitsADigit)
        text[static_cast<std::size_t>(at)] = "0123456789abcdef"[hash & 0xFU];
    return text;
}

void SafetensorsFile::requireIntact() const {
    const auto found = metadata_.find(kChecksumKey);
    if (found == metadata_.end())
        return;
    std::vector<const TensorView*> tensors;
    for (const TensorView& tensor : tensors_)
        tensors.push_back(&tensor);
    if (checksumOf(metadata_, tensors) != found->second)
        throw DataError("its checksum does not match, the file is damaged: " + name_ +
                        "; take an earlier one");
}

} // namespace gradlab::engine
