// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/trainer.h"

#include "engine/core/errors.h"
#include "engine/core/version.h"
#include "engine/training/experiment_schema.h"
#include "engine/training/local_workers.h"
#include "engine/training/remote_workers.h"
#include "engine/training/run_fork.h"
#include "engine/training/trainer_impl.h"
#include "engine/training/training_rules.h"

#include <algorithm>
#include <thread>

namespace gradlab::engine {

namespace {

template <class T>
std::unique_ptr<WorkerGroup<T>>
makeWorkers(const Experiment& experiment, const std::shared_ptr<const Corpus>& corpus,
            const MessagePlan& plan, Replica<T>& replica, const TransportFactories& transports) {
    if (experiment.cluster.transport == "zmq")
        return std::make_unique<RemoteWorkers<T>>(experiment, corpus, plan, replica,
                                                  transports.cluster);
    return std::make_unique<LocalWorkers<T>>(experiment, *corpus, plan, replica,
                                             transports.exchange);
}

/// What was done with the memory's content, and what `event` has to do with one before it.
std::string changeRemarks(const ParameterChange& change, const EventRecord& event) {
    std::string remarks;
    if (concernsMemory(change))
        switch (change.memory) {
        case MemoryChange::Keep:
            remarks = " (memory's content kept)";
            break;
        case MemoryChange::Flush:
            remarks = " (memory's content sent whole with this step)";
            break;
        case MemoryChange::Drop:
            remarks = " (memory's content dropped)";
            break;
        }
    if (event.undoes > 0)
        remarks += "; undoes the change at step " + std::to_string(event.undoes);
    if (event.repeats > 0)
        remarks += "; makes the change at step " + std::to_string(event.repeats) + " again";
    return remarks;
}

/// What waits as updates cannot be sent as a gradient: it would have to be divided by 0.
void requireFlushable(const ParameterChange& change, const Experiment& experiment) {
    if (concernsMemory(change) && change.memory == MemoryChange::Flush &&
        sgdSettings(experiment).updateUnits && experiment.training.lr == 0.0)
        throw ExperimentError(change.path,
                              "what waits are updates, and the learning rate is 0: " + change.path +
                                  " with flush; keep or drop it instead");
}

} // namespace

bool concernsMemory(const ParameterChange& change) noexcept {
    return change.path == "compression.method" || change.path == "compression.memory";
}

Trainer::~Trainer() = default;

std::unique_ptr<Trainer> Trainer::create(const Experiment& experiment,
                                         std::shared_ptr<const Corpus> corpus,
                                         const TransportFactories& transports, RecordSink& sink,
                                         const TrainerOptions& options) {
    requireValid(experiment);
    if (experiment.training.precision == "f64")
        return std::make_unique<TrainerImpl<double>>(experiment, std::move(corpus), transports,
                                                     sink, options);
    return std::make_unique<TrainerImpl<float>>(experiment, std::move(corpus), transports, sink,
                                                options);
}

template <class T>
TrainerImpl<T>::TrainerImpl(const Experiment& requested, std::shared_ptr<const Corpus> corpus,
                            const TransportFactories& transports, RecordSink& sink,
                            TrainerOptions options)
    : requested_(requested), experiment_(resolved(requested)), corpus_(std::move(corpus)),
      sink_(sink), options_(std::move(options)),
      shape_(modelShape(experiment_, corpus_->vocabulary.size())),
      plan_(ParameterLayout(shape_), compressionScope(experiment_)),
      arena_(static_cast<int>(experiment_.cluster.threads)),
      replica_(shape_, plan_, aggregatorSettings(experiment_)),
      evaluator_(shape_, static_cast<std::size_t>(experiment_.training.evalBatch),
                 static_cast<std::size_t>(experiment_.training.bptt), productType(experiment_)),
      windows_(windowsPerEpoch(experiment_, corpus_->train.size())) {
    // Evaluation's columns are checked now, not after the first epoch.
    for (const TokenIds* split : {&corpus_->valid, &corpus_->test})
        static_cast<void>(
            cutColumns(*split, static_cast<std::size_t>(experiment_.training.evalBatch), 0, 1));
    replica_.initialise(static_cast<std::uint32_t>(experiment_.training.seed),
                        experiment_.model.init);
    workers_ = makeWorkers<T>(experiment_, corpus_, plan_, replica_, transports);
    if (options_.resumeFrom)
        restore(*options_.resumeFrom);
    if (options_.resumeFrom && !options_.forkedFrom.empty())
        beginFork();
    writeStart();
}

template <class T>
void TrainerImpl<T>::restore(const std::filesystem::path& checkpoint) {
    CheckpointContents<T> contents{replica_, {}, best_, totals_, {}, corpus_->hash};
    contents.workers.resize(static_cast<std::size_t>(experiment_.cluster.workers));
    Experiment origin = experiment_;
    if (!options_.forkedFrom.empty()) {
        origin = readCheckpointExperiment(checkpoint);
        requireForkable(origin, requested_);
        forkChanges_ = forkChanges(origin, requested_);
        origin = resolved(origin);
    }
    readCheckpoint<T>(contents, checkpoint);
    const bool otherMemory = origin.compression.memory != experiment_.compression.memory;
    if (!otherMemory) {
        workers_->setStates(std::move(contents.workers), checkpoint.string());
        return;
    }
    // What the workers remember goes over to the fork's memory as in a change during a run.
    Experiment between = experiment_;
    between.compression = origin.compression;
    workers_->reconfigure(between, MemoryChange::Drop, true);
    workers_->setStates(std::move(contents.workers), checkpoint.string());
    workers_->reconfigure(experiment_, MemoryChange::Keep, true);
}

/// The checkpoint's counters go on, but a run that had come to its end is to have a chance.
template <class T>
void TrainerImpl<T>::beginFork() {
    const TrainerProgress now = progress();
    if (now.lastStep > 0 && now.step >= now.lastStep)
        throw ExperimentError("training.steps",
                              "the fork begins at step " + std::to_string(now.step) +
                                  ", where its limit of " + std::to_string(now.lastStep) +
                                  " steps is reached; raise --steps or --epochs");
    if (totals_.evaluationsWithoutGain >= static_cast<std::uint64_t>(experiment_.training.patience))
        totals_.evaluationsWithoutGain = 0;
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
    start.overlap = overlapPossible(experiment_);
    const auto cores = std::min<std::size_t>(static_cast<std::size_t>(experiment_.cluster.threads),
                                             std::max(1U, std::thread::hardware_concurrency()));
    start.cpuTimeShown = cores < static_cast<std::size_t>(experiment_.cluster.workers);
    start.forkedFrom = options_.resumeFrom ? options_.forkedFrom : std::string();
    if (!start.forkedFrom.empty()) {
        start.forkedStep = totals_.step;
        start.forkedBytesMessage = totals_.bytesMessage;
        start.forkedBytesDense = totals_.bytesDense;
    }
    sink_.record(start);
    for (const ExperimentIssue& warning : requireValid(requested_))
        writeEvent("warning", warning.message);
    if (experiment_.cluster.overlap && !start.overlap)
        writeEvent("warning", "overlap is off: scope model and local clip need the whole gradient "
                              "before anything is sent");
    if (!start.forkedFrom.empty())
        writeEvent("forked", "from step " + std::to_string(totals_.step) + " of " +
                                 start.forkedFrom +
                                 (forkChanges_.empty() ? "" : ": " + forkChanges_));
    else if (totals_.step > 0)
        writeEvent("resumed", "from step " + std::to_string(totals_.step));
}

template <class T>
void TrainerImpl<T>::apply(const ParameterChange& change) {
    const FieldSpec* field = findField(change.path);
    if (field == nullptr || !field->live)
        throw ExperimentError(
            change.path, change.path + " cannot change during a run: start another run with it");
    Experiment next = requested_;
    const Experiment before = experiment_;
    setField(next, change.path, change.value);
    requireValid(next);
    requireFlushable(change, experiment_);
    const Experiment nextResolved = resolved(next);
    requested_ = next;
    experiment_ = nextResolved;
    const MemoryChange memory = concernsMemory(change) ? change.memory : MemoryChange::Keep;
    workers_->reconfigure(experiment_, memory, change.path.starts_with("compression."));
    EventRecord event;
    event.step = totals_.step + 1;
    event.event = "parameter_changed";
    event.field = change.path;
    event.from = formatFieldValue(*field, getField(before, change.path));
    event.to = formatFieldValue(*field, getField(experiment_, change.path));
    if (concernsMemory(change))
        event.memory = toString(memory);
    event.undoes = stepOfChange(change.undoes);
    event.repeats = stepOfChange(change.repeats);
    event.details =
        field->label + " " + event.from + " → " + event.to + changeRemarks(change, event);
    if (change.id > 0)
        changeSteps_[change.id] = event.step;
    sink_.record(event);
    recordWhatFollowed(event, before);
}

/// Fields left to `auto` may change with another: the memory with the method.
template <class T>
void TrainerImpl<T>::recordWhatFollowed(const EventRecord& cause, const Experiment& before) {
    for (const FieldSpec& field : experimentSchema()) {
        EventRecord event = cause;
        event.event = "parameter_followed";
        event.undoes = event.repeats = 0;
        event.field = field.path;
        event.from = formatFieldValue(field, getField(before, field.path));
        event.to = formatFieldValue(field, getField(experiment_, field.path));
        if (event.from == event.to || field.path == cause.field)
            continue;
        event.details = field.label + " " + event.from + " → " + event.to +
                        ", which follows from " + cause.field;
        sink_.record(event);
    }
}

/// 0 for what this trainer has not made.
template <class T>
std::uint64_t TrainerImpl<T>::stepOfChange(std::uint64_t id) const {
    const auto found = changeSteps_.find(id);
    return found == changeSteps_.end() ? 0 : found->second;
}

template <class T>
void TrainerImpl<T>::saveCheckpoint(const std::filesystem::path& file) {
    std::error_code failed;
    std::filesystem::create_directories(file.parent_path(), failed);
    workers_->synchronise({});
    writeCheckpoint<T>(
        {replica_, workers_->states({}), best_, totals_, toJson(requested_), corpus_->hash}, file);
    writeEvent("checkpoint", file.filename().string());
    sink_.flush();
}

template <class T>
void TrainerImpl<T>::saveParameters(const std::filesystem::path& file) {
    workers_->synchronise({});
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

template <class T>
std::uint64_t TrainerImpl<T>::parameterHash() {
    workers_->synchronise({});
    return replica_.hash();
}

template class TrainerImpl<float>;
template class TrainerImpl<double>;

} // namespace gradlab::engine
