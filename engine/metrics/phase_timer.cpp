// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/metrics/phase_timer.h"

#include <array>

namespace gradlab::engine {

namespace {

/// In the order of enum Phase.
constexpr std::array kMembers = {
    &StepTimes::forward,  &StepTimes::backward,      &StepTimes::compress, &StepTimes::encode,
    &StepTimes::transfer, &StepTimes::wait,          &StepTimes::turn,     &StepTimes::decode,
    &StepTimes::update,   &StepTimes::transferHidden};

} // namespace

double& phaseSeconds(StepTimes& times, Phase phase) {
    return times.*kMembers.at(static_cast<std::size_t>(phase));
}

void addTimes(StepTimes& into, const StepTimes& more) {
    for (const auto member : kMembers)
        into.*member += more.*member;
}

void scaleTimes(StepTimes& times, double factor) {
    for (const auto member : kMembers)
        times.*member *= factor;
}

void PhaseTimer::reset() {
    wall_ = {};
    cpu_ = {};
}

void PhaseTimer::addWall(Phase phase, double seconds) {
    phaseSeconds(wall_, phase) += seconds;
}

void PhaseTimer::addCpu(Phase phase, double seconds) {
    phaseSeconds(cpu_, phase) += seconds;
}

ScopedPhase::ScopedPhase(PhaseTimer& timer, Phase phase)
    : timer_(timer), phase_(phase), wallStart_(std::chrono::steady_clock::now()),
      cpuStart_(threadCpuSeconds()) {}

ScopedPhase::~ScopedPhase() {
    if (running_)
        account();
}

void ScopedPhase::next(Phase phase) {
    if (running_) {
        account();
    } else {
        wallStart_ = std::chrono::steady_clock::now();
        cpuStart_ = threadCpuSeconds();
    }
    phase_ = phase;
    running_ = true;
}

void ScopedPhase::stop() {
    if (running_)
        account();
    running_ = false;
}

// Leaves both clocks at "now", so that next() loses nothing in between.
void ScopedPhase::account() {
    const auto wallNow = std::chrono::steady_clock::now();
    const double cpuNow = threadCpuSeconds();
    timer_.addWall(phase_, std::chrono::duration<double>(wallNow - wallStart_).count());
    timer_.addCpu(phase_, cpuNow - cpuStart_);
    wallStart_ = wallNow;
    cpuStart_ = cpuNow;
}

} // namespace gradlab::engine
