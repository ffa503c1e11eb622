// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Random walks through the cluster rule, against an independent book of what happened: no step is
// committed twice or left out, contributors are the survivors, the epoch never goes back, no slot
// has two owners, nothing stale or doubled is counted.
#include "engine/core/random.h"
#include "engine/training/membership.h"

#include <QTest>

#include <array>
#include <map>
#include <set>

using namespace gradlab::engine;
using Kind = MembershipAction::Kind;
using Ranks = std::vector<std::uint32_t>;

namespace {

/// Drives a Membership at random and keeps its own book of who did what.
class Walk {
public:
    Walk(unsigned seed, LossPolicy policy)
        : random_(seed, RandomPurpose::Test, 0, 0, 0), membership_({4, 2, policy}) {}

    void run() {
        for (int i = 0; i < 12000; ++i) {
            move();
            check();
            if (!complaint.isEmpty())
                return;
        }
    }

    QString complaint;
    std::uint64_t commits = 0;
    std::uint64_t redone = 0;
    std::uint64_t refused = 0;

private:
    [[nodiscard]] bool idle() const {
        return membership_.phase() == StepPhase::Idle ||
               membership_.phase() == StepPhase::Committed;
    }
    /// Any member that ever was.
    [[nodiscard]] MemberId anybody() { return joined_ == 0 ? 7 : 1 + random_.below(joined_); }

    void move() {
        now_ += std::chrono::milliseconds(random_.below(40));
        for (MemberId member = 1; member <= joined_; ++member)
            if (random_.below(8) != 0 && !asleep_.contains(member))
                membership_.heard(member, now_, actions_);
        switch (random_.below(16)) {
        case 0:
            if (membership_.spares() < 2)
                joined_ = static_cast<std::uint32_t>(membership_.join(now_, actions_));
            break;
        case 1:
            maybeLoseSomebody();
            break;
        case 2:
            membership_.tick(now_, actions_);
            break;
        case 3:
            membership_.ready(membership_.slotMember(random_.below(4)), actions_);
            break;
        case 4:
            sendOddly();
            break;
        case 5:
        case 6:
        case 7:
            hold();
            break;
        case 8:
            if (!idle() && random_.below(12) == 0) {
                membership_.abandonStep();
                counted_.clear();
            }
            break;
        case 9:
        case 10:
            if (idle())
                begin();
            break;
        default:
            send();
            break;
        }
    }
    void maybeLoseSomebody() {
        const MemberId owner = membership_.slotMember(random_.below(4));
        switch (random_.below(8)) {
        case 0:
            membership_.leave(anybody(), actions_);
            break;
        case 1:
            membership_.leave(owner, actions_);
            break;
        case 2:
            asleep_.insert(owner);
            break;
        case 3:
            asleep_.clear();
            break;
        default:
            break;
        }
    }
    void begin() {
        membership_.boundary(actions_);
        counted_.clear();
        starters_.clear();
        for (std::uint32_t rank = 0; rank < 4; ++rank)
            if (membership_.slotState(rank) == SlotState::Active ||
                membership_.slotState(rank) == SlotState::Stalled)
                starters_[rank] = membership_.slotMember(rank);
        membership_.beginStep(membership_.lastCommitted() + 1, actions_);
    }
    void deliver(MemberId member, std::uint32_t rank, std::uint64_t epoch, std::uint64_t step) {
        const std::size_t part = random_.below(2);
        const bool current = !idle() && epoch == membership_.epoch() && step == membership_.step();
        const auto starter = starters_.find(rank);
        const bool legal = current && starter != starters_.end() && starter->second == member &&
                           membership_.slotMember(rank) == member;
        // The book must be open when the message's own actions are read, so it is written first.
        const bool fresh = legal && counted_.insert({rank, part}).second;
        const MessageVerdict verdict =
            membership_.message(member, rank, epoch, step, part, actions_);
        if ((verdict == MessageVerdict::Counted) != fresh)
            complaint = "counted what should not count, or the other way round";
        refused += verdict == MessageVerdict::Counted ? 0 : 1;
    }
    void send() {
        const std::uint32_t rank = random_.below(4);
        deliver(membership_.slotMember(rank), rank, membership_.epoch(), membership_.step());
    }
    void sendOddly() {
        deliver(anybody(), random_.below(4), membership_.epoch() - random_.below(2),
                membership_.step() - random_.below(2));
    }
    void hold() {
        const std::uint32_t rank = random_.below(4);
        membership_.holdsMean(membership_.slotMember(rank), membership_.epoch(), membership_.step(),
                              actions_);
    }

