// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Who takes part, and what becomes of a step when somebody is lost: the cluster rule as one state
// machine. Facts and the clock go in, actions come out; whoever owns it executes them. Leaves out:
// sockets, heartbeats, the messages themselves.
//
//   slot:  Empty → Joining → Active ⇄ Stalled → Lost → Joining …      (rank = index of the slot)
//   step:  Idle → Collecting → Exchanged → Committed → Collecting …
//
// - The epoch names one set of contributors: +1 whenever members become active, a contributor is
//   lost, or a step is exchanged again or given up. What carries another epoch is refused: nothing
//   is counted twice.
// - A loss before Commit aborts the step: the survivors exchange their kept messages again under
//   the new epoch. A loss after it changes only the next step.
// - A joiner is placed in the lowest free slot at a step boundary, follows every mean from there,
//   and contributes from the first boundary after it is ready; further joiners wait as spares.
#pragma once

#include "engine/core/export.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace gradlab::engine {

/// One process's stay in the cluster; given out by join(), never twice.
using MemberId = std::uint64_t;

enum class SlotState { Empty, Joining, Active, Stalled, Lost };
enum class StepPhase {
    Idle,       ///< between steps, nothing committed yet or the last one given up
    Collecting, ///< contributors' messages are coming in
    Exchanged,  ///< every message is in; contributors say when they hold the mean
    Committed   ///< between steps
};
enum class LossPolicy { Continue, Pause, Stop };

struct MembershipSettings {
    std::uint32_t slotCount = 1;
    /// Of a message; 0 for a ring, where messages do not pass the coordinator.
    std::size_t parts = 1;
    LossPolicy onLoss = LossPolicy::Continue;
    std::chrono::milliseconds stalledAfter{750}; ///< of silence: shown, nothing else
    std::chrono::milliseconds lostAfter{2000};
};

struct MembershipAction {
    enum class Kind {
        Wait,      ///< tell `member` that it is a spare
        Welcome,   ///< give `member` its rank and a snapshot
        Activate,  ///< `rank` contributes from now on
        Refuse,    ///< tell `member` that its time is over: it may join anew
        Stalled,   ///< show `rank` as silent
        Recovered, ///< show `rank` as back
        Lost,      ///< report `rank` (kNoRank: a spare) as lost
        Abort,     ///< tell the contributors to exchange `step` again under `epoch`
        Complete,  ///< every contributor's message is in: form the mean and send it down
        Commit,    ///< tell the contributors to commit `step`
        Pause,     ///< on_loss asks for it; the step at hand is finished first
        Stop       ///< on_loss asks for it, or nobody is left; the step at hand is given up
    };
    Kind kind = Kind::Wait;
    std::uint32_t rank = 0;
    MemberId member = 0;
    std::uint64_t step = 0;
    std::uint64_t epoch = 0; ///< as decided; Lost still has the epoch that it ends
};
using MembershipActions = std::vector<MembershipAction>;

inline constexpr std::uint32_t kNoRank = 0xFFFFFFFFU;

/// What became of a message that named its epoch and step.
enum class MessageVerdict {
    Counted,
    Duplicate,
    Stale,   ///< of another epoch or step, or of a step that is not collecting
    Stranger ///< its sender does not contribute, or claims another's rank
};

/// Not thread-safe. Every call appends what is to be done to `actions`, in order.
class GRADLAB_ENGINE_EXPORT Membership {
public:
    using Time = std::chrono::steady_clock::time_point;

    explicit Membership(const MembershipSettings& settings);

    // — members —
    /// A new spare; placed at the next boundary() if a slot is free.
    MemberId join(Time now, MembershipActions& actions);
    /// The member has its snapshot and followed since: it may contribute from the next boundary on.
    void ready(MemberId member, MembershipActions& actions);
    /// Spares get places in this order, first of those that `before` does not tell apart first.
    void sortSpares(const std::function<bool(MemberId, MemberId)>& before);
    /// Any sign of life.
    void heard(MemberId member, Time now, MembershipActions& actions);
    /// The connection is gone, or the owner drops a straggler: lost without waiting for silence.
    void leave(MemberId member, MembershipActions& actions);
    /// Finds who is silent. Call it several times a second.
    void tick(Time now, MembershipActions& actions);

