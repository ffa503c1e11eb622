// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The cluster rule, situation by situation: slots, spares, silence, redone steps, on_loss. Leaves
// out: its invariants over any sequence of events (test_membership_walk.cpp).
#include "engine/core/errors.h"
#include "engine/training/membership.h"

#include <QTest>

#include <set>

using namespace gradlab::engine;
using namespace std::chrono_literals;
using Kind = MembershipAction::Kind;

namespace {

/// A cluster of `count` active members, ready for its first step.
struct Cluster {
    explicit Cluster(std::uint32_t places, std::uint32_t count, std::size_t parts = 2,
                     LossPolicy policy = LossPolicy::Continue)
        : membership({places, parts, policy}) {
        for (std::uint32_t i = 0; i < count; ++i)
            members.push_back(membership.join(now, actions));
        membership.boundary(actions);
        for (const MemberId member : members)
            membership.ready(member, actions);
        membership.boundary(actions);
        actions.clear();
    }

    MessageVerdict send(std::uint32_t rank, std::size_t part) {
        return membership.message(membership.slotMember(rank), rank, membership.epoch(),
                                  membership.step(), part, actions);
    }
    void sendAll(std::uint32_t rank, std::size_t parts = 2) {
        for (std::size_t part = 0; part < parts; ++part)
            (void)send(rank, part);
    }
    void hold(std::uint32_t rank) {
        membership.holdsMean(membership.slotMember(rank), membership.epoch(), membership.step(),
                             actions);
    }
    void wholeStep(std::uint64_t step) {
        membership.beginStep(step, actions);
        const auto ranks = membership.contributors();
        for (const std::uint32_t rank : ranks)
            sendAll(rank);
        for (const std::uint32_t rank : ranks)
            hold(rank);
    }
    /// Time passes and everybody but `silent` is heard.
    void pass(std::chrono::milliseconds time, const std::set<MemberId>& silent = {}) {
        now += time;
        for (const MemberId member : members)
            if (!silent.contains(member) && membership.rankOf(member) != kNoRank)
                membership.heard(member, now, actions);
        membership.tick(now, actions);
    }
    [[nodiscard]] std::vector<Kind> kinds() {
        std::vector<Kind> list;
        for (const MembershipAction& action : actions)
            list.push_back(action.kind);
        actions.clear();
        return list;
    }

    Membership::Time now{};
    MembershipActions actions;
    Membership membership;
    std::vector<MemberId> members;
};

using Kinds = std::vector<Kind>;
using Ranks = std::vector<std::uint32_t>;

} // namespace

class TestMembership : public QObject {
    Q_OBJECT

private slots:
    void joinersTakeTheLowestSlotsAndTheRestWait() {
        Membership membership({2, 1});
        MembershipActions actions;
        const MemberId a = membership.join({}, actions);
        const MemberId b = membership.join({}, actions);
        const MemberId c = membership.join({}, actions);
        QCOMPARE(membership.rankOf(a), kNoRank);
        actions.clear();
        membership.boundary(actions);
        QCOMPARE(actions.size(), std::size_t{2});
        QVERIFY(actions[0].kind == Kind::Welcome && actions[0].rank == 0 && actions[0].member == a);
        QVERIFY(actions[1].kind == Kind::Welcome && actions[1].rank == 1 && actions[1].member == b);
        QCOMPARE(membership.spares(), std::size_t{1});
        QCOMPARE(membership.rankOf(c), kNoRank);
        QCOMPARE(membership.slotState(0), SlotState::Joining);
        QCOMPARE(membership.epoch(), std::uint64_t{0});
        membership.ready(b, actions);
        membership.boundary(actions);
        QCOMPARE(membership.slotState(0), SlotState::Joining);
        QCOMPARE(membership.slotState(1), SlotState::Active);
        QCOMPARE(membership.epoch(), std::uint64_t{1});
    }

    void sparesMayBeSorted() {
        Membership membership({2, 1});
        MembershipActions actions;
        const MemberId a = membership.join({}, actions);
        const MemberId b = membership.join({}, actions);
        membership.sortSpares([](MemberId first, MemberId second) { return first > second; });
        membership.boundary(actions);
        QCOMPARE(membership.rankOf(b), 0U);
        QCOMPARE(membership.rankOf(a), 1U);
    }

