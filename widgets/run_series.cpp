// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/run_series.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gradlab::widgets {

namespace {

enum StepColumn : std::size_t {
    TrainColumn,
    LossColumn,
    MessageColumn,
    MessageTotalColumn,
    DenseColumn,
    DenseTotalColumn,
    AskedColumn,
    AchievedColumn,
    EnergyColumn,
    ResidualColumn,
    GradientColumn,
    LearningRateColumn,
    StepColumns
};

constexpr double kSmoothingSteps = 8.0;

bool changesTraining(const std::string& event) {
    return event == "parameter_changed" || event == "worker_joined" || event == "worker_lost" ||
           event == "step_redone" || event == "replica_healed" || event == "resumed";
}

std::string shortText(const engine::EventRecord& event) {
    if (event.event == "parameter_changed" && !event.field.empty()) {
        std::string text =
            event.field.substr(event.field.rfind('.') + 1) + " " + event.from + " → " + event.to;
        if (event.memory == "flush")
            text += ", flushed";
        if (event.memory == "drop")
            text += ", dropped";
        return event.undoes > 0 ? text + ", undone" : text;
    }
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
    : steps_(StepColumns, maxLeaves), valid_(1, maxLeaves), test_(1, maxLeaves) {}

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
    stepsPerEpoch_ = record.stepsPerEpoch;
    // A fork's bytes go on like its other totals, which the records have.
    now_[static_cast<std::size_t>(XAxis::Bytes)] = record.forkedBytesMessage;
    denseTotal_ = record.forkedBytesDense;
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
    const auto step = static_cast<double>(record.step);
    const double epoch = stepsPerEpoch_ > 0 ? step / static_cast<double>(stepsPerEpoch_)
                                            : static_cast<double>(record.epoch);
    now_ = {step,         bytes, record.simulatedS,
            record.wallS, epoch, static_cast<double>(record.tokens)};
    std::array<double, StepColumns> values{};
    values[TrainColumn] = std::exp(record.loss);
    values[LossColumn] = record.loss;
    values[MessageColumn] = record.bytesMessage;
    values[MessageTotalColumn] = bytes;
    values[DenseColumn] = record.bytesDense;
    values[DenseTotalColumn] = denseTotal_;
    values[AskedColumn] = record.ratio;
    values[AchievedColumn] = record.density;
    values[EnergyColumn] = record.energyKept;
    values[ResidualColumn] = record.residualNorm;
    values[GradientColumn] = record.gradNorm;
    values[LearningRateColumn] = record.lr;
    steps_.append(now_, values);
    if (exactLosses_.size() < kExactLosses &&
        (exactLosses_.empty() || exactLosses_.back().step < record.step))
        exactLosses_.push_back({record.step, record.loss});

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
        if (std::isfinite(record.perplexity) &&
            (improvements_.empty() || record.perplexity < improvements_.back().perplexity))
            improvements_.push_back({record.perplexity, x});
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
    if (record.event == "worker_joined" && record.step == 0)
        return; // who was there from the start
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
        return {&steps_, TrainColumn};
    case Metric::ValidPerplexity:
        return {&valid_, 0};
    case Metric::TestPerplexity:
        return {&test_, 0};
    case Metric::MessageBytes:
        return {&steps_, MessageColumn};
    case Metric::MessageBytesTotal:
        return {&steps_, MessageTotalColumn};
    case Metric::DenseBytes:
        return {&steps_, DenseColumn};
    case Metric::DenseBytesTotal:
        return {&steps_, DenseTotalColumn};
    case Metric::KeptAsked:
        return {&steps_, AskedColumn};
    case Metric::KeptAchieved:
        return {&steps_, AchievedColumn};
    case Metric::EnergyKept:
        return {&steps_, EnergyColumn};
    case Metric::ResidualNorm:
        return {&steps_, ResidualColumn};
    case Metric::GradientNorm:
        return {&steps_, GradientColumn};
    case Metric::LearningRate:
        return {&steps_, LearningRateColumn};
    }
    return {&steps_, TrainColumn};
}

SeriesStore::Result RunSeries::query(Metric metric, const SeriesStore::Query& query) const {
    const Place where = place(metric);
    return where.store->query(where.column, query);
}

std::vector<PlotPoint> RunSeries::smoothed(Metric metric, const SeriesStore::Query& query,
                                           double steps) const {
    if (metric != Metric::TrainPerplexity) {
        const Place where = place(metric);
        return where.store->smoothed(where.column, query, steps);
    }
    std::vector<PlotPoint> points = steps_.smoothed(LossColumn, query, steps);
    for (PlotPoint& point : points)
        point.y = std::exp(point.y);
    return points;
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
            .hidden = recentMean([](const StepRecord& r) { return r.t.transferHidden; }),
            .turn = recentMean([](const StepRecord& r) { return r.t.turn; })};
}

std::optional<XValues> RunSeries::reached(double perplexity) const {
    const auto found =
        std::partition_point(improvements_.begin(), improvements_.end(),
                             [&](const Validation& v) { return v.perplexity > perplexity; });
    if (found == improvements_.end())
        return std::nullopt;
    return found->x;
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
    if (smoothingWeight_ > 0.0)
        numbers.trainPerplexity = std::exp(smoothedLoss_ / smoothingWeight_);
    numbers.bytesPerStep = recentMean([](const engine::StepRecord& r) { return r.bytesMessage; });
    numbers.bytesTotal = now_[static_cast<std::size_t>(XAxis::Bytes)];
    const double dense = recentMean([](const engine::StepRecord& r) { return r.bytesDense; });
    numbers.nothingSent = latest.bytesUp == 0.0;
    if (*numbers.bytesPerStep > 0.0 && !numbers.nothingSent)
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
