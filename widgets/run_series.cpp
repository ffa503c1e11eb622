// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/run_series.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace gradlab::widgets {

namespace {

enum StepColumn : std::size_t {
    kTrain,
    kSmoothed,
    kMessage,
    kMessageTotal,
    kDense,
    kDenseTotal,
    kAsked,
    kAchieved,
    kEnergy,
    kResidual,
    kGradient,
    kLearningRate,
    kStepColumns
};

constexpr double kSmoothingSteps = 8.0;

bool changesTraining(const std::string& event) {
    return event == "parameter_changed" || event == "worker_joined" || event == "worker_lost" ||
           event == "step_redone" || event == "resumed";
}

std::string shortText(const engine::EventRecord& event) {
    if (event.event == "parameter_changed" && !event.field.empty())
        return event.field.substr(event.field.rfind('.') + 1) + " " + event.from + " → " + event.to;
    std::string text = event.event;
    std::replace(text.begin(), text.end(), '_', ' ');
    return text;
}

std::optional<double> positive(double value) {
    return value > 0.0 ? std::optional<double>(value) : std::nullopt;
}

std::optional<double> valueOf(const std::optional<SeriesStore::Sample>& sample) {
    return sample ? std::optional<double>(sample->value) : std::nullopt;
}

} // namespace

RunSeries::RunSeries(std::size_t maxLeaves)
    : steps_(kStepColumns, maxLeaves), valid_(1, maxLeaves), test_(1, maxLeaves) {}

void RunSeries::append(const engine::Record& record) {
    std::visit(
        [this](const auto& r) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(r)>, engine::WorkerRecord>)
                append(r);
        },
        record);
}

void RunSeries::append(const engine::StartRecord& record) {
    ++revision_;
    entropyFloor_ = record.entropyFloorValid ? record.entropyFloorValid : record.entropyFloor;
    unigramPerplexity_ =
        positive(record.unigramPerplexityValid > 0.0 ? record.unigramPerplexityValid
                                                     : record.unigramPerplexity);
    cpuTimeShown_ = record.cpuTimeShown;
}

void RunSeries::smooth(double loss) {
    if (!std::isfinite(loss))
        return;
    const double keep = 1.0 - 1.0 / kSmoothingSteps;
    smoothedLoss_ = keep * smoothedLoss_ + (1.0 - keep) * loss;
    smoothingWeight_ = keep * smoothingWeight_ + (1.0 - keep);
}

void RunSeries::append(const engine::StepRecord& record) {
    ++revision_;
    const double bytes = now_[static_cast<std::size_t>(XAxis::Bytes)] + record.bytesMessage;
    denseTotal_ += record.bytesDense;
    smooth(record.loss);
    now_ = {static_cast<double>(record.step), bytes, record.simulatedS, record.wallS};
    std::array<double, kStepColumns> values{};
    values[kTrain] = std::exp(record.loss);
    values[kSmoothed] = smoothingWeight_ > 0.0 ? std::exp(smoothedLoss_ / smoothingWeight_)
                                               : std::numeric_limits<double>::quiet_NaN();
    values[kMessage] = record.bytesMessage;
    values[kMessageTotal] = bytes;
    values[kDense] = record.bytesDense;
    values[kDenseTotal] = denseTotal_;
    values[kAsked] = record.ratio;
    values[kAchieved] = record.density;
    values[kEnergy] = record.energyKept;
    values[kResidual] = record.residualNorm;
    values[kGradient] = record.gradNorm;
    values[kLearningRate] = record.lr;
    steps_.append(now_, values);

    if (recentOutdated_)
        recent_.clear();
    recentOutdated_ = false;
    recent_.push_back(record);
    if (recent_.size() > kRecentSteps)
        recent_.pop_front();
}

void RunSeries::append(const engine::EvalRecord& record) {
    ++revision_;
    XValues x = now_;
    x[static_cast<std::size_t>(XAxis::Step)] = static_cast<double>(record.step);
    x[static_cast<std::size_t>(XAxis::SimulatedTime)] = record.simulatedS;
    x[static_cast<std::size_t>(XAxis::WallTime)] = record.wallS;
    const std::array<double, 1> value{record.perplexity};
    if (record.split == "valid") {
        valid_.append(x, value);
        if (std::isfinite(record.perplexity))
            best_ = std::min(best_.value_or(record.perplexity), record.perplexity);
    } else if (record.split == "test") {
        test_.append(x, value);
    }
    if (!record.sample.empty())
        sample_ = record.sample;
}

