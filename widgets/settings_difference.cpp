// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/settings_difference.h"

#include "engine/training/experiment_schema.h"
#include "widgets/field_text.h"

namespace gradlab::widgets {

namespace {

QString textOf(const engine::FieldSpec& field, const engine::Experiment& experiment) {
    if (!engine::isFieldUsed(field, experiment))
        return QStringLiteral("–");
    return QString::fromStdString(
        engine::formatFieldValue(field, engine::getField(experiment, field.path)));
}

} // namespace

std::vector<SettingDifference> settingDifferences(const engine::Experiment& run,
                                                  const engine::Experiment& baseline) {
    const engine::Experiment own = engine::resolved(run);
    const engine::Experiment base = engine::resolved(baseline);
    std::vector<SettingDifference> differences;
    for (const engine::FieldSpec& field : engine::experimentSchema()) {
        const QString value = textOf(field, own);
        const QString before = textOf(field, base);
        if (value != before)
            differences.push_back(
                {QString::fromStdString(field.path), fieldLabel(field), value, before});
    }
    return differences;
}

} // namespace gradlab::widgets
