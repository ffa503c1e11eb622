// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/part_bodies.h"

#include "engine/core/check.h"
#include "engine/core/errors.h"

#include <algorithm>
#include <string>

namespace gradlab::engine {

void PartBodies::match(const MessagePlan& plan, std::size_t part,
                       std::span<const ByteView> bodies) {
    GRADLAB_CHECK(part < plan.parts().size(), part, plan.parts().size());
    const std::vector<std::uint32_t>& ids = plan.parts()[part];
    bodyCount_ = bodies.size();
    views_.assign(ids.size() * bodyCount_, {});
    present_.assign(views_.size(), false);
    // A body has as many units as the part, no unit twice and none from elsewhere: so it has all.
    for (std::size_t body = 0; body < bodyCount_; ++body) {
        splitBody(bodies[body], static_cast<std::uint32_t>(ids.size()), ofBody_);
        for (const UnitView& view : ofBody_)
            place(plan, ids, body, view);
    }
}

void PartBodies::place(const MessagePlan& plan, const std::vector<std::uint32_t>& ids,
                       std::size_t body, const UnitView& view) {
    const auto refuse = [&](const std::string& what) {
        throw ProtocolError("message refused: " + what + ": unit " +
                            std::to_string(view.descriptor.unit) + " of message " +
                            std::to_string(body));
    };
    const auto found = std::find(ids.begin(), ids.end(), view.descriptor.unit);
    if (found == ids.end())
        refuse("not a unit of this part");
    const auto index = static_cast<std::size_t>(found - ids.begin()) * bodyCount_ + body;
    if (present_[index])
        refuse("twice in one body");
    if (view.descriptor.elements != plan.units()[*found].size)
        refuse(std::to_string(view.descriptor.elements) + " elements where the model has " +
               std::to_string(plan.units()[*found].size));
    present_[index] = true;
    views_[index] = view;
}

} // namespace gradlab::engine
