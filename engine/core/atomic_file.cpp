// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/core/atomic_file.h"

#include "engine/core/check.h"
#include "engine/core/errors.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace gradlab::engine {

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)), aside_(path_) {
    std::error_code ignored;
    const auto status = std::filesystem::status(path_, ignored);
    // Renaming over a device or a folder would destroy it or fail late.
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
        throw DataError("cannot write " + path_.string() +
                        ": it exists and is not a regular file; choose another name");
    aside_ += '.';
    aside_ += std::to_string(::getpid());
    aside_ += ".part";
    ::unlink(aside_.c_str());
    descriptor_ =
        ::open(aside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor_ < 0)
        fail("cannot write");
}

AtomicFile::~AtomicFile() {
    if (descriptor_ < 0)
        return;
    ::close(descriptor_);
    ::unlink(aside_.c_str());
}

void AtomicFile::fail(const char* what) const {
    throw DataError(std::string(what) + ' ' + path_.string() + ": " +
                    std::generic_category().message(errno) +
                    "; check the folder and its free space");
}

void AtomicFile::write(std::span<const std::byte> bytes) {
    // One call writes at most 2 GiB on Linux and may write less.
    constexpr std::size_t kChunk = std::size_t{1} << 30;
    GRADLAB_CHECK(descriptor_ >= 0, path_);
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kChunk));
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            fail("cannot write");
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
}

void AtomicFile::commit() {
    GRADLAB_CHECK(descriptor_ >= 0, path_);
    if (::fsync(descriptor_) != 0 || ::rename(aside_.c_str(), path_.c_str()) != 0)
        fail("cannot finish");
    ::close(descriptor_);
    descriptor_ = -1;
    syncFolder();
}

void AtomicFile::syncFolder() const {
    const std::filesystem::path parent = path_.parent_path();
    const char* folder = parent.empty() ? "." : parent.c_str();
    const int descriptor = ::open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        return; // a folder that may be written but not read: the rename itself has succeeded
    ::fsync(descriptor);
    ::close(descriptor);
}

} // namespace gradlab::engine
