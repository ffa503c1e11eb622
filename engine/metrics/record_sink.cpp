// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/metrics/record_sink.h"

namespace gradlab::engine {

RecordSink::~RecordSink() = default;

} // namespace gradlab::engine
