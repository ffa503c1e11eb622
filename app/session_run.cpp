// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Run folders and member lists of a session's run; commands are TrainingSession's.
#include "app/session_run.h"

namespace gradlab::app {

void SessionSink::record(const engine::Record& record) {
    if (log)
        log->record(record);
    buffer.record(record);
}

void SessionSink::flush() {
    if (log)
        log->flush();
}

std::vector<engine::RunMember> SessionRun::memberList() const {
    std::vector<engine::RunMember> list;
    for (const auto& member : members)
        list.push_back({member->experiment, &member->sink, member->options});
    return list;
}

} // namespace gradlab::app
