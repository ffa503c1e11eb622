// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The gradient exchange of workers that are threads of one process. The frames are those that a
// network would carry: framed, hashed, verified, counted; an emulated link holds them back if asked
// to. Nobody is lost here, but the same membership rule counts messages and commits steps.
#pragma once

#include "engine/training/gradient_exchange.h"

#include <memory>

namespace gradlab::transport {

/// All workers must be local: setup.ranks = 0 … workers − 1. Topologies server and ring.
[[nodiscard]] std::unique_ptr<engine::GradientExchange>
makeInProcessExchange(const engine::ExchangeSetup& setup);

} // namespace gradlab::transport
