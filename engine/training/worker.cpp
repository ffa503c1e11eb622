// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/worker.h"

#include "engine/core/allocation_count.h"
#include "engine/core/errors.h"

#include <cmath>
#include <functional>
#include <string>
#include <utility>

namespace gradlab::engine {

namespace {

// Time that starts and stops with the phases of one step, by wall and by CPU clock, helpers' CPU
// included.
class StepClock {
public:
    StepClock(PhaseTimer& timer, ComputeArena& arena)
        : timer_(timer), arena_(arena), wall_(std::chrono::steady_clock::now()),
          cpu_(threadCpuSeconds()) {
        static_cast<void>(arena_.takeHelpersCpu());
    }
    // Accounts everything since the last call to `phase`.
    void lap(Phase phase) {
        const auto wall = std::chrono::steady_clock::now();
        const double cpu = threadCpuSeconds();
        const double used = cpu - cpu_ + arena_.takeHelpersCpu();
        timer_.addWall(phase, std::chrono::duration<double>(wall - wall_).count());
        timer_.addCpu(phase, used);
        total_ += used;
        wall_ = wall;
        cpu_ = cpu;
    }
    [[nodiscard]] double cpuSoFar() const noexcept { return total_; }
    // Leaves out what has passed since the last call, for what is no phase of the step.
    double skip() {
        const auto wall = std::chrono::steady_clock::now();
        const double passed = std::chrono::duration<double>(wall - wall_).count();
        wall_ = wall;
        cpu_ = threadCpuSeconds();
        static_cast<void>(arena_.takeHelpersCpu());
        return passed;
    }
    // The same for a known part of the time since the last call.
    void skip(double seconds) {
        wall_ += std::chrono::duration_cast<std::chrono::steady_clock::duration>(
            std::chrono::duration<double>(seconds));
        cpu_ += seconds;
    }

private:
    PhaseTimer& timer_;
    ComputeArena& arena_;
    std::chrono::steady_clock::time_point wall_;
    double cpu_;
    double total_ = 0.0;
};

} // namespace

// Encodes and sends a part as soon as backward has finished its last tensor (overlap), or all of
// them at the end.
template <class T>
class Worker<T>::Pipeline {
public:
    Pipeline(Worker& worker, const WorkerStep& step, std::span<const T> parameters,
             GradientExchange& exchange, ComputeArena& arena)
        : worker_(worker), step_(step), parameters_(parameters), exchange_(exchange),
          clock_(worker.timer_, arena), begun_(std::chrono::steady_clock::now()),
          missing_(worker.missing_) {
        missing_.clear();
        for (const auto& part : worker.plan_.parts())
            missing_.push_back(part.size());
    }

    void forwardDone() { clock_.lap(Phase::Forward); }

    void tensorReady(std::uint32_t tensor) {
        if (!step_.overlap)
            return;
        const auto& parts = worker_.plan_.parts();
        for (std::size_t part = 0; part < parts.size(); ++part)
            for (const std::uint32_t unit : parts[part])
                if (unit == tensor && --missing_[part] == 0)
                    sendPart(part);
    }

    void finish() {
        clock_.lap(Phase::Backward);
        if (!step_.overlap)
            for (std::size_t part = 0; part < missing_.size(); ++part)
                sendPart(part);
        worker_.result_.cpuAtHandOver = clock_.cpuSoFar();
    }

private:
    void sendPart(std::size_t part) {
        clock_.lap(Phase::Backward);
        inspectGradient(part);
        const std::uint32_t rank = worker_.identity_.rank;
        ByteBuffer message = exchange_.takeBuffer(rank, part);
        worker_.compressor_.encodePart(part, worker_.gradient_.span(), parameters_, step_.position,
                                       kFrameHeaderBytes, message);
        if (worker_.inspector_)
            clock_.skip(worker_.inspector_->copySeconds());
        clock_.lap(Phase::Compress);
        inspectMessage(part, message);
        WorkerResult& result = worker_.result_;
        result.bytesMessage += message.size();
        const std::chrono::duration<double> ready =
            std::chrono::steady_clock::now() - begun_ - inspecting_;
        result.parts.push_back(
            {clock_.cpuSoFar(), static_cast<double>(message.size()), ready.count()});
        exchange_.send(rank, part, std::move(message));
        clock_.lap(Phase::Encode);
    }

    // Looking is no phase of the step: its time is the snapshot's own.
    void inspectGradient(std::size_t part) {
        if (!worker_.inspector_)
            return;
        worker_.inspector_->lookAtGradient(part, worker_.gradient_.span());
        inspecting_ += std::chrono::duration<double>(clock_.skip());
    }
    void inspectMessage(std::size_t part, const ByteBuffer& message) {
        if (!worker_.inspector_)
            return;
        worker_.inspector_->lookAtMessage(part, ByteView(message).subspan(kFrameHeaderBytes),
                                          worker_.compressor_.remembers());
        inspecting_ += std::chrono::duration<double>(clock_.skip());
    }

