// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/step_accounting.h"

#include "engine/metrics/phase_timer.h"

#include <algorithm>
#include <cmath>

namespace gradlab::engine {

namespace {

double seconds(SteadyTime from, SteadyTime to) {
    return std::max(0.0, std::chrono::duration<double>(to - from).count());
}

/// Of the time between the two instants, what the spans, which do not overlap, leave free.
double secondsBesides(const std::vector<TimeSpan>& spans, SteadyTime from, SteadyTime to) {
    double left = seconds(from, to);
    for (const TimeSpan& span : spans)
        left -= seconds(std::max(span.begin, from), std::min(span.end, to));
    return std::max(0.0, left);
}

double ratioOrZero(double part, double whole) {
    return whole > 0.0 ? part / whole : 0.0;
}

// What the link adds for one worker after its last hand-over, uplink only for the server's form.
double uplinkSeconds(const WorkerAccount& worker, const StepInputs& inputs) {
    switch (inputs.form) {
    case ExchangeForm::RingGather:
        return ringGatherExposed(inputs.link, worker.parts, worker.cpuAtHandOver);
    case ExchangeForm::RingReduce:
        return ringReduceExposed(inputs.link, worker.parts, worker.cpuAtHandOver);
    case ExchangeForm::Server:
        break;
    }
    return serverUplinkSeconds(inputs.link, worker.parts, worker.cpuAtHandOver);
}

} // namespace

void WorkerAccount::addReplicaTimes(const ExchangeOutcome& outcome, double updateWallS,
                                    double updateCpuS) {
    t.decode = outcome.decodeWallS;
    t.update = updateWallS;
    cpu.decode = outcome.decodeCpuS;
    cpu.update = updateCpuS;
}

void accountExchange(std::vector<WorkerAccount>& workers, const ExchangeOutcome& outcome) {
    for (std::size_t i = 0; i < workers.size(); ++i) {
        const RankTraffic& traffic = outcome.traffic[i];
        StepTimes& t = workers[i].t;
        t.turn += seconds(traffic.lastHandOver, outcome.everyoneHandedOver);
        t.transferHidden = traffic.transferHiddenS;
        const double onLink = std::max(0.0, traffic.transferS - traffic.transferHiddenS);
        const double untilArrival =
            secondsBesides(outcome.aggregating, outcome.everyoneHandedOver, traffic.arrived);
        t.transfer = std::min(onLink, untilArrival);
        t.wait = untilArrival - t.transfer;
    }
}

double simulatedSeconds(const std::vector<WorkerAccount>& workers, const ExchangeOutcome& outcome,
                        const StepInputs& inputs, double& linkS) {
    double slowest = 0.0;
    double slowestWithLink = 0.0;
    double bytesDown = 0.0;
    for (std::size_t i = 0; i < workers.size(); ++i) {
        const WorkerAccount& worker = workers[i];
        const double afterwards = worker.commitCpu + worker.cpu.decode + worker.cpu.update;
        const double cpu = worker.cpuAtHandOver + afterwards;
        slowest = std::max(slowest, cpu);
        slowestWithLink = std::max(slowestWithLink, cpu + uplinkSeconds(worker, inputs));
        bytesDown = std::max(bytesDown, static_cast<double>(outcome.traffic[i].bytesDown));
    }
    linkS = slowestWithLink - slowest;
    if (inputs.form == ExchangeForm::Server)
        linkS += serverDownlinkSeconds(inputs.link, bytesDown);
    return slowest + outcome.aggregateCpuS + linkS;
}

StepRecord makeStepRecord(const std::vector<WorkerAccount>& workers, const ExchangeOutcome& outcome,
                          const StepInputs& inputs) {
    StepRecord record;
    record.step = inputs.step;
    record.epoch = inputs.epoch;
    record.lr = inputs.lr;
    record.ratio = workers.front().ratio;
    record.contributors = outcome.contributors.size();
    const double share = 1.0 / static_cast<double>(workers.size());
    double norm = 0.0;
    double kept = 0.0;
    double error = 0.0;
    double residual = 0.0;
    for (std::size_t i = 0; i < workers.size(); ++i) {
        const WorkerAccount& worker = workers[i];
        record.loss += worker.loss * share;
        record.selected += static_cast<double>(worker.stats.selected) * share;
        record.nonzero += static_cast<double>(worker.stats.nonzero) * share;
        record.bytesMessage += static_cast<double>(worker.bytesMessage) * share;
        record.bytesUp += static_cast<double>(outcome.traffic[i].bytesUp) * share;
        record.bytesDown += static_cast<double>(outcome.traffic[i].bytesDown) * share;
        record.bytesPaper += worker.stats.paperBytes * share;
        norm += worker.stats.squaredNorm;
        kept += worker.stats.squaredKept;
        error += worker.stats.squaredError;
        residual += worker.stats.squaredResidual;
        addTimes(record.t, worker.t);
        addTimes(record.cpu, worker.cpu);
    }
    scaleTimes(record.t, share);
    scaleTimes(record.cpu, share);
    const auto parameters = static_cast<double>(inputs.parameters);
    record.density = record.selected / parameters;
    record.bytesDense = parameters * static_cast<double>(inputs.valueBytes);
    record.gradNorm = inputs.sgd.gradNorm;
    record.clipped = inputs.sgd.clipped;
    record.residualNorm = std::sqrt(residual);
    record.error = std::sqrt(ratioOrZero(error, norm));
    record.energyKept = ratioOrZero(kept, norm);
    record.aggregateCpu = outcome.aggregateCpuS;
    record.simulatedS = simulatedSeconds(workers, outcome, inputs, record.linkS);
    return record;
}

WorkerRecord makeWorkerRecord(const WorkerAccount& worker, const RankTraffic& traffic,
                              std::uint64_t step) {
    WorkerRecord record;
    record.step = step;
    record.rank = worker.rank;
    record.loss = worker.loss;
    record.selected = worker.stats.selected;
    record.nonzero = worker.stats.nonzero;
    record.bytesMessage = worker.bytesMessage;
    record.bytesUp = traffic.bytesUp;
    record.bytesDown = traffic.bytesDown;
    record.residualNorm = std::sqrt(worker.stats.squaredResidual);
    for (const PartReady& part : worker.parts)
        record.parts.push_back({part.wallS, part.bytes});
    record.t = worker.t;
    record.cpu = worker.cpu;
    return record;
}

} // namespace gradlab::engine