    void aStepCommitsOnceEverybodyHoldsTheMean() {
        Cluster cluster(2, 2);
        cluster.membership.beginStep(1, cluster.actions);
        QCOMPARE(cluster.membership.contributors(), Ranks({0, 1}));
        cluster.sendAll(1);
        QVERIFY(cluster.kinds().empty());
        cluster.sendAll(0);
        QCOMPARE(cluster.kinds(), Kinds({Kind::Complete}));
        cluster.hold(0);
        cluster.hold(0);
        QVERIFY(cluster.kinds().empty());
        QCOMPARE(cluster.membership.lastCommitted(), std::uint64_t{0});
        cluster.hold(1);
        QCOMPARE(cluster.kinds(), Kinds({Kind::Commit}));
        QCOMPARE(cluster.membership.lastCommitted(), std::uint64_t{1});
        cluster.hold(1);
        QVERIFY(cluster.kinds().empty());
    }

    // A ring's messages do not pass the coordinator: it waits for everybody's word alone.
    void aRingStepNeedsNoMessages() {
        Cluster cluster(2, 2, 0);
        cluster.membership.beginStep(1, cluster.actions);
        QCOMPARE(cluster.kinds(), Kinds({Kind::Complete}));
        cluster.hold(0);
        cluster.hold(1);
        QCOMPARE(cluster.kinds(), Kinds({Kind::Commit}));
    }

    void refusesWhatDoesNotCount() {
        Cluster cluster(3, 2);
        Membership& membership = cluster.membership;
        membership.beginStep(5, cluster.actions);
        const MemberId a = membership.slotMember(0);
        const auto say = [&](MemberId member, std::uint32_t rank, std::uint64_t epoch,
                             std::uint64_t step) {
            return membership.message(member, rank, epoch, step, 0, cluster.actions);
        };
        QCOMPARE(say(a, 0, membership.epoch() - 1, 5), MessageVerdict::Stale);
        QCOMPARE(say(a, 0, membership.epoch() + 1, 5), MessageVerdict::Stale);
        QCOMPARE(say(a, 0, membership.epoch(), 4), MessageVerdict::Stale);
        QCOMPARE(say(a, 1, membership.epoch(), 5), MessageVerdict::Stranger);
        QVERIFY(cluster.kinds().empty());
        QCOMPARE(say(99, 0, membership.epoch(), 5), MessageVerdict::Stranger);
        QCOMPARE(cluster.kinds(), Kinds({Kind::Refuse}));
        QCOMPARE(say(a, 0, membership.epoch(), 5), MessageVerdict::Counted);
        QCOMPARE(say(a, 0, membership.epoch(), 5), MessageVerdict::Duplicate);
        QVERIFY_EXCEPTION_THROWN(
            (void)membership.message(a, 0, membership.epoch(), 5, 2, cluster.actions),
            ProtocolError);
    }

    // Field: a worker stopped for 1 s is shown as stalled and goes on; for longer it is lost.
    void silenceStallsAndThenLoses() {
        Cluster cluster(2, 2);
        const MemberId a = cluster.members[0];
        cluster.pass(500ms, {a});
        QVERIFY(cluster.kinds().empty());
        cluster.pass(500ms, {a});
        QCOMPARE(cluster.kinds(), Kinds({Kind::Stalled}));
        QCOMPARE(cluster.membership.slotState(0), SlotState::Stalled);
        cluster.pass(1ms);
        QCOMPARE(cluster.kinds(), Kinds({Kind::Recovered}));
        QCOMPARE(cluster.membership.slotState(0), SlotState::Active);
        const auto epoch = cluster.membership.epoch();
        cluster.pass(1999ms, {a});
        QCOMPARE(cluster.kinds(), Kinds({Kind::Stalled}));
        cluster.pass(1ms, {a});
        QCOMPARE(cluster.kinds(), Kinds({Kind::Lost}));
        QCOMPARE(cluster.membership.slotState(0), SlotState::Lost);
        QCOMPARE(cluster.membership.epoch(), epoch + 1);
        // It wakes up: its place is gone, it has to join anew.
        cluster.membership.heard(a, cluster.now, cluster.actions);
        QCOMPARE(cluster.kinds(), Kinds({Kind::Refuse}));
    }

    void aStalledMemberStillContributes() {
        Cluster cluster(2, 2);
        cluster.pass(1000ms, {cluster.members[1]});
        cluster.membership.beginStep(1, cluster.actions);
        QCOMPARE(cluster.membership.contributors(), Ranks({0, 1}));
    }

    void aLossWhileCollectingRedoesTheStep() {
        Cluster cluster(3, 3);
        Membership& membership = cluster.membership;
        membership.beginStep(1, cluster.actions);
        cluster.sendAll(0);
        (void)cluster.send(1, 0);
        const auto oldEpoch = membership.epoch();
        membership.leave(cluster.members[2], cluster.actions);
        QCOMPARE(cluster.actions.size(), std::size_t{2});
        QVERIFY(cluster.actions[0].kind == Kind::Lost && cluster.actions[0].rank == 2);
        QVERIFY(cluster.actions[1].kind == Kind::Abort && cluster.actions[1].step == 1 &&
                cluster.actions[1].epoch == oldEpoch + 1);
        cluster.actions.clear();
        // What was under way counts for nothing, and what was counted has to come again.
        QCOMPARE(membership.message(cluster.members[1], 1, oldEpoch, 1, 1, cluster.actions),
                 MessageVerdict::Stale);
        cluster.sendAll(1);
        QVERIFY(cluster.kinds().empty());
        cluster.sendAll(0);
        QCOMPARE(cluster.kinds(), Kinds({Kind::Complete}));
        QCOMPARE(membership.contributors(), Ranks({0, 1}));
    }

