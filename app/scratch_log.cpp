// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/scratch_log.h"

#include "engine/core/errors.h"

namespace gradlab::app {

void ScratchLog::record(const engine::Record& record) {
    if (!log_ || std::holds_alternative<engine::WorkerRecord>(record))
        return;
    if (std::holds_alternative<engine::StepRecord>(record) && ++steps_ > mostSteps_) {
        log_.reset();
        return;
    }
    try {
        log_->record(record);
    } catch (const engine::DataError&) {
        log_.reset(); // whoever exports is told how far the log goes
    }
}

} // namespace gradlab::app