    Worker& worker_;
    const WorkerStep& step_;
    std::span<const T> parameters_;
    GradientExchange& exchange_;
    StepClock clock_;
    std::chrono::steady_clock::time_point begun_;
    std::chrono::duration<double> inspecting_{0.0};
    std::vector<std::size_t>& missing_; ///< tensors of each part that are not final yet
};

template <class T>
Worker<T>::Worker(const MessagePlan& plan, const ModelShape& shape, ColumnBlock columns,
                  std::size_t bptt, const CompressionSettings& compression,
                  const CompressorIdentity& identity)
    : plan_(plan), identity_(identity), columns_(std::move(columns)),
      windows_(columns_, bptt, false), compressor_(plan, compression, identity),
      gradient_(plan.size()), h_(shape.layers * columns_.columns * shape.hidden), c_(h_.size()),
      nextH_(h_.size()), nextC_(h_.size()) {}

template <class T>
void Worker<T>::compute(const WorkerStep& step, LanguageModel<T>& model,
                        std::span<const T> parameters, ComputeArena& arena,
                        GradientExchange& exchange, const std::stop_token& stop) {
    result_.loss = 0.0;
    result_.bytesMessage = 0;
    result_.parts.clear();
    if (step.keepGradient && kept_.empty())
        kept_ = AlignedBuffer<T>(plan_.size());
    inspector_.reset();
    if (step.inspection)
        inspector_ = std::make_unique<GradientInspector<T>>(plan_, step.inspection, rank());
    compressor_.copySeen(inspector_ ? &inspector_->seen() : nullptr);
    const AllocationScope counted;
    arena.execute([&] {
        Pipeline pipeline(*this, step, parameters, exchange, arena);
        forwardBackward(step, model, parameters, stop, pipeline);
        pipeline.finish();
    });
    result_.stats = compressor_.stats();
}

template <class T>
void Worker<T>::forwardBackward(const WorkerStep& step, LanguageModel<T>& model,
                                std::span<const T> parameters, const std::stop_token& stop,
                                Pipeline& pipeline) {
    if (step.window == 0) {
        nextH_.fill(T{0});
        nextC_.fill(T{0});
    } else {
        std::copy(h_.begin(), h_.end(), nextH_.begin());
        std::copy(c_.begin(), c_.end(), nextC_.begin());
    }
    const DropoutContext dropout{step.dropout, step.seed,
                                 static_cast<std::uint32_t>(step.position.step),
                                 static_cast<std::uint32_t>(columns_.firstColumn)};
    const auto ready = [&](std::uint32_t tensor) {
        if (step.keepGradient) {
            const TensorInfo& info = model.layout().tensors()[tensor];
            std::copy_n(gradient_.begin() + info.offset, info.size, kept_.begin() + info.offset);
        }
        pipeline.tensorReady(tensor);
    };
    result_.loss = model.forwardBackward(
        parameters, windows_.window(step.window), {nextH_.span(), nextC_.span()}, dropout,
        gradient_.span(), [&] { pipeline.forwardDone(); }, std::cref(ready),
        stop); // by reference: a copy would be a heap allocation
    if (!std::isfinite(result_.loss))
        throw NumericError(step.position.step, "loss",
                           "the loss is not finite: step " + std::to_string(step.position.step) +
                               ", worker " + std::to_string(identity_.rank) +
                               "; use a lower learning rate");
}

template <class T>
void Worker<T>::commit() {
    compressor_.commit(gradient_);
    h_.swap(nextH_);
    c_.swap(nextC_);
}

template <class T>
std::optional<WorkerInspection> Worker<T>::takeInspection() {
    if (!inspector_)
        return std::nullopt;
    compressor_.copySeen(nullptr);
    const std::unique_ptr<GradientInspector<T>> done = std::move(inspector_);
    return done->take();
}

template <class T>
WorkerState<T> Worker<T>::state() {
    WorkerState<T> state;
    state.tensors = compressor_.state();
    state.tensors.push_back({"h", h_.span()});
    state.tensors.push_back({"c", c_.span()});
    state.memory = compressor_.scalarState();
    return state;
}

template <class T>
void Worker<T>::setState(const WorkerState<T>& state, const std::string& origin) {
    compressor_.setScalarState(state.memory); // decides which vectors there are
    copyWorkerState(state, this->state(), origin);
}

template <class T>
void Worker<T>::discard() noexcept {
    compressor_.discard();
}

template class Worker<float>;
template class Worker<double>;

} // namespace gradlab::engine
