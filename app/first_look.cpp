// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The race that is compiled in.
#include "app/window_options.h"
#include "engine/core/check.h"
#include "engine/training/experiment_schema.h"

#include <QByteArray>
#include <QFile>

#include <string_view>

namespace gradlab::app {

std::vector<engine::Experiment> firstLookRace() {
    QFile file(QStringLiteral(":/experiments/first-look.json"));
    GRADLAB_CHECK(file.open(QIODevice::ReadOnly), "resource first-look.json is missing");
    const QByteArray text = file.readAll();
    return engine::parseExperiments(
        std::string_view(text.constData(), static_cast<std::size_t>(text.size())),
        "first-look.json");
}

} // namespace gradlab::app
