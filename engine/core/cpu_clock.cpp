// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/core/cpu_clock.h"

#include "engine/core/check.h"

#include <ctime>

namespace gradlab::engine {

double threadCpuSeconds() {
    timespec now{};
    const int failed = clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    GRADLAB_CHECK(failed == 0, failed);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

} // namespace gradlab::engine
