// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The one CPU clock: what a thread has computed, however long it waited.
#pragma once

#include "engine/core/export.h"

namespace gradlab::engine {

/// Seconds of CPU that the calling thread has used since it started (CLOCK_THREAD_CPUTIME_ID).
[[nodiscard]] GRADLAB_ENGINE_EXPORT double threadCpuSeconds();

} // namespace gradlab::engine
