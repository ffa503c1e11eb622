// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Where a run's records go: a log file, an event file, the window's buffer.
#pragma once

#include "engine/core/export.h"
#include "engine/metrics/gradient_snapshot.h"
#include "engine/metrics/step_record.h"

#include <memory>

namespace gradlab::engine {

/// Called in the run's own thread, one record at a time, in order. May block only briefly (disk).
class GRADLAB_ENGINE_EXPORT RecordSink {
public:
    virtual ~RecordSink();
    virtual void record(const Record& record) = 0;
    /// After the records of its step; shared, since views keep it.
    virtual void snapshot(const std::shared_ptr<const GradientSnapshot>& /*snapshot*/) {}
    /// Everything so far is safe to read by others (after a step that ends a pause, a checkpoint,
    /// the end).
    virtual void flush() {}
};

} // namespace gradlab::engine
