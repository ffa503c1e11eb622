// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What a run has counted so far; part of every checkpoint, the source of cumulative fields and of
// the end record.
#pragma once

#include "engine/metrics/step_record.h"

#include <cstdint>
#include <optional>
#include <string>

namespace gradlab::engine {

struct RunTotals {
    std::uint64_t step = 0; ///< steps done
    std::uint64_t tokens = 0;
    double wallS = 0.0;
    double simulatedS = 0.0;
    double bytesUp = 0.0;
    double bytesDown = 0.0;
    double bytesMessage = 0.0;
    double bytesDense = 0.0;
    double bytesPaper = 0.0;
    std::optional<double> bestValid;          ///< perplexity
    std::uint64_t evaluationsWithoutGain = 0; ///< consecutive
    std::uint64_t evaluatedStep = 0;          ///< of the last evaluation of the valid split
    std::optional<std::uint64_t> targetSteps;
    std::optional<double> targetBytes;
    std::optional<double> targetSimulatedS;

    void add(const StepRecord& record);
    /// Counts an evaluation of the valid split. @return whether it is the best so far
    bool observe(double perplexity, double target);
    [[nodiscard]] EndRecord endRecord(const std::string& reason, const std::string& message) const;
};

/// JSON text that reads back bit for bit.
[[nodiscard]] std::string totalsToJson(const RunTotals& totals);
/// @throws DataError naming `origin`
[[nodiscard]] RunTotals totalsFromJson(const std::string& json, const std::string& origin);

} // namespace gradlab::engine
