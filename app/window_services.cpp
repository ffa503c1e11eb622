// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window_services.h"

#include "app/cli/corpus_loading.h"
#include "app/cli/transports.h"

namespace gradlab::app {

WindowServices programServices() {
    return {makeTransports(false), makeCorpusLoader()};
}

} // namespace gradlab::app
