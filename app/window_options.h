// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The command line of `gradlab`, read and checked before any window or display is needed.
#pragma once

#include "app/cli/scripted_change.h"
#include "engine/training/experiment.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gradlab::app {

struct WindowOptions {
    std::vector<std::filesystem::path> runFolders; ///< shown beside what runs
    std::vector<engine::Experiment> experiments;   ///< of the files, in order; empty = first look
    std::string experimentFile;                    ///< if they are of one file; else empty
    std::vector<ScriptedChange> script;
    std::vector<ScriptedAction> actions; ///< on worker processes
    std::filesystem::path out;           ///< run folder, or empty
    std::filesystem::path screenshot;    ///< picture to save, or empty
    std::filesystem::path report;        ///< page to save, or empty
    std::string theme;                   ///< light, dark, or empty: as the desktop
    std::string xAxis = "step";          ///< step, bytes, simulated, wall, epoch, tokens
    double zoomFrom = 0.0;               ///< part of the x axis, in its unit
    double zoomTo = 0.0;                 ///< no more than zoomFrom: all of it
    std::string layout;                  ///< teach, tune, network, one's own, or empty
    std::string baseline;                ///< how the name of an opened run begins, or empty
    std::string gradient;                ///< the Gradient panel with this view; empty: not shown
    std::uint64_t steps = 0;             ///< limit of every run; 0 = as the experiments say
    int width = 0;                       ///< pixels; 0 = as last time
    int height = 0;
    bool start = false;
    bool quit = false;
    bool present = false;

    /// Nobody sits in front of it: no questions, nothing kept for the next time.
    [[nodiscard]] bool isScripted() const noexcept {
        return quit || !screenshot.empty() || !report.empty();
    }
};

/// What the command line asks for, or with what the program ends at once (--help, --version).
struct WindowCommand {
    WindowOptions options;
    std::optional<int> exitCode; ///< set: print `text` (stderr unless 0) and end
    std::string text;
};

/// Reads experiment files too. `argv` as of main(). Throws nothing but std::bad_alloc.
[[nodiscard]] WindowCommand readCommandLine(int argc, const char* const* argv);

/// The race that the program shows without a file.
[[nodiscard]] std::vector<engine::Experiment> firstLookRace();

} // namespace gradlab::app
