// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/membership.h"

#include "engine/core/check.h"
#include "engine/core/errors.h"

#include <algorithm>
#include <string>

namespace gradlab::engine {

Membership::Membership(const MembershipSettings& settings)
    : settings_(settings), slots_(settings.slotCount) {
    GRADLAB_CHECK(settings.slotCount > 0);
    for (Slot& slot : slots_)
        slot.received.assign(settings.parts, false);
    contributors_.reserve(settings.slotCount);
}

MemberId Membership::join(Time now, MembershipActions& actions) {
    spares_.push_back({++lastMember_, now});
    act(Kind::Wait, actions, kNoRank, lastMember_);
    return lastMember_;
}

void Membership::sortSpares(const std::function<bool(MemberId, MemberId)>& before) {
    std::stable_sort(spares_.begin(), spares_.end(), [&before](const Spare& a, const Spare& b) {
        return before(a.member, b.member);
    });
}

void Membership::ready(MemberId member, MembershipActions& actions) {
    const std::uint32_t rank = rankOf(member);
    if (rank == kNoRank)
        return act(Kind::Refuse, actions, kNoRank, member);
    slots_[rank].ready = true;
}

void Membership::heard(MemberId member, Time now, MembershipActions& actions) {
    const auto spare = std::find_if(spares_.begin(), spares_.end(),
                                    [&](const Spare& s) { return s.member == member; });
    if (spare != spares_.end()) {
        spare->lastHeard = now;
        return;
    }
    const std::uint32_t rank = rankOf(member);
    if (rank == kNoRank)
        return act(Kind::Refuse, actions, kNoRank, member);
    slots_[rank].lastHeard = now;
    if (slots_[rank].state == SlotState::Stalled) {
        slots_[rank].state = SlotState::Active;
        act(Kind::Recovered, actions, rank, member);
    }
}

void Membership::leave(MemberId member, MembershipActions& actions) {
    const std::uint32_t rank = rankOf(member);
    if (rank != kNoRank) {
        if (removeFromSlot(rank, actions))
            afterLoss(actions);
        return;
    }
    if (std::erase_if(spares_, [&](const Spare& s) { return s.member == member; }) > 0)
        act(Kind::Lost, actions, kNoRank, member);
}

void Membership::tick(Time now, MembershipActions& actions) {
    std::erase_if(spares_, [&](const Spare& spare) {
        const bool lost = now - spare.lastHeard >= settings_.lostAfter;
        if (lost)
            act(Kind::Lost, actions, kNoRank, spare.member);
        return lost;
    });
    bool contributorLost = false;
    for (std::uint32_t rank = 0; rank < slotCount(); ++rank) {
        Slot& slot = slots_[rank];
        if (slot.member == 0)
            continue;
        const auto silent = now - slot.lastHeard;
        if (silent >= settings_.lostAfter) {
            contributorLost |= removeFromSlot(rank, actions);
        } else if (silent >= settings_.stalledAfter && slot.state == SlotState::Active) {
            slot.state = SlotState::Stalled;
            act(Kind::Stalled, actions, rank, slot.member);
        }
    }
    // Several at once are one change: one new epoch, one redo.
    if (contributorLost)
        afterLoss(actions);
}

void Membership::boundary(MembershipActions& actions) {
    GRADLAB_CHECK(betweenSteps(), step_);
    bool changed = false;
    for (Slot& slot : slots_)
        if (slot.state == SlotState::Joining && slot.ready) {
            slot.state = SlotState::Active;
            changed = true;
        }
    if (changed)
        ++epoch_;
    for (std::uint32_t rank = 0; rank < slotCount(); ++rank) {
        Slot& slot = slots_[rank];
        if (slot.state == SlotState::Active && slot.ready) {
            slot.ready = false;
            act(Kind::Activate, actions, rank, slot.member);
        }
        if (slot.member != 0 || spares_.empty())
            continue;
        slot.member = spares_.front().member;
        slot.lastHeard = spares_.front().lastHeard;
        slot.state = SlotState::Joining;
        slot.ready = false;
        spares_.erase(spares_.begin());
        act(Kind::Welcome, actions, rank, slot.member);
    }
}

void Membership::beginStep(std::uint64_t step, MembershipActions& actions) {
    GRADLAB_CHECK(betweenSteps(), step_);
    GRADLAB_CHECK(step > lastCommitted_, step, lastCommitted_);
    step_ = step;
    contributors_.clear();
    for (std::uint32_t rank = 0; rank < slotCount(); ++rank)
        if (slots_[rank].state == SlotState::Active || slots_[rank].state == SlotState::Stalled)
            contributors_.push_back(rank);
    if (contributors_.empty()) {
        phase_ = StepPhase::Idle;
        return act(Kind::Stop, actions);
    }
    startExchange(actions);
}

MessageVerdict Membership::message(MemberId member, std::uint32_t rank, std::uint64_t epoch,
                                   std::uint64_t step, std::size_t part,
                                   MembershipActions& actions) {
    const std::uint32_t own = rankOf(member);
    if (own == kNoRank)
        act(Kind::Refuse, actions, kNoRank, member);
    if (own == kNoRank || own != rank)
        return MessageVerdict::Stranger;
    if (epoch != epoch_ || step != step_ || betweenSteps())
        return MessageVerdict::Stale;
    if (!contributes(rank))
        return MessageVerdict::Stranger;
    if (part >= settings_.parts)
        throw ProtocolError("message refused: part " + std::to_string(part) + " of " +
                            std::to_string(settings_.parts) + ": worker " + std::to_string(rank));
    if (slots_[rank].received[part])
        return MessageVerdict::Duplicate;
    slots_[rank].received[part] = true;
    completeIfAllIn(actions);
    return MessageVerdict::Counted;
}

void Membership::holdsMean(MemberId member, std::uint64_t epoch, std::uint64_t step,
                           MembershipActions& actions) {
    const std::uint32_t rank = rankOf(member);
    if (rank == kNoRank)
        return act(Kind::Refuse, actions, kNoRank, member);
    if (phase_ != StepPhase::Exchanged || epoch != epoch_ || step != step_ || !contributes(rank))
        return;
    slots_[rank].holdsMean = true;
    commitIfAllHold(actions);
}

void Membership::exchangeAgain(MembershipActions& actions) {
    if (betweenSteps())
        return;
    ++epoch_;
    act(Kind::Abort, actions);
    startExchange(actions);
}

void Membership::abandonStep() noexcept {
    if (betweenSteps())
        return;
    phase_ = StepPhase::Idle;
    ++epoch_;
}

void Membership::setParts(std::size_t parts) {
    GRADLAB_CHECK(betweenSteps(), step_);
    settings_.parts = parts;
    for (Slot& slot : slots_)
        slot.received.assign(parts, false);
}

SlotState Membership::slotState(std::uint32_t rank) const {
    GRADLAB_CHECK(rank < slotCount(), rank, slotCount());
    return slots_[rank].state;
}

MemberId Membership::slotMember(std::uint32_t rank) const {
    GRADLAB_CHECK(rank < slotCount(), rank, slotCount());
    return slots_[rank].member;
}

std::uint32_t Membership::rankOf(MemberId member) const noexcept {
    for (std::uint32_t rank = 0; rank < slots_.size(); ++rank)
        if (member != 0 && slots_[rank].member == member)
            return rank;
    return kNoRank;
}

bool Membership::betweenSteps() const noexcept {
    return phase_ == StepPhase::Idle || phase_ == StepPhase::Committed;
}

bool Membership::contributes(std::uint32_t rank) const noexcept {
    return std::binary_search(contributors_.begin(), contributors_.end(), rank);
}

void Membership::startExchange(MembershipActions& actions) {
    for (Slot& slot : slots_) {
        slot.holdsMean = false;
        std::fill(slot.received.begin(), slot.received.end(), false);
    }
    phase_ = StepPhase::Collecting;
    if (settings_.parts == 0)
        completeIfAllIn(actions);
}

void Membership::completeIfAllIn(MembershipActions& actions) {
    for (const std::uint32_t rank : contributors_) {
        const auto& received = slots_[rank].received;
        if (std::find(received.begin(), received.end(), false) != received.end())
            return;
    }
    phase_ = StepPhase::Exchanged;
    act(Kind::Complete, actions);
}

void Membership::commitIfAllHold(MembershipActions& actions) {
    for (const std::uint32_t rank : contributors_)
        if (!slots_[rank].holdsMean)
            return;
    phase_ = StepPhase::Committed;
    lastCommitted_ = step_;
    act(Kind::Commit, actions);
    if (pauseAfterCommit_)
        act(Kind::Pause, actions);
    pauseAfterCommit_ = false;
}

bool Membership::removeFromSlot(std::uint32_t rank, MembershipActions& actions) {
    Slot& slot = slots_[rank];
    const bool contributor = slot.state != SlotState::Joining;
    act(Kind::Lost, actions, rank, slot.member);
    slot.member = 0;
    // A joiner leaves no columns behind that anybody counted on.
    slot.state = contributor ? SlotState::Lost : SlotState::Empty;
    if (!betweenSteps())
        std::erase(contributors_, rank);
    return contributor;
}

void Membership::afterLoss(MembershipActions& actions) {
    ++epoch_;
    if (!betweenSteps())
        return redoOrGiveUp(actions);
    const bool nobody = std::none_of(slots_.begin(), slots_.end(), [](const Slot& slot) {
        return slot.state == SlotState::Active || slot.state == SlotState::Stalled;
    });
    if (settings_.onLoss == LossPolicy::Pause)
        act(Kind::Pause, actions);
    else if (settings_.onLoss == LossPolicy::Stop || nobody)
        act(Kind::Stop, actions);
}

void Membership::redoOrGiveUp(MembershipActions& actions) {
    const bool nobody = contributors_.empty();
    if (settings_.onLoss == LossPolicy::Stop || nobody) {
        phase_ = StepPhase::Idle;
        act(settings_.onLoss == LossPolicy::Pause ? Kind::Pause : Kind::Stop, actions);
        return;
    }
    pauseAfterCommit_ = settings_.onLoss == LossPolicy::Pause;
    act(Kind::Abort, actions);
    startExchange(actions);
}

void Membership::act(Kind kind, MembershipActions& actions, std::uint32_t rank,
                     MemberId member) const {
    actions.push_back({kind, rank, member, step_, epoch_});
}

} // namespace gradlab::engine
