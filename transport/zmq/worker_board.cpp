// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/zmq/worker_board.h"

#include "engine/core/errors.h"

#include <algorithm>
#include <utility>

namespace gradlab::transport {

std::optional<Order> WorkerBoard::nextOrder() {
    std::unique_lock lock(mutex_);
    news_.wait(lock, [this] { return end_ || !orders_.empty(); });
    if (end_)
        return std::nullopt;
    Order order = std::move(orders_.front());
    orders_.pop_front();
    if (order.ticket != 0)
        taken_ = order.ticket;
    return order;
}

void WorkerBoard::post(Post post) {
    {
        const std::lock_guard lock(mutex_);
        posts_.push_back(std::move(post));
    }
    wakeup_.signal();
}

StepTicket WorkerBoard::ticket() const {
    const std::lock_guard lock(mutex_);
    return taken_;
}

std::uint64_t WorkerBoard::epoch() const {
    const std::lock_guard lock(mutex_);
    return epoch_;
}

void WorkerBoard::throwIfOver(StepTicket ticket, const std::stop_token& stop) const {
    if (end_ || ticket != current_ || status_ == Status::GivenUp || stop.stop_requested())
        throw engine::Cancelled();
    if (error_)
        std::rethrow_exception(error_);
}

MeanNews WorkerBoard::awaitMean(StepTicket ticket, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    news_.wait(lock, stop, [&] {
        return end_ || error_ || ticket != current_ || !work_.empty() ||
               status_ == Status::Complete || status_ == Status::GivenUp;
    });
    throwIfOver(ticket, stop);
    MeanNews news{std::nullopt, round_};
    if (!work_.empty()) {
        news.work = std::move(work_.front());
        work_.pop_front();
    }
    return news;
}

bool WorkerBoard::awaitCommit(StepTicket ticket, std::uint64_t round, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    news_.wait(lock, stop, [&] {
        return end_ || error_ || ticket != current_ || status_ == Status::Committed ||
               status_ == Status::GivenUp || round != round_;
    });
    // What is committed stays so, whoever asks for a stop at the same time.
    if (ticket == current_ && status_ == Status::Committed)
        return true;
    throwIfOver(ticket, stop);
    return false;
}

engine::ExchangeOutcome WorkerBoard::outcome() const {
    const std::lock_guard lock(mutex_);
    return outcome_;
}

void WorkerBoard::close(StepTicket ticket) {
    post(PostClose{ticket});
    std::unique_lock lock(mutex_);
    news_.wait(lock, [&] { return end_ || closed_ >= ticket; });
}

std::vector<Post> WorkerBoard::takePosts() {
    const std::lock_guard lock(mutex_);
    return std::exchange(posts_, {});
}

void WorkerBoard::give(Order order) {
    const std::lock_guard lock(mutex_);
    orders_.push_back(std::move(order));
    news_.notify_all();
}

void WorkerBoard::beginStep(StepTicket ticket, std::uint64_t epoch, std::stop_source stop) {
    const std::lock_guard lock(mutex_);
    current_ = ticket;
    epoch_ = epoch;
    stop_ = std::move(stop);
    error_ = nullptr;
    work_.clear();
    status_ = Status::Collecting;
    news_.notify_all();
}

void WorkerBoard::restart(std::uint64_t epoch) {
    const std::lock_guard lock(mutex_);
    epoch_ = epoch;
    ++round_;
    error_ = nullptr;
    work_.clear();
    status_ = Status::Collecting;
    news_.notify_all();
}

void WorkerBoard::give(MeanWork work) {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
    news_.notify_all();
}

void WorkerBoard::meanComplete() {
    const std::lock_guard lock(mutex_);
    status_ = Status::Complete;
    news_.notify_all();
}

void WorkerBoard::committed(engine::ExchangeOutcome outcome) {
    const std::lock_guard lock(mutex_);
    outcome_ = std::move(outcome);
    status_ = Status::Committed;
    news_.notify_all();
}

void WorkerBoard::givenUp() {
    std::stop_source stop{std::nostopstate};
    {
        const std::lock_guard lock(mutex_);
        status_ = Status::GivenUp;
        work_.clear();
        stop = stop_;
        news_.notify_all();
    }
    stop.request_stop(); // runs callbacks: not under the lock
}

void WorkerBoard::fail(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    news_.notify_all();
}

void WorkerBoard::closed(StepTicket ticket) {
    const std::lock_guard lock(mutex_);
    closed_ = std::max(closed_, ticket);
    work_.clear();
    news_.notify_all();
}

void WorkerBoard::finish(SessionEnd end) {
    std::stop_source stop{std::nostopstate};
    {
        const std::lock_guard lock(mutex_);
        if (end_)
            return;
        end_ = std::move(end);
        stop = stop_;
        news_.notify_all();
    }
    stop.request_stop();
}

std::optional<SessionEnd> WorkerBoard::end() const {
    const std::lock_guard lock(mutex_);
    return end_;
}

void WorkerBoard::setProgress(std::function<std::uint64_t()> progress) {
    const std::lock_guard lock(mutex_);
    progress_ = std::move(progress);
}

std::uint64_t WorkerBoard::progress() const {
    const std::lock_guard lock(mutex_);
    return progress_ ? progress_() : 0;
}

} // namespace gradlab::transport
