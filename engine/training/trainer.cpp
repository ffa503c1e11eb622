// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/trainer.h"

#include "engine/core/errors.h"
#include "engine/core/version.h"
#include "engine/training/experiment_schema.h"
#include "engine/training/trainer_impl.h"

#include <algorithm>
#include <thread>

namespace gradlab::engine {

namespace {

ModelShape shapeOf(const Experiment& experiment, const Corpus& corpus) {
    return {corpus.vocabulary.size(), static_cast<std::size_t>(experiment.model.hidden),
            static_cast<std::size_t>(experiment.model.layers), experiment.model.tied};
}

CompressionScope scopeOf(const Experiment& experiment) {
    return experiment.compression.scope == "model" ? CompressionScope::Model
                                                   : CompressionScope::Tensor;
}

double realParameter(const Experiment& experiment, const char* name) {
    const auto found = experiment.compression.parameters.find(name);
    return found == experiment.compression.parameters.end() ? 0.0 : std::get<double>(found->second);
}

// Scope model and DGC's local clip need the whole gradient before anything can be sent.
bool overlapPossible(const Experiment& experiment) {
    const bool localClip =
        experiment.compression.memory == "dgc" && realParameter(experiment, "local_clip") > 0.0;
    return experiment.cluster.overlap && experiment.compression.scope != "model" && !localClip;
}

AggregatorSettings aggregatorSettings(const Experiment& experiment) {
    AggregatorSettings settings;
    settings.precision = experiment.training.precision == "f64" ? Precision::F64 : Precision::F32;
    settings.downlink = experiment.compression.downlink;
    settings.compression = experiment.compression;
    settings.seed = static_cast<std::uint32_t>(experiment.training.seed);
    return settings;
}

} // namespace

Trainer::~Trainer() = default;

std::unique_ptr<Trainer> Trainer::create(const Experiment& experiment,
                                         std::shared_ptr<const Corpus> corpus,
                                         const ExchangeFactory& exchange, RecordSink& sink,
                                         const TrainerOptions& options) {
    requireValid(experiment);
    if (experiment.training.precision == "f64")
        return std::make_unique<TrainerImpl<double>>(experiment, std::move(corpus), exchange, sink,
                                                     options);
    return std::make_unique<TrainerImpl<float>>(experiment, std::move(corpus), exchange, sink,
                                                options);
}

template <class T>
TrainerImpl<T>::TrainerImpl(const Experiment& requested, std::shared_ptr<const Corpus> corpus,
                            const ExchangeFactory& exchange, RecordSink& sink,
                            const TrainerOptions& options)
    : requested_(requested), experiment_(resolved(requested)), corpus_(std::move(corpus)),
      sink_(sink), options_(options), shape_(shapeOf(experiment_, *corpus_)),
      plan_(ParameterLayout(shape_), scopeOf(experiment_)),
      arena_(static_cast<int>(experiment_.cluster.threads)),
      replica_(shape_, plan_, aggregatorSettings(experiment_)),
      evaluator_(shape_, static_cast<std::size_t>(experiment_.training.evalBatch),
                 static_cast<std::size_t>(experiment_.training.bptt)),
      overlap_(overlapPossible(experiment_)),
      team_(static_cast<std::size_t>(experiment_.cluster.workers),
            static_cast<std::size_t>(experiment_.cluster.threads)) {
    replica_.initialise(static_cast<std::uint32_t>(experiment_.training.seed),
                        experiment_.model.init);
    makeWorkers();
    if (options_.resumeFrom)
        restore(*options_.resumeFrom);
    exchange_ = exchange(exchangeSetup());
    writeStart();
}

template <class T>
void TrainerImpl<T>::makeWorkers() {
    const auto batch = static_cast<std::size_t>(experiment_.training.batch);
    const auto count = static_cast<std::size_t>(experiment_.cluster.workers);
    const std::size_t columns = batch / count;
    for (std::size_t rank = 0; rank < count; ++rank) {
        const CompressorIdentity identity{static_cast<std::uint32_t>(experiment_.training.seed),
                                          static_cast<std::uint32_t>(rank),
                                          static_cast<std::uint32_t>(count)};
        workers_.push_back(std::make_unique<Worker<T>>(
            plan_, shape_, cutColumns(corpus_->train, batch, rank * columns, columns),
            static_cast<std::size_t>(experiment_.training.bptt), experiment_.compression,
            identity));
    }
    windows_ = workers_.front()->windows();
    if (windows_ == 0)
        throw DataError("too few tokens for one window of " +
                        std::to_string(experiment_.training.bptt) + " rows in " +
                        std::to_string(batch) + " columns: " + experiment_.corpus.source +
                        "; use a smaller --batch or --bptt");
    // Evaluation's columns are checked now, not after the first epoch.
    for (const TokenIds* split : {&corpus_->valid, &corpus_->test})
        static_cast<void>(
            cutColumns(*split, static_cast<std::size_t>(experiment_.training.evalBatch), 0, 1));
    accounts_.resize(count);
    commitCpu_.resize(count);
}

template <class T>
void TrainerImpl<T>::restore(const std::filesystem::path& checkpoint) {
    readCheckpoint<T>(checkpointContents(), checkpoint);
}

template <class T>
CheckpointContents<T> TrainerImpl<T>::checkpointContents() {
    return {replica_, workers_, best_, totals_, toJson(requested_), corpus_->hash};
}

template <class T>
ExchangeForm TrainerImpl<T>::exchangeForm() const {
    if (experiment_.cluster.topology != "ring")
        return ExchangeForm::Server;
    // Sums in transit need values of the training type; narrower ones are gathered.
    const bool dense = experiment_.compression.method == "none" &&
                       experiment_.compression.values == experiment_.training.precision;
    return dense ? ExchangeForm::RingReduce : ExchangeForm::RingGather;
}

template <class T>
ExchangeSetup TrainerImpl<T>::exchangeSetup() const {
    ExchangeSetup setup;
    setup.plan = plan_;
    setup.aggregator = aggregatorSettings(experiment_);
    setup.workers = static_cast<std::uint32_t>(workers_.size());
    for (std::uint32_t rank = 0; rank < setup.workers; ++rank)
        setup.ranks.push_back(rank);
    setup.topology = experiment_.cluster.topology;
    setup.denseRing = exchangeForm() == ExchangeForm::RingReduce;
    setup.link = experiment_.cluster.link;
    return setup;
}

template <class T>
void TrainerImpl<T>::writeStart() {
    StartRecord start;
    start.experimentJson = toJson(experiment_);
    start.version = version();
    start.host = machineName();
    start.cpu = cpuName();
    start.isa = isaLevel();
    start.parameters = replica_.layout().size();
    for (const TensorInfo& tensor : replica_.layout().tensors())
        start.tensors.push_back({tensor.name, {tensor.shape.begin(), tensor.shape.end()}});
    start.vocabulary = shape_.vocabulary;
    start.trainTokens = corpus_->train.size();
    start.corpusHash = corpus_->hash;
    start.entropyFloor = corpus_->entropyFloor;
    start.entropyFloorValid = corpus_->entropyFloorValid;
    start.unigramPerplexity = corpus_->unigramPerplexity;
    start.unigramPerplexityValid = corpus_->unigramPerplexityValid;
    start.charactersPerToken = corpus_->charactersPerToken;
    start.stepsPerEpoch = windows_;
    start.overlap = overlap_;
    const auto cores = std::min<std::size_t>(static_cast<std::size_t>(experiment_.cluster.threads),
                                             std::max(1U, std::thread::hardware_concurrency()));
    start.cpuTimeShown = cores < workers_.size();
    sink_.record(start);
    for (const ExperimentIssue& warning : requireValid(requested_))
        writeEvent("warning", warning.message);
    if (experiment_.cluster.overlap && !overlap_)
        writeEvent("warning", "overlap is off: scope model and local clip need the whole gradient "
                              "before anything is sent");
    if (totals_.step > 0)
        writeEvent("resumed", "from step " + std::to_string(totals_.step));
}

template <class T>
void TrainerImpl<T>::apply(const ParameterChange& change) {
    const FieldSpec* field = findField(change.path);
    if (field == nullptr || !field->live)
        throw ExperimentError(
            change.path, change.path + " cannot change during a run: start another run with it");
    Experiment next = requested_;
    const std::string before = formatFieldValue(*field, getField(experiment_, change.path));
    setField(next, change.path, change.value);
    requireValid(next);
    const Experiment nextResolved = resolved(next);
    requested_ = next;
    experiment_ = nextResolved;
    if (change.path.starts_with("compression."))
        reconfigureCompression(change.memory);
    exchange_->setLink(experiment_.cluster.link);
    EventRecord event;
    event.step = totals_.step + 1;
    event.event = "parameter_changed";
    event.field = change.path;
    event.from = before;
    event.to = formatFieldValue(*field, getField(experiment_, change.path));
    event.details = field->label + " " + event.from + " → " + event.to;
    if (change.path == "compression.method" || change.path == "compression.memory")
        event.details += change.memory == MemoryChange::Keep ? " (memory's content kept)"
                                                             : " (memory's content dropped)";
    sink_.record(event);
}

template <class T>
void TrainerImpl<T>::reconfigureCompression(MemoryChange change) {
    for (auto& worker : workers_)
        worker->compressor().reconfigure(experiment_.compression, change);
    overlap_ = overlapPossible(experiment_);
    exchange_->reconfigure(exchangeSetup());
}

template <class T>
void TrainerImpl<T>::saveCheckpoint(const std::filesystem::path& file) {
    std::error_code failed;
    std::filesystem::create_directories(file.parent_path(), failed);
    writeCheckpoint<T>(checkpointContents(), file);
    writeEvent("checkpoint", file.filename().string());
    sink_.flush();
}

template <class T>
void TrainerImpl<T>::saveParameters(const std::filesystem::path& file) {
    replica_.save(file.string());
}

template <class T>
void TrainerImpl<T>::writeEvent(const std::string& event, const std::string& details) {
    EventRecord record;
    record.step = totals_.step;
    record.event = event;
    record.details = details;
    sink_.record(record);
}

template <class T>
TrainerProgress TrainerImpl<T>::progress() const {
    const std::uint64_t byEpochs =
        static_cast<std::uint64_t>(experiment_.training.epochs) * windows_;
    const auto bySteps = static_cast<std::uint64_t>(experiment_.training.steps);
    return {totals_.step, bySteps == 0 ? byEpochs : std::min(bySteps, byEpochs), totals_.wallS};
}

template class TrainerImpl<float>;
template class TrainerImpl<double>;

} // namespace gradlab::engine
