// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/core/folder_lock.h"

#include "engine/core/errors.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace gradlab::engine {

FolderLock::FolderLock(const std::filesystem::path& folder)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (descriptor_ < 0)
        throw DataError("cannot open the folder (" + std::generic_category().message(errno) +
                        "): " + folder.string() + "; check its rights");
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0)
        return;
    const int why = errno;
    ::close(descriptor_);
    // Some file systems know no such locks: better an unguarded run than none.
    descriptor_ = -1;
    if (why == EWOULDBLOCK)
        throw DataError("another program writes this run: " + folder.string() +
                        "; wait until it has ended, or stop it");
}

FolderLock::~FolderLock() {
    if (descriptor_ >= 0)
        ::close(descriptor_);
}

} // namespace gradlab::engine
