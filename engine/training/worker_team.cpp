// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/worker_team.h"

#include "engine/core/check.h"
#include "engine/core/errors.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace gradlab::engine {

namespace {

bool isCancelled(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const Cancelled&) {
        return true;
    } catch (...) {
        return false;
    }
}

} // namespace

WorkerTeam::WorkerTeam(std::size_t workers, std::size_t threads) {
    errors_.resize(workers);
    const std::size_t seats =
        std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(1, workers));
    const std::size_t each = std::max<std::size_t>(1, threads / std::max<std::size_t>(1, workers));
    for (std::size_t seat = seats; seat-- > 0;) {
        arenas_.push_back(std::make_unique<ComputeArena>(static_cast<int>(each)));
        freeSeats_.push_back(seat);
    }
    for (std::size_t index = 0; index < workers; ++index)
        threads_.emplace_back([this, index](const std::stop_token& stop) { loop(index, stop); });
}

WorkerTeam::~WorkerTeam() {
    for (std::jthread& thread : threads_)
        thread.request_stop();
    threads_.clear();
}

void WorkerTeam::start(Work work, Failed failed) {
    const std::lock_guard lock(mutex_);
    GRADLAB_CHECK(busy_ == 0, busy_);
    work_ = std::move(work);
    failed_ = std::move(failed);
    std::fill(errors_.begin(), errors_.end(), nullptr);
    busy_ = threads_.size();
    ++round_;
    roundStarted_.notify_all();
}

std::exception_ptr WorkerTeam::join() {
    std::unique_lock lock(mutex_);
    roundDone_.wait(lock, [&] { return busy_ == 0; });
    std::exception_ptr first;
    for (const std::exception_ptr& error : errors_) {
        if (error != nullptr && !isCancelled(error))
            return error;
        if (first == nullptr)
            first = error;
    }
    return first;
}

void WorkerTeam::run(Work work) {
    start(std::move(work));
    if (const std::exception_ptr error = join())
        std::rethrow_exception(error);
}

ComputeTurn WorkerTeam::takeSeat() {
    const auto begin = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex_);
    seatFree_.wait(lock, [&] { return !freeSeats_.empty(); });
    const std::size_t seat = freeSeats_.back();
    freeSeats_.pop_back();
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
    return {seat, *arenas_[seat], waited.count()};
}

void WorkerTeam::giveSeat(std::size_t seat) {
    const std::lock_guard lock(mutex_);
    freeSeats_.push_back(seat);
    seatFree_.notify_one();
}

void WorkerTeam::loop(std::size_t index, const std::stop_token& stop) {
    std::size_t seen = 0;
    while (true) {
        {
            std::unique_lock lock(mutex_);
            if (!roundStarted_.wait(lock, stop, [&] { return round_ != seen; }))
                return;
            seen = round_;
        }
        const ComputeTurn turn = takeSeat();
        std::exception_ptr error;
        try {
            work_(index, turn);
        } catch (...) {
            error = std::current_exception();
        }
        giveSeat(turn.seat);
        if (error != nullptr && failed_)
            failed_();
        const std::lock_guard lock(mutex_);
        errors_[index] = error;
        if (--busy_ == 0)
            roundDone_.notify_all();
    }
}

} // namespace gradlab::engine
