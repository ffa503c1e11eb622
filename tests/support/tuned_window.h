// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The window with a small run that is to be tuned, and what its log says of changes.
#pragma once

#include "app/main_window.h"
#include "app/run_collection.h"
#include "app/tuning_bar.h"
#include "engine/metrics/run_log.h"
#include "tests/support/small_run.h"
#include "widgets/field_editor.h"
#include "widgets/run_series.h"

#include <QAction>
#include <QTest>

#include <bit>
#include <filesystem>
#include <memory>
#include <vector>

namespace gradlab::tests {

inline engine::Experiment topK(std::int64_t steps = 0) {
    engine::Experiment experiment = smallExperiment("Top-k", steps);
    setCompression(experiment, "topk");
    return experiment;
}

inline std::unique_ptr<app::MainWindow> makeWindow(std::vector<engine::Experiment> race,
                                                   const std::filesystem::path& out = {}) {
    app::WindowOptions options;
    options.experiments = std::move(race);
    options.quit = true; // nobody answers questions, nothing is kept
    options.width = 1280;
    options.height = 800;
    options.out = out;
    auto window = std::make_unique<app::MainWindow>(
        app::WindowServices{threadTransports(), loadSmallCorpus}, options);
    window->show();
    window->setTuningShown(true);
    return window;
}

/// A run that has made some steps and waits.
inline void startAndPause(app::MainWindow& window) {
    window.startOrResume();
    QTRY_VERIFY(window.runs()->list().back().series->numbers().step > 5);
    window.togglePause();
    QTRY_VERIFY(window.session()->state() == engine::RunState::Paused);
}

inline const app::CollectedRun& run(const app::MainWindow& window, std::size_t index = 0) {
    return *window.runs()->find(window.runs()->list().at(index).id);
}

inline void edit(app::MainWindow& window, const char* path, const engine::FieldValue& value) {
    Q_EMIT window.tuning()->editor(QString::fromLatin1(path))->edited(value);
}

inline QAction* undoAction(const app::MainWindow& window) {
    for (QAction* action : window.findChildren<QAction*>())
        if (action->shortcut() == QKeySequence(QKeySequence::Undo))
            return action;
    return nullptr;
}

inline bool isChange(const engine::EventRecord& event) {
    return event.event == "parameter_changed" || event.event == "parameter_followed";
}

/// With those that followed from another, or without.
inline std::vector<engine::EventRecord> changesIn(const std::vector<engine::Record>& log,
                                                  bool withFollowed = false) {
    std::vector<engine::EventRecord> changes;
    for (const engine::Record& record : log)
        if (const auto* event = std::get_if<engine::EventRecord>(&record))
            if (event->event == "parameter_changed" || (withFollowed && isChange(*event)))
                changes.push_back(*event);
    return changes;
}

inline std::vector<engine::StepRecord> stepsIn(const std::vector<engine::Record>& log) {
    std::vector<engine::StepRecord> steps;
    for (const engine::Record& record : log)
        if (const auto* step = std::get_if<engine::StepRecord>(&record))
            steps.push_back(*step);
    return steps;
}

inline bool sameBits(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

} // namespace gradlab::tests
