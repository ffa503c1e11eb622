// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Every corpus that an experiment can name, for command line and window alike.
#pragma once

#include "engine/training/training_run.h"

namespace gradlab::app {

/// Turns builtin:kjv into its cached file. Experiments of a race share one corpus: the last one is
/// handed out again while somebody uses it. Thread-safe.
[[nodiscard]] engine::CorpusLoader makeCorpusLoader();

} // namespace gradlab::app
