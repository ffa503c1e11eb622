// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window_services.h"

#include "app/cli/corpus_loading.h"
#include "transport/in_process/in_process_exchange.h"

namespace gradlab::app {

WindowServices programServices() {
    return {{transport::makeInProcessExchange, {}}, makeCorpusLoader()};
}

} // namespace gradlab::app
