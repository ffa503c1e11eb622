// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/remote_workers.h"

#include "engine/core/check.h"
#include "engine/core/errors.h"
#include "engine/training/experiment_schema.h"
#include "engine/training/node_snapshot.h"
#include "engine/training/training_rules.h"

#include <algorithm>
#include <map>
#include <utility>

namespace gradlab::engine {

namespace {

/// Room for names, shapes, the experiment and what every tensor may add.
constexpr std::size_t kSnapshotSlack = 1U << 20U;
/// Vectors as long as the parameters in the largest snapshot: parameters, velocity, u, v.
constexpr std::size_t kMostVectors = 4;

/// The hash that most have; of several, the one that the lowest rank has.
std::uint64_t mostCommonHash(const std::vector<WorkerAccount>& accounts) {
    std::map<std::uint64_t, std::size_t> votes;
    for (const WorkerAccount& account : accounts)
        if (account.parameterHash)
            ++votes[*account.parameterHash];
    std::uint64_t best = 0;
    std::size_t most = 0;
    for (const WorkerAccount& account : accounts)
        if (account.parameterHash && votes[*account.parameterHash] > most) {
            most = votes[*account.parameterHash];
            best = *account.parameterHash;
        }
    return best;
}

} // namespace

template <class T>
RemoteWorkers<T>::RemoteWorkers(const Experiment& experiment, std::shared_ptr<const Corpus> corpus,
                                MessagePlan plan, Replica<T>& replica,
                                const ClusterFactory& cluster)
    : experiment_(experiment), corpus_(std::move(corpus)), plan_(std::move(plan)),
      replica_(replica), ring_(experiment.cluster.topology == "ring"),
      restored_(static_cast<std::size_t>(experiment.cluster.workers)) {
    if (!cluster)
        throw ExperimentError("cluster.transport",
                              "this program has no worker processes: cluster.transport zmq; give "
                              "threads");
    cluster_ = cluster(clusterSetup());
}

template <class T>
ClusterSetup RemoteWorkers<T>::clusterSetup() const {
    ClusterSetup setup;
    setup.experiment = experiment_;
    setup.exchange = exchangeSetup(experiment_, plan_);
    const auto columns =
        static_cast<std::size_t>(experiment_.training.batch / experiment_.cluster.workers);
    const std::size_t tokens =
        corpus_->train.size() / static_cast<std::size_t>(experiment_.cluster.workers);
    const std::size_t hidden = 2 * static_cast<std::size_t>(experiment_.model.layers) * columns *
                               static_cast<std::size_t>(experiment_.model.hidden);
    setup.snapshotBytes = (kMostVectors * plan_.size() + hidden) * sizeof(T) +
                          (tokens + 1) * sizeof(std::int32_t) + kSnapshotSlack;
    return setup;
}

template <class T>
ByteBuffer RemoteWorkers<T>::snapshotFor(std::uint32_t rank) {
    NodeDescription node;
    node.rank = rank;
    node.vocabulary = corpus_->vocabulary.size();
    node.experiment = experiment_;
    node.columns = workerColumns(experiment_, corpus_->train, rank);
    const WorkerState<T> state = std::exchange(restored_[rank], {});
    return makeJoinSnapshot(node, replica_, state);
}

template <class T>
void RemoteWorkers<T>::boundary(std::uint64_t lastStep, const std::stop_token& stop) {
    // Of a resumed run the replica comes from the checkpoint.
    if (step_ == 0)
        step_ = replicaStep_ = lastStep;
    cluster_->boundary(
        [&](std::uint32_t rank) {
            synchronise(stop);
            return snapshotFor(rank);
        },
        stop);
}

template <class T>
double RemoteWorkers<T>::exchange(const WorkerStep& step, const std::stop_token& stop) {
    double norm = 0.0;
    const auto every = static_cast<std::uint64_t>(experiment_.cluster.hashEvery);
    hashWanted_ = step.position.step % every == 0;
    inspection_ = step.inspection;
    if (inspection_)
        cluster_->inspectNext(inspection_->focus);
    outcome_ = cluster_->step(
        step.position.step, hashWanted_, replica_.aggregator(),
        [&] { norm = replica_.checkedMeanNorm(step.position.step); }, stop);
    step_ = step.position.step;
    if (!ring_)
        replicaStep_ = step_; // the trainer updates it next
    return norm;
}

template <class T>
std::vector<WorkerAccount>& RemoteWorkers<T>::collect(const ReplicaUpdate& /*update*/) {
    accounts_.clear();
    outcome_.traffic.clear();
    for (WorkerReport& report : cluster_->reports({})) {
        try {
            WorkerAccount account = accountFromJson(report.account);
            account.rank = report.rank;
            accounts_.push_back(std::move(account));
            outcome_.traffic.push_back(report.traffic);
        } catch (const ProtocolError& error) {
            // The step is committed with its gradient; what it says of it is lost, and so is it.
            ClusterEvent event;
            event.event = "warning";
            event.step = step_;
            event.rank = report.rank;
            event.details =
                "worker " + std::to_string(report.rank) + " is asked to leave: " + error.what();
            events_.push_back(event);
            cluster_->act(report.rank, WorkerAction::Leave);
        }
    }
    for (const RankTraffic& traffic : outcome_.traffic)
        outcome_.everyoneHandedOver = std::max(outcome_.everyoneHandedOver, traffic.lastHandOver);
    if (hashWanted_ && !accounts_.empty())
        compareHashes();
    return accounts_;
}

template <class T>
void RemoteWorkers<T>::compareHashes() {
    const std::uint64_t right = ring_ ? mostCommonHash(accounts_) : replica_.hash();
    const auto healthy =
        std::find_if(accounts_.begin(), accounts_.end(),
                     [&](const WorkerAccount& account) { return account.parameterHash == right; });
    for (const WorkerAccount& account : accounts_)
        if (account.parameterHash && *account.parameterHash != right)
            heal(account.rank, healthy == accounts_.end() ? account.rank : healthy->rank);
}

template <class T>
void RemoteWorkers<T>::heal(std::uint32_t rank, std::uint32_t healthy) {
    const ByteBuffer snapshot =
        ring_ ? cluster_->fetch(healthy, true, {}) : makeReplicaSnapshot(replica_);
    const bool healed = !snapshot.empty() && cluster_->load(rank, snapshot, {});
    ClusterEvent event;
    event.event = "replica_healed";
    event.step = step_;
    event.rank = rank;
    event.details = "worker " + std::to_string(rank) +
                    "'s parameters were not those of the others: " +
                    (healed ? "replaced by theirs" : "it was lost before they could be replaced");
    events_.push_back(event);
}

template <class T>
void RemoteWorkers<T>::synchronise(const std::stop_token& stop) {
    if (replicaStep_ == step_)
        return;
    for (const std::uint32_t rank : cluster_->activeRanks()) {
        const ByteBuffer snapshot = cluster_->fetch(rank, true, stop);
        if (snapshot.empty())
            continue; // lost meanwhile: the next one has the same bits
        replica_.loadFrom(parseSnapshot(snapshot));
        replicaStep_ = step_;
        return;
    }
    throw TransportError("no worker is left to ask for the parameters: step " +
                         std::to_string(step_) + "; resume from the last checkpoint");
}

template <class T>
void RemoteWorkers<T>::reconfigure(const Experiment& experiment, MemoryChange change,
                                   bool /*compression*/) {
    experiment_ = experiment;
    cluster_->configure(experiment_, change, exchangeSetup(experiment_, plan_));
}

template <class T>
std::vector<WorkerState<T>> RemoteWorkers<T>::states(const std::stop_token& stop) {
    std::vector<WorkerState<T>> states(restored_.size());
    const std::vector<std::uint32_t> active = cluster_->activeRanks();
    // Before anybody has joined a resumed run its checkpoint's states are still here.
    for (std::size_t rank = 0; rank < restored_.size(); ++rank) {
        if (std::binary_search(active.begin(), active.end(), static_cast<std::uint32_t>(rank))) {
            const ByteBuffer snapshot =
                cluster_->fetch(static_cast<std::uint32_t>(rank), false, stop);
            if (!snapshot.empty())
                states[rank] = readWorkerState<T>(parseSnapshot(snapshot), kWorkerPrefix);
            continue;
        }
        const WorkerState<T>& kept = restored_[rank];
        states[rank].memory = kept.memory;
        states[rank].tensors = kept.tensors; // views of the kept one's buffers
    }
    return states;
}

template <class T>
void RemoteWorkers<T>::setStates(std::vector<WorkerState<T>> states,
                                 const std::string& /*origin*/) {
    GRADLAB_CHECK(states.size() == restored_.size(), states.size(), restored_.size());
    restored_ = std::move(states);
}

template <class T>
std::vector<WorkerInspection> RemoteWorkers<T>::takeInspections() {
    std::vector<WorkerInspection> inspections;
    for (const std::uint32_t rank : cluster_->activeRanks()) {
        const ByteBuffer document = cluster_->fetchInspection(rank, {});
        if (document.empty())
            continue; // lost meanwhile, or it joined after the step
        try {
            inspections.push_back(readInspection(document, *inspection_));
            inspections.back().snapshot.rank = rank;
        } catch (const ProtocolError& error) {
            ClusterEvent event;
            event.event = "warning";
            event.step = step_;
            event.rank = rank;
            event.details = "worker " + std::to_string(rank) + ": " + error.what();
            events_.push_back(event);
        }
    }
    return inspections;
}

template <class T>
std::vector<ClusterEvent> RemoteWorkers<T>::takeEvents() {
    std::vector<ClusterEvent> events = cluster_->takeEvents();
    events.insert(events.end(), std::make_move_iterator(events_.begin()),
                  std::make_move_iterator(events_.end()));
    events_.clear();
    return events;
}

template class RemoteWorkers<float>;
template class RemoteWorkers<double>;

} // namespace gradlab::engine