    void aLossAfterTheExchangeRedoesItToo() {
        Cluster cluster(2, 2);
        Membership& membership = cluster.membership;
        membership.beginStep(1, cluster.actions);
        cluster.sendAll(0);
        cluster.sendAll(1);
        cluster.hold(0);
        (void)cluster.kinds();
        membership.leave(cluster.members[1], cluster.actions);
        QCOMPARE(cluster.kinds(), Kinds({Kind::Lost, Kind::Abort}));
        // Rank 0 held a mean of both: that word is void.
        QCOMPARE(membership.phase(), StepPhase::Collecting);
        cluster.sendAll(0);
        QCOMPARE(cluster.kinds(), Kinds({Kind::Complete}));
        cluster.hold(0);
        QCOMPARE(cluster.kinds(), Kinds({Kind::Commit}));
        QCOMPARE(membership.contributors(), Ranks({0}));
    }

    void aLossAfterTheCommitLeavesTheStepAlone() {
        Cluster cluster(2, 2);
        cluster.wholeStep(1);
        (void)cluster.kinds();
        cluster.membership.leave(cluster.members[0], cluster.actions);
        QCOMPARE(cluster.kinds(), Kinds({Kind::Lost}));
        QCOMPARE(cluster.membership.contributors(), Ranks({0, 1}));
        cluster.membership.beginStep(2, cluster.actions);
        QCOMPARE(cluster.membership.contributors(), Ranks({1}));
    }

    void severalLossesAtOnceAreOneRedo() {
        Cluster cluster(3, 3);
        cluster.membership.beginStep(1, cluster.actions);
        const auto epoch = cluster.membership.epoch();
        cluster.pass(2000ms, {cluster.members[0], cluster.members[1]});
        QCOMPARE(cluster.kinds(), Kinds({Kind::Lost, Kind::Lost, Kind::Abort}));
        QCOMPARE(cluster.membership.epoch(), epoch + 1);
    }

    void aLostSlotGoesToTheNextSpare() {
        Cluster cluster(2, 2);
        Membership& membership = cluster.membership;
        const MemberId spare = membership.join(cluster.now, cluster.actions);
        cluster.wholeStep(1);
        membership.leave(cluster.members[0], cluster.actions);
        membership.beginStep(2, cluster.actions);
        cluster.sendAll(1);
        cluster.hold(1);
        QCOMPARE(membership.rankOf(spare), kNoRank);
        membership.boundary(cluster.actions);
        QCOMPARE(membership.rankOf(spare), 0U);
        // It follows a step without contributing, then takes part.
        membership.beginStep(3, cluster.actions);
        QCOMPARE(membership.contributors(), Ranks({1}));
        QCOMPARE(cluster.send(0, 0), MessageVerdict::Stranger);
        membership.ready(spare, cluster.actions);
        cluster.sendAll(1);
        cluster.hold(1);
        const auto epoch = membership.epoch();
        membership.boundary(cluster.actions);
        QCOMPARE(membership.epoch(), epoch + 1);
        membership.beginStep(4, cluster.actions);
        QCOMPARE(membership.contributors(), Ranks({0, 1}));
    }

    void aJoinersLossDisturbsNobody() {
        Cluster cluster(2, 1);
        Membership& membership = cluster.membership;
        const MemberId joiner = membership.join(cluster.now, cluster.actions);
        membership.boundary(cluster.actions);
        membership.beginStep(1, cluster.actions);
        cluster.sendAll(0);
        const auto epoch = membership.epoch();
        (void)cluster.kinds();
        membership.leave(joiner, cluster.actions);
        QCOMPARE(cluster.kinds(), Kinds({Kind::Lost}));
        QCOMPARE(membership.epoch(), epoch);
        QCOMPARE(membership.slotState(1), SlotState::Empty);
        cluster.hold(0);
        QCOMPARE(cluster.kinds(), Kinds({Kind::Commit}));
    }

