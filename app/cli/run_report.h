// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A run's or a race's records as text for a terminal: lines at evaluations, one line of progress, a
// table at the end. Makes text only; who prints it is train_command.cpp.
#pragma once

#include "engine/metrics/step_record.h"
#include "engine/training/training_run.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gradlab::app {

class RunReport {
public:
    explicit RunReport(std::vector<std::string> names);

    /// Takes a record of one member. @return the line to print for it, or empty
    [[nodiscard]] std::string take(std::size_t member, const engine::Record& record);
    /// One line of at most `columns`: what does not fit is left out from the end.
    [[nodiscard]] std::string progressLine(const engine::RunProgress& progress,
                                           std::size_t columns) const;
    /// How every member ended, a line each below a line of titles.
    [[nodiscard]] std::string table() const;
    /// By member; none for one that has not ended.
    [[nodiscard]] std::vector<std::optional<engine::EndRecord>> ends() const;
    /// Whether any member was stopped before its end.
    [[nodiscard]] bool wasStopped() const;

private:
    struct Member {
        std::string name;
        std::optional<engine::StepRecord> step;
        std::optional<double> valid; ///< last perplexity
        std::optional<engine::EndRecord> end;
    };

    [[nodiscard]] std::string evaluationLine(const Member& member,
                                             const engine::EvalRecord& eval) const;
    [[nodiscard]] std::string prefix(const Member& member) const;

    std::vector<Member> members_;
    std::size_t nameColumns_ = 0;
    bool started_ = false; ///< the first member's start was told; the others share text and model
};

} // namespace gradlab::app
