// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Worker threads put parts into a mailbox; the run's thread takes them out in finish(), passes them
// through the link to the topology's route, and sleeps until the next part or arrival.
#include "transport/in_process/in_process_exchange.h"

#include "engine/core/check.h"
#include "engine/core/errors.h"
#include "engine/training/membership.h"
#include "transport/in_process/route.h"
#include "transport/wire_format.h"

#include <cmath>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace gradlab::transport {
namespace {

class InProcessExchange final : public engine::GradientExchange {
public:
    explicit InProcessExchange(const engine::ExchangeSetup& setup) { configure(setup); }

    void beginStep(std::uint64_t step, engine::Aggregator& replica) override;
    void send(std::uint32_t rank, std::size_t part, engine::ByteBuffer message) override;
    [[nodiscard]] engine::ByteBuffer takeBuffer(std::uint32_t rank, std::size_t part) override;
    engine::ExchangeOutcome finish(const engine::MeanCheck& check, std::stop_token stop) override;
    void abandonStep() override;
    void setLink(const engine::LinkSettings& link) override;
    void reconfigure(const engine::ExchangeSetup& setup) override { configure(setup); }

private:
    struct Mail {
        std::uint32_t rank = 0;
        std::size_t part = 0;
        double handedOver = 0.0; ///< seconds since the step's start
    };
    void configure(const engine::ExchangeSetup& setup);
    void gatherMembers();
    void takeMail();
    void passOn(const Mail& mail);
    void deliverArrivals();
    /// Until a part, the link's next event, or the wish to stop.
    void waitForNews(const std::stop_token& stop);
    [[nodiscard]] engine::ExchangeOutcome commit();

    std::mutex mutex_; ///< guards mail_, open_, and state_->messages where send() puts them
    std::condition_variable_any news_;
    std::vector<Mail> mail_;
    bool open_ = false; ///< parts are welcome