    void onLossStopGivesTheStepUp() {
        Cluster cluster(2, 2, 2, LossPolicy::Stop);
        cluster.membership.beginStep(1, cluster.actions);
        cluster.membership.leave(cluster.members[0], cluster.actions);
        QCOMPARE(cluster.kinds(), Kinds({Kind::Lost, Kind::Stop}));
        QCOMPARE(cluster.membership.phase(), StepPhase::Idle);
        QCOMPARE(cluster.send(1, 0), MessageVerdict::Stale);
        QCOMPARE(cluster.membership.lastCommitted(), std::uint64_t{0});
    }

    void onLossPauseFinishesTheStepFirst() {
        Cluster cluster(2, 2, 2, LossPolicy::Pause);
        cluster.membership.beginStep(1, cluster.actions);
        cluster.membership.leave(cluster.members[0], cluster.actions);
        QCOMPARE(cluster.kinds(), Kinds({Kind::Lost, Kind::Abort}));
        cluster.sendAll(1);
        cluster.hold(1);
        QCOMPARE(cluster.kinds(), Kinds({Kind::Complete, Kind::Commit, Kind::Pause}));
        cluster.wholeStep(2);
        QCOMPARE(cluster.kinds(), Kinds({Kind::Complete, Kind::Commit}));
        cluster.membership.leave(cluster.members[1], cluster.actions);
        QCOMPARE(cluster.kinds(), Kinds({Kind::Lost, Kind::Pause}));
    }

    void theLastLossStops() {
        Cluster cluster(2, 1);
        cluster.membership.beginStep(1, cluster.actions);
        cluster.membership.leave(cluster.members[0], cluster.actions);
        QCOMPARE(cluster.kinds(), Kinds({Kind::Lost, Kind::Stop}));
        cluster.membership.beginStep(1, cluster.actions);
        QCOMPARE(cluster.kinds(), Kinds({Kind::Stop}));
    }

    void anAbandonedStepMayBeginAgain() {
        Cluster cluster(2, 2);
        cluster.membership.beginStep(1, cluster.actions);
        cluster.sendAll(0);
        const auto epoch = cluster.membership.epoch();
        cluster.membership.abandonStep();
        QCOMPARE(cluster.send(1, 0), MessageVerdict::Stale);
        QCOMPARE(cluster.membership.epoch(), epoch + 1);
        cluster.membership.beginStep(1, cluster.actions);
        // A frame of the first try, late.
        QCOMPARE(cluster.membership.message(cluster.members[0], 0, epoch, 1, 0, cluster.actions),
                 MessageVerdict::Stale);
        cluster.sendAll(0);
        cluster.sendAll(1);
        cluster.hold(0);
        cluster.hold(1);
        QCOMPARE(cluster.kinds(), Kinds({Kind::Complete, Kind::Commit}));
        cluster.membership.abandonStep(); // nothing to give up
        QCOMPARE(cluster.membership.epoch(), epoch + 1);
    }

    // A connection between two who live broke: nothing of the first try counts.
    void exchangedAgainByTheSame() {
        Cluster cluster(2, 2);
        cluster.membership.beginStep(1, cluster.actions);
        cluster.sendAll(0);
        cluster.sendAll(1);
        cluster.hold(0);
        const auto epoch = cluster.membership.epoch();
        QCOMPARE(cluster.kinds(), Kinds({Kind::Complete}));
        cluster.membership.exchangeAgain(cluster.actions);
        QCOMPARE(cluster.kinds(), Kinds({Kind::Abort}));
        QCOMPARE(cluster.membership.epoch(), epoch + 1);
        QCOMPARE(cluster.membership.message(cluster.members[0], 0, epoch, 1, 0, cluster.actions),
                 MessageVerdict::Stale);
        cluster.sendAll(0);
        cluster.sendAll(1);
        cluster.hold(1);
        QCOMPARE(cluster.kinds(), Kinds({Kind::Complete})); // both contribute
        cluster.hold(0);
        QCOMPARE(cluster.kinds(), Kinds({Kind::Commit}));
        cluster.membership.exchangeAgain(cluster.actions); // it is final
        QVERIFY(cluster.kinds().empty());
        QCOMPARE(cluster.membership.epoch(), epoch + 1);
    }

    // Another method, another plan: a message has more parts, or a ring none.
    void theNumberOfPartsMayChangeBetweenSteps() {
        Cluster cluster(2, 2);
        cluster.wholeStep(1);
        (void)cluster.kinds();
        cluster.membership.setParts(3);
        cluster.membership.beginStep(2, cluster.actions);
        cluster.sendAll(0, 3);
        cluster.sendAll(1, 2);
        QVERIFY(cluster.kinds().empty());
        (void)cluster.send(1, 2);
        QCOMPARE(cluster.kinds(), Kinds({Kind::Complete}));
    }
};

QTEST_GUILESS_MAIN(TestMembership)
#include "test_membership.moc"
