// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The log of a run that nobody wanted to keep, for as long as the window is open: what is exported
// has every record, and the charts' stores do not. Never fails its run: a full disk ends the log.
#pragma once

#include "engine/metrics/record_sink.h"
#include "engine/metrics/run_log.h"

#include <cstdint>
#include <filesystem>
#include <optional>

namespace gradlab::app {

class ScratchLog final : public engine::RecordSink {
public:
    static constexpr std::uint64_t kMostSteps = 1'000'000; ///< about 1 GB

    explicit ScratchLog(const std::filesystem::path& path, std::uint64_t mostSteps = kMostSteps)
        : log_(path), mostSteps_(mostSteps) {}
    void record(const engine::Record& record) override;

private:
    std::optional<engine::RunLog> log_; ///< nothing once it has ended
    std::uint64_t mostSteps_;
    std::uint64_t steps_ = 0;
};

} // namespace gradlab::app
