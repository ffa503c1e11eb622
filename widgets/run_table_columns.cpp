// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/run_table_columns.h"

#include "widgets/run_table_model.h"

#include <QtGlobal>

#include <array>

namespace gradlab::widgets {

namespace {

using Better = RunColumn::Better;
constexpr ValueKind kNumber = ValueKind::Number;
constexpr ValueKind kBytes = ValueKind::Bytes;
constexpr ValueKind kSeconds = ValueKind::Seconds;

constexpr std::array<RunColumn, RunTableModel::ColumnCount> kColumns = {{
    {"name", QT_TRANSLATE_NOOP("RunTableModel", "Run"),
     QT_TRANSLATE_NOOP("RunTableModel", "Name and colour; unchecked runs are not on the charts")},
    {"method", QT_TRANSLATE_NOOP("RunTableModel", "Method"),
     QT_TRANSLATE_NOOP("RunTableModel", "Compression method and memory that it works with now")},
    {"state", QT_TRANSLATE_NOOP("RunTableModel", "State"),
     QT_TRANSLATE_NOOP("RunTableModel", "What the run does, or how it ended")},
    {"note", QT_TRANSLATE_NOOP("RunTableModel", "Note"),
     QT_TRANSLATE_NOOP("RunTableModel", "Your own words; double-click or F2 to write")},
    {"settings", QT_TRANSLATE_NOOP("RunTableModel", "Settings"),
     QT_TRANSLATE_NOOP("RunTableModel",
                       "Fields of the experiment that differ from the baseline's")},
    {"step", QT_TRANSLATE_NOOP("RunTableModel", "Step"),
     QT_TRANSLATE_NOOP("RunTableModel", "Steps done")},
    {"train", QT_TRANSLATE_NOOP("RunTableModel", "Train ppl"),
     QT_TRANSLATE_NOOP("RunTableModel", "Perplexity on the training text, mean of recent steps"),
     kNumber, Better::Less},
    {"valid", QT_TRANSLATE_NOOP("RunTableModel", "Valid ppl"),
     QT_TRANSLATE_NOOP("RunTableModel", "Perplexity of the latest validation"), kNumber,
     Better::Less},
    {"best", QT_TRANSLATE_NOOP("RunTableModel", "Best ppl"),
     QT_TRANSLATE_NOOP("RunTableModel", "Lowest perplexity of a validation"), kNumber,
     Better::Less},
    {"test", QT_TRANSLATE_NOOP("RunTableModel", "Test ppl"),
     QT_TRANSLATE_NOOP("RunTableModel", "Perplexity on the test text at the end"), kNumber,
     Better::Less},
    {"bytes_step", QT_TRANSLATE_NOOP("RunTableModel", "Bytes/step"),
     QT_TRANSLATE_NOOP("RunTableModel", "One worker's message, headers included"), kBytes,
     Better::Less},
    {"bytes", QT_TRANSLATE_NOOP("RunTableModel", "Bytes"),
     QT_TRANSLATE_NOOP("RunTableModel", "One worker's messages since the start"), kBytes,
     Better::Less},
    {"ratio", QT_TRANSLATE_NOOP("RunTableModel", "Ratio"),
     QT_TRANSLATE_NOOP("RunTableModel", "Bytes of a dense message / bytes of a message"), kNumber,
     Better::More},
    {"simulated", QT_TRANSLATE_NOOP("RunTableModel", "Simulated time"),
     QT_TRANSLATE_NOOP("RunTableModel", "On the modelled cluster"), kSeconds, Better::Less},
    {"wall", QT_TRANSLATE_NOOP("RunTableModel", "Wall time"),
     QT_TRANSLATE_NOOP("RunTableModel", "On this computer, pauses excluded"), kSeconds,
     Better::Less},
    {"target_steps", QT_TRANSLATE_NOOP("RunTableModel", "Steps to target"),
     QT_TRANSLATE_NOOP("RunTableModel",
                       "Steps until a validation was at the target perplexity or below for the "
                       "first time; training perplexities do not count"),
     kNumber, Better::Less},
    {"target_bytes", QT_TRANSLATE_NOOP("RunTableModel", "Bytes to target"),
     QT_TRANSLATE_NOOP("RunTableModel",
                       "One worker's messages until a validation was at the target perplexity or "
                       "below for the first time"),
     kBytes, Better::Less},
    {"target_time", QT_TRANSLATE_NOOP("RunTableModel", "Time to target"),
     QT_TRANSLATE_NOOP("RunTableModel",
                       "Simulated time until a validation was at the target perplexity or below "
                       "for the first time"),
     kSeconds, Better::Less},
    {"loss_difference", QT_TRANSLATE_NOOP("RunTableModel", "Max |Δ loss|"),
     QT_TRANSLATE_NOOP("RunTableModel",
                       "Largest difference of a step's training loss from the baseline's, in f64 "
                       "as recorded, over the steps that both have (of the first 100 000)")},
}};

} // namespace

const RunColumn& runColumn(int column) {
    return kColumns.at(static_cast<std::size_t>(column));
}

int runColumnOf(const QString& key) {
    for (int column = 0; column < RunTableModel::ColumnCount; ++column)
        if (key == QLatin1String(runColumn(column).key))
            return column;
    return -1;
}

} // namespace gradlab::widgets
