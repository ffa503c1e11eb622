// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A fixed-size array on a 64-byte boundary, zero at first; the engine's one kind of large memory.
#pragma once

#include "engine/core/export.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace gradlab::engine {

inline constexpr std::size_t kBufferAlignment = 64;

/// Memory on that boundary, not initialised; a large one in huge pages where the system has them:
/// columns of a large matrix lie pages apart. @throws std::bad_alloc
[[nodiscard]] GRADLAB_ENGINE_EXPORT void* allocateAligned(std::size_t bytes);
GRADLAB_ENGINE_EXPORT void freeAligned(void* pointer, std::size_t bytes) noexcept;

template <class T>
class AlignedBuffer {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    AlignedBuffer() = default;
    explicit AlignedBuffer(std::size_t size) : size_(size) {
        if (size == 0)
            return;
        data_ = {static_cast<T*>(allocateAligned(size * sizeof(T))), Free{size * sizeof(T)}};
        std::fill_n(data_.get(), size, T{});
    }
    AlignedBuffer(const AlignedBuffer& other) : AlignedBuffer(other.size_) {
        std::copy_n(other.data(), size_, data());
    }
    AlignedBuffer& operator=(const AlignedBuffer& other) {
        AlignedBuffer copy(other);
        swap(copy);
        return *this;
    }
    AlignedBuffer(AlignedBuffer&& other) noexcept
        : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}
    AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
        data_ = std::move(other.data_);
        size_ = std::exchange(other.size_, 0);
        return *this;
    }
    ~AlignedBuffer() = default;

    void swap(AlignedBuffer& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
    }
    [[nodiscard]] T* data() noexcept { return data_.get(); }
    [[nodiscard]] const T* data() const noexcept { return data_.get(); }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] T& operator[](std::size_t index) noexcept { return data_[index]; }
    [[nodiscard]] const T& operator[](std::size_t index) const noexcept { return data_[index]; }
    [[nodiscard]] T* begin() noexcept { return data(); }
    [[nodiscard]] T* end() noexcept { return data() + size_; }
    [[nodiscard]] const T* begin() const noexcept { return data(); }
    [[nodiscard]] const T* end() const noexcept { return data() + size_; }
    [[nodiscard]] std::span<T> span() noexcept { return {data(), size_}; }
    [[nodiscard]] std::span<const T> span() const noexcept { return {data(), size_}; }
    void fill(T value) noexcept { std::fill_n(data(), size_, value); }

private:
    struct Free {
        std::size_t bytes = 0;
        void operator()(T* pointer) const noexcept { freeAligned(pointer, bytes); }
    };
    std::unique_ptr<T[], Free> data_; // NOLINT(modernize-avoid-c-arrays): the size is not constant
    std::size_t size_ = 0;
};

} // namespace gradlab::engine