    // — steps —
    /// Between steps: activates who is ready, then places spares.
    void boundary(MembershipActions& actions);
    /// Starts a step with the active members; Stop if there are none. Steps grow; one that was
    /// given up may begin again.
    void beginStep(std::uint64_t step, MembershipActions& actions);
    /// Part `part` of a message of the current step. @throws ProtocolError for an impossible part
    [[nodiscard]] MessageVerdict message(MemberId member, std::uint32_t rank, std::uint64_t epoch,
                                         std::uint64_t step, std::size_t part,
                                         MembershipActions& actions);
    /// A contributor has everything that it needs to commit. Of another epoch or step: ignored.
    void holdsMean(MemberId member, std::uint64_t epoch, std::uint64_t step,
                   MembershipActions& actions);
    /// The current step's contributors exchange their messages again, under a new epoch: a
    /// connection between them broke. Between steps: nothing.
    void exchangeAgain(MembershipActions& actions);
    /// Gives the current step up; nothing of it was committed. What is still under way of it
    /// carries an old epoch from now on, also when the same step begins again.
    void abandonStep() noexcept;
    /// A message has another number of parts from the next step on (0: a ring). Between steps.
    void setParts(std::size_t parts);

    [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
    [[nodiscard]] std::uint64_t step() const noexcept { return step_; }
    [[nodiscard]] StepPhase phase() const noexcept { return phase_; }
    [[nodiscard]] std::uint64_t lastCommitted() const noexcept { return lastCommitted_; }
    /// Ranks whose messages are in the current (or last) step's mean, ascending.
    [[nodiscard]] const std::vector<std::uint32_t>& contributors() const noexcept {
        return contributors_;
    }
    [[nodiscard]] std::uint32_t slotCount() const noexcept {
        return static_cast<std::uint32_t>(slots_.size());
    }
    [[nodiscard]] SlotState slotState(std::uint32_t rank) const;
    /// 0 = nobody
    [[nodiscard]] MemberId slotMember(std::uint32_t rank) const;
    /// kNoRank for a spare or a stranger
    [[nodiscard]] std::uint32_t rankOf(MemberId member) const noexcept;
    [[nodiscard]] std::size_t spares() const noexcept { return spares_.size(); }

private:
    struct Slot {
        SlotState state = SlotState::Empty;
        MemberId member = 0;
        Time lastHeard{};
        bool ready = false;
        bool holdsMean = false;
        std::vector<bool> received; ///< by part, of the current step and epoch
    };
    struct Spare {
        MemberId member = 0;
        Time lastHeard{};
    };
    using Kind = MembershipAction::Kind;

    [[nodiscard]] bool betweenSteps() const noexcept;
    [[nodiscard]] bool contributes(std::uint32_t rank) const noexcept;
    void startExchange(MembershipActions& actions);
    void completeIfAllIn(MembershipActions& actions);
    void commitIfAllHold(MembershipActions& actions);
    /// True if a contributor was lost: the caller then calls afterLoss(), once for all of them.
    bool removeFromSlot(std::uint32_t rank, MembershipActions& actions);
    void afterLoss(MembershipActions& actions);
    void redoOrGiveUp(MembershipActions& actions);
    void act(Kind kind, MembershipActions& actions, std::uint32_t rank = kNoRank,
             MemberId member = 0) const;

    MembershipSettings settings_;
    std::vector<Slot> slots_;
    std::vector<Spare> spares_; ///< in the order in which they joined
    std::vector<std::uint32_t> contributors_;
    MemberId lastMember_ = 0;
    std::uint64_t epoch_ = 0;
    std::uint64_t step_ = 0;
    std::uint64_t lastCommitted_ = 0;
    StepPhase phase_ = StepPhase::Idle;
    bool pauseAfterCommit_ = false;
};

} // namespace gradlab::engine