    // The run's thread only, except that workers read the step's header fields between beginStep()
    // and finish().
    std::vector<Mail> taken_;
    std::unique_ptr<StepState> state_;
    std::unique_ptr<Route> route_; ///< refers to *state_
    std::unique_ptr<engine::Membership> membership_;
    std::vector<engine::MemberId> members_; ///< by rank
    engine::MembershipActions actions_;
};

void InProcessExchange::configure(const engine::ExchangeSetup& setup) {
    GRADLAB_CHECK(setup.ranks.size() == setup.workers, setup.ranks.size(), setup.workers);
    for (std::uint32_t rank = 0; rank < setup.workers; ++rank)
        GRADLAB_CHECK(setup.ranks[rank] == rank, setup.ranks[rank], rank);
    GRADLAB_CHECK(setup.plan.parts().size() <= 0xFFFFU, setup.plan.parts().size());
    route_.reset();
    state_ = std::make_unique<StepState>(setup);
    route_ = makeRoute(*state_);
    gatherMembers();
    const std::lock_guard lock(mutex_);
    mail_.reserve(state_->workers() * state_->parts());
    taken_.reserve(state_->workers() * state_->parts());
}

void InProcessExchange::gatherMembers() {
    engine::MembershipSettings settings;
    settings.slotCount = state_->workers();
    settings.parts = state_->parts();
    membership_ = std::make_unique<engine::Membership>(settings);
    members_.clear();
    for (std::uint32_t rank = 0; rank < state_->workers(); ++rank)
        members_.push_back(membership_->join({}, actions_));
    membership_->boundary(actions_);
    for (const engine::MemberId member : members_)
        membership_->ready(member, actions_);
    membership_->boundary(actions_);
    actions_.clear();
}

void InProcessExchange::beginStep(std::uint64_t step, engine::Aggregator& replica) {
    state_->replica = &replica;
    membership_->beginStep(step, actions_);
    actions_.clear();
    state_->step = step;
    state_->epoch = membership_->epoch();
    state_->origin = std::chrono::steady_clock::now();
    state_->outcome = {};
    state_->traffic.reset(state_->workers());
    state_->link.reset();
    route_->beginStep();
    const std::lock_guard lock(mutex_);
    mail_.clear();
    open_ = true;
}

void InProcessExchange::send(std::uint32_t rank, std::size_t part, engine::ByteBuffer message) {
    GRADLAB_CHECK(rank < state_->workers() && part < state_->parts(), rank, part);
    // In the worker's thread and outside the lock: the hash reads the whole message.
    encodeFrame(state_->header(FrameType::Gradient, rank, part), message);
    const std::lock_guard lock(mutex_);
    state_->messages[rank][part] = std::move(message);
    if (!open_)
        return; // the step was given up meanwhile
    mail_.push_back({rank, part, state_->now()});
    news_.notify_one();
}

engine::ByteBuffer InProcessExchange::takeBuffer(std::uint32_t rank, std::size_t part) {
    const std::lock_guard lock(mutex_);
    return std::exchange(state_->messages[rank][part], {});
}

engine::ExchangeOutcome InProcessExchange::finish(const engine::MeanCheck& check,
                                                  std::stop_token stop) {
    GRADLAB_CHECK(membership_->phase() == engine::StepPhase::Collecting, state_->step);
    for (;;) {
        takeMail();
        deliverArrivals();
        if (route_->done()) {
            if (check)
                check();
            return commit();
        }
        waitForNews(stop);
    }
}

void InProcessExchange::takeMail() {
    taken_.clear();
    {
        const std::lock_guard lock(mutex_);
        std::swap(mail_, taken_);
    }
    for (const Mail& mail : taken_)
        passOn(mail);
}

void InProcessExchange::passOn(const Mail& mail) {
    const auto verdict = membership_->message(members_[mail.rank], mail.rank, state_->epoch,
                                              state_->step, mail.part, actions_);
    GRADLAB_CHECK(verdict == engine::MessageVerdict::Counted, mail.rank, mail.part);
    state_->traffic.messagePart(mail.rank, state_->message(mail.rank, mail.part).size(),
                                mail.handedOver);
    route_->handOver(mail.rank, mail.part, mail.handedOver);
}

void InProcessExchange::deliverArrivals() {
    while (const auto arrival = state_->link.next(state_->now()))
        route_->arrive(*arrival);
}

void InProcessExchange::waitForNews(const std::stop_token& stop) {
    const auto hasMail = [this] { return !mail_.empty(); };
    const double event = state_->link.nextEvent();
    std::unique_lock lock(mutex_);
    if (std::isinf(event))
        news_.wait(lock, stop, hasMail);
    else
        news_.wait_until(lock, stop, instantOf(state_->origin, event), hasMail);
    if (stop.stop_requested())
        throw engine::Cancelled();
}

engine::ExchangeOutcome InProcessExchange::commit() {
    {
        const std::lock_guard lock(mutex_);
        open_ = false;
    }
    for (const engine::MemberId member : members_)
        membership_->holdsMean(member, state_->epoch, state_->step, actions_);
    GRADLAB_CHECK(membership_->lastCommitted() == state_->step, state_->step);
    actions_.clear();
    engine::ExchangeOutcome outcome = state_->outcome;
    outcome.contributors = membership_->contributors();
    outcome.traffic = state_->traffic.result(state_->origin);
    outcome.everyoneHandedOver = instantOf(state_->origin, state_->traffic.everyoneHandedOver());
    outcome.membershipEpoch = state_->epoch;
    return outcome;
}

void InProcessExchange::abandonStep() {
    {
        const std::lock_guard lock(mutex_);
        open_ = false;
        mail_.clear();
    }
    membership_->abandonStep();
}

void InProcessExchange::setLink(const engine::LinkSettings& link) {
    state_->setup.link = link;
    state_->link = EmulatedLink(link, state_->workers());
}

} // namespace

std::unique_ptr<engine::GradientExchange>
makeInProcessExchange(const engine::ExchangeSetup& setup) {
    return std::make_unique<InProcessExchange>(setup);
}

} // namespace gradlab::transport