    void check() {
        for (const MembershipAction& action : actions_)
            read(action);
        actions_.clear();
        if (membership_.epoch() < epoch_)
            complaint = "the epoch went back";
        epoch_ = membership_.epoch();
        checkOwners();
    }
    void read(const MembershipAction& action) {
        if (action.kind == Kind::Abort) {
            counted_.clear();
            ++redone;
            if (action.epoch <= abortEpoch_)
                complaint = "an abort without a new epoch";
            abortEpoch_ = action.epoch;
        }
        if (action.kind == Kind::Complete)
            checkComplete();
        if (action.kind == Kind::Commit) {
            if (action.step != commits + 1)
                complaint = "a step was committed twice, or left out";
            commits = action.step;
            checkComplete();
        }
    }
    /// Contributors = who started the step and still has its slot; all of them were counted.
    void checkComplete() {
        Ranks survivors;
        for (const auto& [rank, member] : starters_)
            if (membership_.slotMember(rank) == member)
                survivors.push_back(rank);
        if (membership_.contributors() != survivors || survivors.empty())
            complaint = "contributors are not the survivors";
        std::set<std::pair<std::uint32_t, std::size_t>> expected;
        for (const std::uint32_t rank : survivors)
            for (std::size_t part = 0; part < 2; ++part)
                expected.insert({rank, part});
        if (counted_ != expected)
            complaint = "complete without every survivor's message, or with more";
    }
    void checkOwners() {
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
            const MemberId member = membership_.slotMember(rank);
            const SlotState state = membership_.slotState(rank);
            if ((member == 0) != (state == SlotState::Empty || state == SlotState::Lost))
                complaint = "a free slot with an owner, or the other way round";
            if (member != 0 && membership_.rankOf(member) != rank)
                complaint = "a member with two slots";
            // Only leaving a slot free may change its owner.
            if (owner_[rank] != 0 && member != 0 && owner_[rank] != member && !freed_[rank])
                complaint = "a slot changed hands without being free";
            owner_[rank] = member;
            freed_[rank] = member == 0;
        }
    }

    RandomStream random_;
    Membership membership_;
    MembershipActions actions_;
    Membership::Time now_{};
    std::uint32_t joined_ = 0;
    std::set<MemberId> asleep_;
    std::set<std::pair<std::uint32_t, std::size_t>> counted_;
    std::map<std::uint32_t, MemberId> starters_;
    std::array<MemberId, 4> owner_{};
    std::array<bool, 4> freed_{};
    std::uint64_t epoch_ = 0;
    std::uint64_t abortEpoch_ = 0;
};

} // namespace

class TestMembershipWalk : public QObject {
    Q_OBJECT

private slots:
    void keepsItsPromises_data() {
        QTest::addColumn<unsigned>("seed");
        QTest::addColumn<int>("policy");
        for (unsigned seed = 0; seed < 24; ++seed)
            QTest::addRow("seed %u", seed) << seed << static_cast<int>(seed % 2);
    }
    void keepsItsPromises() {
        QFETCH(unsigned, seed);
        QFETCH(int, policy);
        Walk walk(seed, policy == 0 ? LossPolicy::Continue : LossPolicy::Pause);
        walk.run();
        QVERIFY2(walk.complaint.isEmpty(), qPrintable(walk.complaint));
        // A walk that never got anywhere proves nothing.
        QVERIFY2(walk.commits >= 20, qPrintable(QString::number(walk.commits)));
        QVERIFY2(walk.redone >= 3, qPrintable(QString::number(walk.redone)));
        QVERIFY(walk.refused >= 20);
    }
};

QTEST_GUILESS_MAIN(TestMembershipWalk)
#include "test_membership_walk.moc"
