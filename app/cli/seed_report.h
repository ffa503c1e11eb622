// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What runs of the same experiments from several seeds say together: mean and standard deviation,
// and each experiment's difference from the first one, paired by seed. Text and JSON only.
#pragma once

#include "engine/core/spread.h"
#include "engine/metrics/step_record.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gradlab::app {

using engine::Spread;

/// Of the values that there are.
[[nodiscard]] Spread spreadOf(const std::vector<std::optional<double>>& values);

class SeedReport {
public:
    /// `names` of the experiments; the first is the one that the others are compared with.
    explicit SeedReport(std::vector<std::string> names) : names_(std::move(names)) {}

    /// How each experiment ended with that seed; none: it did not.
    void add(std::int64_t seed, std::vector<std::optional<engine::EndRecord>> ends);
    /// A line each below a line of titles.
    [[nodiscard]] std::string table() const;
    /// seeds.json: values in the order of the seeds (null: none), mean, deviation.
    [[nodiscard]] std::string json(const std::vector<std::int64_t>& seeds) const;

private:
    using Values = std::vector<std::optional<double>>;
    [[nodiscard]] Values valuesOf(std::size_t member,
                                  std::optional<double> (*take)(const engine::EndRecord&)) const;
    /// Test perplexity less the first experiment's, by seed.
    [[nodiscard]] Values differences(std::size_t member) const;

    std::vector<std::string> names_;
    std::vector<std::int64_t> seeds_;
    std::vector<std::vector<std::optional<engine::EndRecord>>> ends_; ///< by seed, then experiment
};

} // namespace gradlab::app
