// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/cluster_coordinator.h"

namespace gradlab::engine {

ClusterCoordinator::~ClusterCoordinator() = default;

const char* toString(MemberState state) noexcept {
    switch (state) {
    case MemberState::Starting:
        return "starting";
    case MemberState::Joining:
        return "joining";
    case MemberState::Active:
        return "active";
    case MemberState::Computing:
        return "computing";
    case MemberState::Stalled:
        return "stalled";
    case MemberState::Straggling:
        return "straggling";
    case MemberState::Lost:
        return "lost";
    case MemberState::Spare:
        return "spare";
    case MemberState::Ended:
        return "ended";
    }
    return "";
}

} // namespace gradlab::engine
