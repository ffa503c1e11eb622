// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Everything that the charts, the strip and the table know about one run: fed with its records, it
// answers with points to draw and numbers to show. No Qt, one thread.
#pragma once

#include "engine/metrics/step_record.h"
#include "widgets/series_store.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace gradlab::widgets {

enum class Metric {
    TrainPerplexity, ///< exp(loss) of each step
    ValidPerplexity,
    TestPerplexity,
    MessageBytes,      ///< one worker's message, a step
    MessageBytesTotal, ///< since the start
    DenseBytes,
    DenseBytesTotal,
    KeptAsked,    ///< share of elements asked for
    KeptAchieved, ///< share of elements in the messages
    EnergyKept,
    ResidualNorm,
    GradientNorm,
    LearningRate,
};

/// Seconds of one step, where they went.
struct StepParts {
    double compute = 0.0;
    double compression = 0.0;
    double network = 0.0;
    double server = 0.0;
    double hidden = 0.0; ///< network behind computing: not in the total
    double turn = 0.0;   ///< waiting for a core or for a worker that still computes
    [[nodiscard]] double total() const noexcept {
        return compute + compression + network + server + turn;
    }
};

/// A change during the run, to be marked on every chart.
struct ChangeMark {
    XValues x{};
    std::string text; ///< short: "memory none → residual"
};

/// A step's training loss with every bit of its record.
struct ExactLoss {
    std::uint64_t step = 0;
    double loss = 0.0;
};

/// The latest numbers of a run; nothing where there is no such number yet.
struct RunNumbers {
    std::uint64_t step = 0;
    std::optional<double> loss;
    std::optional<double> trainPerplexity; ///< smoothed
    std::optional<double> validPerplexity;
    std::optional<double> bestPerplexity;
    std::optional<double> testPerplexity;
    std::optional<double> bytesPerStep; ///< one worker's message
    std::optional<double> bytesTotal;
    std::optional<double> compressionRatio; ///< bytes_dense / bytes_message
    bool nothingSent = false;               ///< one worker in a ring: its message goes nowhere
    std::optional<double> stepSeconds;      ///< simulated cluster, mean of the recent steps
    std::optional<double> networkShare;     ///< of stepSeconds
    double simulatedS = 0.0;
    double wallS = 0.0;
};

class RunSeries {
public:
    explicit RunSeries(std::size_t maxLeaves = SeriesStore::kDefaultLeaves);

    void append(const engine::Record& record);
    void append(const engine::StartRecord& record);
    void append(const engine::StepRecord& record);
    void append(const engine::EvalRecord& record);
    void append(const engine::EventRecord& record);
    void append(const engine::EndRecord& record);

    [[nodiscard]] SeriesStore::Result query(Metric metric, const SeriesStore::Query& query) const;
    /// SeriesStore::smoothed; perplexity as its logarithm, the loss.
    [[nodiscard]] std::vector<PlotPoint> smoothed(Metric metric, const SeriesStore::Query& query,
                                                  double steps) const;
    [[nodiscard]] std::optional<SeriesStore::Sample> nearest(Metric metric, XAxis axis,
                                                             double x) const;
    [[nodiscard]] std::optional<SeriesStore::Sample> last(Metric metric) const;
    /// The x values of the latest step.
    [[nodiscard]] const XValues& now() const noexcept { return now_; }
    /// Those of the first one.
    [[nodiscard]] const XValues& begin() const noexcept { return steps_.firstX(); }

    [[nodiscard]] const std::vector<ChangeMark>& changes() const noexcept { return changes_; }
    [[nodiscard]] RunNumbers numbers() const;
    /// Of the first kExactLosses steps, in order; steps whose records were not handed on are
    /// missing.
    [[nodiscard]] const std::vector<ExactLoss>& exactLosses() const noexcept {
        return exactLosses_;
    }
    /// Where the first validation was at `perplexity` or below; bytes are one worker's messages.
    [[nodiscard]] std::optional<XValues> reached(double perplexity) const;
    /// A step of the modelled cluster: CPU time of one worker, the server, the link model. Means of
    /// the last kRecentSteps steps.
    [[nodiscard]] StepParts simulatedParts() const;
    /// A step as measured on this computer by the clock on the wall.
    [[nodiscard]] StepParts measuredParts() const;

    [[nodiscard]] std::optional<double> entropyFloor() const { return entropyFloor_; }
    [[nodiscard]] std::optional<double> unigramPerplexity() const { return unigramPerplexity_; }
    [[nodiscard]] bool cpuTimeShown() const noexcept { return cpuTimeShown_; }
    [[nodiscard]] const std::string& sample() const noexcept { return sample_; }
    [[nodiscard]] const std::optional<engine::EndRecord>& end() const noexcept { return end_; }
    /// Grows with every record: whoever draws compares it with what was drawn last.
    [[nodiscard]] std::uint64_t revision() const noexcept { return revision_; }

    static constexpr std::size_t kRecentSteps = 50;
    static constexpr std::size_t kMaxChanges = 200;
    static constexpr std::size_t kExactLosses = 100'000; ///< 1.6 MB a run

private:
    struct Place {
        const SeriesStore* store = nullptr;
        std::size_t column = 0;
    };
    [[nodiscard]] Place place(Metric metric) const;
    void smooth(double loss);
    template <class Part>
    [[nodiscard]] double recentMean(Part part) const;

    SeriesStore steps_;
    SeriesStore valid_;
    SeriesStore test_;
    std::deque<engine::StepRecord> recent_; ///< at most kRecentSteps
    std::vector<ChangeMark> changes_;
    std::vector<ExactLoss> exactLosses_;
    struct Validation {
        double perplexity = 0.0;
        XValues x{};
    };
    std::vector<Validation> improvements_; ///< each better than all before it
    XValues now_{};
    double smoothedLoss_ = 0.0;
    double smoothingWeight_ = 0.0;
    double denseTotal_ = 0.0;
    std::uint64_t stepsPerEpoch_ = 0; ///< 0: not known
    std::optional<double> best_;
    std::optional<double> entropyFloor_;
    std::optional<double> unigramPerplexity_;
    std::optional<engine::EndRecord> end_;
    std::string sample_;
    bool cpuTimeShown_ = false;
    bool recentOutdated_ = false; ///< a parameter has changed since the latest step
    std::uint64_t revision_ = 0;
};

} // namespace gradlab::widgets
