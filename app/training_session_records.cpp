// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// How records get from the run's buffers to the window: in slices, within a time budget a tick, so
// that a run that is faster than the screen never holds up the GUI thread.
#include "app/session_run.h"
#include "app/training_session.h"

#include <algorithm>
#include <iterator>

namespace gradlab::app {

using engine::RunState;

namespace {

constexpr qint64 kBudgetMs = 8;
constexpr std::size_t kSlice = 256;

bool hasEnded(RunState state) noexcept {
    return state == RunState::Finished || state == RunState::Failed;
}

} // namespace

void TrainingSession::tick() {
    joinEndedRuns();
    if (!current_ || !(isActive() || state_ == RunState::Idle)) {
        if (discarded_.empty())
            timer_.stop();
        return;
    }
    // Read before draining: records come before the end that they lead to.
    const RunState state = current_->run->state();
    const std::uint64_t number = current_->number;
    const bool drained = drain();
    if (!current_ || current_->number != number)
        return; // a receiver prepared or discarded a run
    handOnSnapshots();
    if (!current_ || current_->number != number)
        return;
    Q_EMIT progressChanged(current_->run->progress());
    if (drained && hasEnded(state) && current_ && current_->number == number)
        publishEnd(state);
}

/// True once nothing waits any more.
bool TrainingSession::drain() {
    QElapsedTimer clock;
    clock.start();
    bool drained = true;
    const std::uint64_t number = current_->number;
    const std::size_t count = current_->members.size();
    firstToDrain_ = (firstToDrain_ + 1) % count;
    for (std::size_t i = 0; i < count; ++i) {
        drained &= handOn(*current_->members[(firstToDrain_ + i) % count], clock);
        if (!current_ || current_->number != number)
            return false;
    }
    return drained;
}

void TrainingSession::handOnSnapshots() {
    const std::uint64_t number = runNumber_;
    for (const auto& member : current_->members)
        for (const auto& snapshot : member->sink.buffer.takeSnapshots()) {
            Q_EMIT snapshotArrived(member->id, snapshot);
            if (number != runNumber_ || !current_)
                return;
        }
}

bool TrainingSession::handOn(SessionMember& member, const QElapsedTimer& clock) {
    const std::uint64_t number = runNumber_;
    if (member.handedOn == member.waiting.size()) {
        member.waiting = member.sink.buffer.take();
        member.handedOn = 0;
    }
    while (member.handedOn < member.waiting.size()) {
        const std::size_t size = std::min(kSlice, member.waiting.size() - member.handedOn);
        const auto first =
            std::next(member.waiting.begin(), static_cast<std::ptrdiff_t>(member.handedOn));
        const std::vector<engine::Record> slice(first, first + static_cast<std::ptrdiff_t>(size));
        member.handedOn += size;
        Q_EMIT recordsArrived(member.id, slice);
        if (number != runNumber_)
            return false;
        if (clock.elapsed() >= kBudgetMs)
            break;
    }
    return member.handedOn == member.waiting.size();
}

std::size_t TrainingSession::droppedRecords() const {
    std::size_t dropped = 0;
    if (current_)
        for (const auto& member : current_->members)
            dropped += member->sink.buffer.dropped();
    return dropped;
}

void TrainingSession::joinEndedRuns() {
    std::erase_if(discarded_, [](const auto& run) {
        const RunState state = run->run->state();
        return state == RunState::Idle || hasEnded(state);
    });
}

} // namespace gradlab::app
