// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The bodies of one part, taken apart and matched to the plan by unit id, whatever order their
// units came in. Leaves out: what the payloads hold (UnitDecoder).
#pragma once

#include "engine/compression/compressed_gradient.h"
#include "engine/compression/message_plan.h"

#include <cstddef>
#include <span>
#include <vector>

namespace gradlab::engine {

/// Views stay valid as long as the bodies do. Reused from part to part.
class PartBodies {
public:
    /// Every body must have each unit of the part exactly once, with the plan's number of elements.
    /// @throws ProtocolError naming the body, by its place in `bodies`, and the unit
    void match(const MessagePlan& plan, std::size_t part, std::span<const ByteView> bodies);

    [[nodiscard]] std::size_t bodies() const noexcept { return bodyCount_; }
    /// `unit`: place in the plan's list of the part.
    [[nodiscard]] const UnitView& view(std::size_t body, std::size_t unit) const {
        return views_[unit * bodyCount_ + body];
    }

private:
    void place(const MessagePlan& plan, const std::vector<std::uint32_t>& ids, std::size_t body,
               const UnitView& view);

    std::vector<UnitView> views_; ///< [unit][body]
    std::vector<UnitView> ofBody_;
    std::vector<bool> present_;
    std::size_t bodyCount_ = 0;
};

} // namespace gradlab::engine
