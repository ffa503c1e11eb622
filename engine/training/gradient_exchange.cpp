// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/gradient_exchange.h"

namespace gradlab::engine {

GradientExchange::~GradientExchange() = default;

} // namespace gradlab::engine