void RunSeries::append(const engine::EventRecord& record) {
    ++revision_;
    if (!changesTraining(record.event))
        return;
    recentOutdated_ = true;
    if (!changes_.empty() && changes_.back().x == now_)
        changes_.back().text += ", " + shortText(record);
    else if (changes_.size() < kMaxChanges)
        changes_.push_back({now_, shortText(record)});
}

void RunSeries::append(const engine::EndRecord& record) {
    ++revision_;
    end_ = record;
    if (record.bestValidPerplexity)
        best_ = record.bestValidPerplexity;
}

RunSeries::Place RunSeries::place(Metric metric) const {
    switch (metric) {
    case Metric::TrainPerplexity:
        return {&steps_, kTrain};
    case Metric::SmoothedTrainPerplexity:
        return {&steps_, kSmoothed};
    case Metric::ValidPerplexity:
        return {&valid_, 0};
    case Metric::TestPerplexity:
        return {&test_, 0};
    case Metric::MessageBytes:
        return {&steps_, kMessage};
    case Metric::MessageBytesTotal:
        return {&steps_, kMessageTotal};
    case Metric::DenseBytes:
        return {&steps_, kDense};
    case Metric::DenseBytesTotal:
        return {&steps_, kDenseTotal};
    case Metric::KeptAsked:
        return {&steps_, kAsked};
    case Metric::KeptAchieved:
        return {&steps_, kAchieved};
    case Metric::EnergyKept:
        return {&steps_, kEnergy};
    case Metric::ResidualNorm:
        return {&steps_, kResidual};
    case Metric::GradientNorm:
        return {&steps_, kGradient};
    case Metric::LearningRate:
        return {&steps_, kLearningRate};
    }
    return {&steps_, kTrain};
}

SeriesStore::Result RunSeries::query(Metric metric, const SeriesStore::Query& query) const {
    const Place where = place(metric);
    return where.store->query(where.column, query);
}

std::optional<SeriesStore::Sample> RunSeries::nearest(Metric metric, XAxis axis, double x) const {
    const Place where = place(metric);
    return where.store->nearest(where.column, axis, x);
}

std::optional<SeriesStore::Sample> RunSeries::last(Metric metric) const {
    const Place where = place(metric);
    return where.store->last(where.column);
}

template <class Part>
double RunSeries::recentMean(Part part) const {
    double sum = 0.0;
    for (const engine::StepRecord& record : recent_)
        sum += part(record);
    return recent_.empty() ? 0.0 : sum / static_cast<double>(recent_.size());
}

StepParts RunSeries::simulatedParts() const {
    using engine::StepRecord;
    return {.compute = recentMean([](const StepRecord& r) { return r.cpu.compute(); }),
            .compression = recentMean([](const StepRecord& r) { return r.cpu.compression(); }),
            .network = recentMean([](const StepRecord& r) { return r.linkS; }),
            .server = recentMean([](const StepRecord& r) { return r.aggregateCpu; }),
            .turn = 0.0};
}

StepParts RunSeries::measuredParts() const {
    using engine::StepRecord;
    return {.compute = recentMean([](const StepRecord& r) { return r.t.compute(); }),
            .compression = recentMean([](const StepRecord& r) { return r.t.compression(); }),
            .network = recentMean([](const StepRecord& r) { return r.t.communication(); }),
            .server = 0.0,
            .turn = recentMean([](const StepRecord& r) { return r.t.turn; })};
}

RunNumbers RunSeries::numbers() const {
    RunNumbers numbers;
    numbers.validPerplexity = valueOf(valid_.last(0));
    numbers.bestPerplexity = best_;
    numbers.testPerplexity = valueOf(test_.last(0));
    if (end_ && end_->testPerplexity)
        numbers.testPerplexity = end_->testPerplexity;
    if (recent_.empty())
        return numbers;
    const engine::StepRecord& latest = recent_.back();
    numbers.step = latest.step;
    numbers.loss = latest.loss;
    numbers.trainPerplexity = valueOf(steps_.last(kSmoothed));
    numbers.bytesPerStep = recentMean([](const engine::StepRecord& r) { return r.bytesMessage; });
    numbers.bytesTotal = now_[static_cast<std::size_t>(XAxis::Bytes)];
    const double dense = recentMean([](const engine::StepRecord& r) { return r.bytesDense; });
    if (*numbers.bytesPerStep > 0.0)
        numbers.compressionRatio = dense / *numbers.bytesPerStep;
    const StepParts parts = simulatedParts();
    if (parts.total() > 0.0) {
        numbers.stepSeconds = parts.total();
        numbers.networkShare = parts.network / parts.total();
    }
    numbers.simulatedS = latest.simulatedS;
    numbers.wallS = latest.wallS;
    return numbers;
}

} // namespace gradlab::widgets
