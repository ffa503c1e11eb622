// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// From train's arguments to what a run is made of: experiments, sinks, options. Checks everything
// that can be checked before anything starts, and writes nothing.
#pragma once

#include "app/cli/scripted_change.h"
#include "app/cli/train_command.h"
#include "engine/metrics/record_buffer.h"
#include "engine/metrics/record_sink.h"
#include "engine/training/training_run.h"

#include <memory>
#include <string>
#include <vector>

namespace gradlab::app {

/// Hands each record to the files first, then to the terminal's buffer.
class MemberSink final : public engine::RecordSink {
public:
    void record(const engine::Record& record) override;
    void snapshot(const std::shared_ptr<const engine::GradientSnapshot>& snapshot) override;
    void flush() override;

    std::vector<std::unique_ptr<engine::RecordSink>> files;
    engine::RecordBuffer buffer;
};

struct TrainSetup {
    std::vector<std::string> names;
    std::vector<std::unique_ptr<MemberSink>> sinks; ///< one a member, at a fixed address
    std::vector<engine::RunMember> members;
    std::vector<engine::ParameterChange> changes; ///< to make at once: a resumed run's overrides
    std::vector<ScriptedChange> script;           ///< due after a step
};

/// The experiments of a new run, valid. @throws ExperimentError, DataError
[[nodiscard]] std::vector<engine::Experiment>
requestedRace(const TrainArguments& arguments, const std::vector<FieldOverride>& overrides);

/// @throws ExperimentError, DataError
[[nodiscard]] TrainSetup prepareTraining(const TrainArguments& arguments,
                                         const std::vector<FieldOverride>& overrides);

} // namespace gradlab::app
