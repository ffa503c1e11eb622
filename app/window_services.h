// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What the program gives its window: the exchange between threads, and every corpus that the
// experiment file can name.
#pragma once

#include "app/main_window.h"

namespace gradlab::app {

[[nodiscard]] WindowServices programServices();

} // namespace gradlab::app
