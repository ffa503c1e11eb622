// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The gradient exchange of a worker process, as its compute thread sees it: parts go to the network
// thread by reference, and finish() waits until the coordinator says that the step is final. Leaves
// out: what happens on the network (WorkerStep).
#pragma once

#include "engine/training/gradient_exchange.h"
#include "transport/zmq/worker_board.h"

#include <memory>

namespace gradlab::transport {

/// `setup.ranks` = this worker's rank alone. `board`, whose other side is a WorkerNetwork's,
/// outlives the exchange. `hook` may be empty.
[[nodiscard]] std::unique_ptr<engine::GradientExchange>
makeWorkerExchange(const engine::ExchangeSetup& setup, WorkerBoard& board, PhaseHook hook);

} // namespace gradlab::transport
