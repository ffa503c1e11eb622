// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/metrics/append_file.h"

#include "engine/core/errors.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

namespace gradlab::engine {

namespace {

[[noreturn]] void failWriting(const std::filesystem::path& path) {
    throw DataError("cannot write (" + std::generic_category().message(errno) +
                    "): " + path.string() + "; check the folder's rights and the free space");
}

} // namespace

AppendFile::AppendFile(std::filesystem::path path) : path_(std::move(path)) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor_ < 0)
        failWriting(path_);
}

AppendFile::~AppendFile() {
    ::close(descriptor_);
}

void AppendFile::append(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            failWriting(path_);
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
}

} // namespace gradlab::engine
