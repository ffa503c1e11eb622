// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/cluster_node.h"

#include "engine/core/errors.h"
#include "engine/training/experiment_schema.h"
#include "engine/training/node_snapshot.h"
#include "engine/training/training_rules.h"
#include "engine/training/worker_accounting.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace gradlab::engine {

namespace {

[[noreturn]] void refuse(const Error& error) {
    throw ProtocolError(std::string("snapshot refused: ") + error.what());
}

template <class T>
class ClusterNodeImpl final : public ClusterNode {
public:
    ClusterNodeImpl(const SafetensorsFile& snapshot, NodeDescription node,
                    const ExchangeFactory& exchange, std::size_t threads)
        : experiment_(std::move(node.experiment)), rank_(node.rank),
          shape_(modelShape(experiment_, node.vocabulary)),
          plan_(ParameterLayout(shape_), compressionScope(experiment_)),
          arena_(static_cast<int>(threads)),
          replica_(shape_, plan_, aggregatorSettings(experiment_)),
          model_(makeLstmLanguageModel<T>(shape_, productType(experiment_))),
          worker_(plan_, shape_, std::move(node.columns),
                  static_cast<std::size_t>(experiment_.training.bptt), experiment_.compression,
                  compressorIdentity(experiment_, rank_)) {
        if (worker_.windows() == 0)
            throw ProtocolError("snapshot refused: too few tokens for one window");
        replica_.loadFrom(snapshot);
        loadWorker(snapshot);
        exchange_ = exchange(setup());
    }

    void step(std::uint64_t step, std::stop_token stop) override;
    [[nodiscard]] std::string report(bool withHash) const override {
        WorkerAccount account = account_;
        if (withHash)
            account.parameterHash = replica_.hash();
        return accountToJson(account);
    }
    [[nodiscard]] const ExchangeOutcome& outcome() const override { return outcome_; }
    void configure(const std::string& experiment, MemoryChange change) override;
    [[nodiscard]] ByteBuffer snapshot(bool replica) override {
        return replica ? makeReplicaSnapshot(replica_) : makeStateSnapshot(worker_.state());
    }
    void inspectNext(const std::optional<InspectionRequest>& focus) override {
        inspectNext_ = makeInspectionPlan(experiment_, replica_.layout(), plan_, focus);
    }
    [[nodiscard]] ByteBuffer inspection() override {
        const auto found = worker_.takeInspection();
        return found ? writeInspection(*found) : ByteBuffer{};
    }
    void load(ByteView bytes) override;
    [[nodiscard]] std::uint32_t rank() const override { return rank_; }
    [[nodiscard]] std::uint64_t parameterHash() const override { return replica_.hash(); }
    [[nodiscard]] std::uint64_t progress() const override { return progress_; }

private:
    [[nodiscard]] ExchangeSetup setup() const {
        ExchangeSetup setup = exchangeSetup(experiment_, plan_);
        setup.ranks = {rank_};
        return setup;
    }
    void loadWorker(const SafetensorsFile& snapshot) {
        const WorkerState<T> state = readWorkerState<T>(snapshot, kWorkerPrefix);
        if (!state.tensors.empty())
            worker_.setState(state, snapshot.name());
    }
    void commitAndUpdate(double meanNorm, const WorkerStep& now);

    Experiment experiment_;
    std::uint32_t rank_;
    ModelShape shape_;
    MessagePlan plan_;
    ComputeArena arena_;
    Replica<T> replica_;
    std::unique_ptr<LanguageModel<T>> model_;
    Worker<T> worker_;
    std::unique_ptr<GradientExchange> exchange_;
    ExchangeOutcome outcome_;
    WorkerAccount account_;
    std::shared_ptr<const InspectionPlan> inspectNext_; ///< null: nobody asked
    std::atomic<std::uint64_t> progress_{0};
};

template <class T>
void ClusterNodeImpl<T>::step(std::uint64_t step, std::stop_token stop) {
    WorkerStep now = workerStep(experiment_, step, worker_.windows());
    now.inspection = std::exchange(inspectNext_, nullptr);
    double meanNorm = 0.0;
    ++progress_;
    try {
        exchange_->beginStep(step, replica_.aggregator());
        worker_.timer().reset();
        worker_.compute(now, *model_, std::as_const(replica_).parameters(), arena_, *exchange_,
                        stop);
        ++progress_;
        outcome_ = exchange_->finish([&] { meanNorm = replica_.checkedMeanNorm(step); }, stop);
    } catch (...) {
        worker_.discard();
        exchange_->abandonStep();
        throw;
    }
    ++progress_;
    commitAndUpdate(meanNorm, now);
    ++progress_;
}

template <class T>
void ClusterNodeImpl<T>::commitAndUpdate(double meanNorm, const WorkerStep& now) {
    const double commitCpu = commitTimed(worker_, arena_);
    const ReplicaUpdate update = updateTimed(replica_, arena_, meanNorm, sgdSettings(experiment_));
    fillAccount(account_, worker_, now.position.epoch, commitCpu, now.overlap);
    account_.sgd = update.sgd;
    account_.addReplicaTimes(outcome_, update.wallS, update.cpuS);
}

template <class T>
void ClusterNodeImpl<T>::configure(const std::string& document, MemoryChange change) {
    const Experiment next = resolved(parseExperiments(document, "the coordinator").front());
    // Method and memory decide what is exchanged; everything else is looked up at each step.
    worker_.compressor().reconfigure(next.compression, change);
    experiment_ = next;
    exchange_->reconfigure(setup());
    exchange_->setLink(experiment_.cluster.link);
}

template <class T>
void ClusterNodeImpl<T>::load(ByteView bytes) {
    const SafetensorsFile snapshot = parseSnapshot(bytes);
    try {
        if (snapshot.contains(replica_.layout().tensors().front().name))
            replica_.loadFrom(snapshot);
        loadWorker(snapshot);
    } catch (const DataError& error) {
        refuse(error);
    }
}

NodeDescription describedNode(const SafetensorsFile& snapshot) {
    try {
        return readDescription(snapshot);
    } catch (const DataError& error) {
        refuse(error);
    } catch (const ExperimentError& error) {
        refuse(error);
    }
}

} // namespace

ClusterNode::~ClusterNode() = default;

std::unique_ptr<ClusterNode> ClusterNode::create(ByteView snapshot, const ExchangeFactory& exchange,
                                                 std::size_t threads) {
    return createOn(bf16Ability(), snapshot, exchange, threads);
}

std::unique_ptr<ClusterNode> ClusterNode::createOn(Bf16Ability ability, ByteView snapshot,
                                                   const ExchangeFactory& exchange,
                                                   std::size_t threads) {
    const SafetensorsFile file = parseSnapshot(snapshot);
    NodeDescription node = describedNode(file);
    requirePrecision(node.experiment, ability);
    const std::size_t cores = std::max<std::size_t>(1, threads);
    try {
        if (node.experiment.training.precision == "f64")
            return std::make_unique<ClusterNodeImpl<double>>(file, std::move(node), exchange,
                                                             cores);
        return std::make_unique<ClusterNodeImpl<float>>(file, std::move(node), exchange, cores);
    } catch (const DataError& error) {
        refuse(error);
    } catch (const ExperimentError& error) {
        refuse(error);
    }
}

} // namespace gradlab::engine
