// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Changes of the run that is on, as a person makes them: asks what happens to a memory's content
// where something waits in it, keeps the changes on an undo stack, and takes one back by making
// another: the run goes on, and its log tells of both. Leaves out: carrying them out (the session)
// and everything that is drawn.
#pragma once

#include "engine/training/trainer.h"

#include <QObject>
#include <QUndoStack>

#include <map>
#include <optional>
#include <vector>

namespace gradlab::app {

class RunCollection;

/// A live field that somebody wants to have another value.
struct LiveRequest {
    int runId = 0; ///< or TrainingSession::kAllRuns
    std::string path;
    engine::FieldValue value;
    int gesture = 0; ///< requests of one field with the same gesture are one change to undo; 0: of
                     ///< none
};

/// Lives in the GUI thread, as long as the window.
class LiveTuning : public QObject {
    Q_OBJECT

public:
    /// `runs` outlives this.
    explicit LiveTuning(const RunCollection& runs, QObject* parent = nullptr);

    /// A new race: its changes begin here.
    void begin(const std::vector<int>& runIds);
    /// Makes the change, or asks first: asked() then. Another request takes a question's place.
    void request(const LiveRequest& request);
    void answer(engine::MemoryChange memory);
    void cancel();
    /// What the runs say that they did, whoever wanted it.
    void follow(int runId, const std::vector<engine::Record>& records);

    [[nodiscard]] bool isAsking() const noexcept { return question_.has_value(); }
    [[nodiscard]] QUndoStack* undoStack() noexcept { return &stack_; }

Q_SIGNALS:
    void changeWanted(int runId, const gradlab::engine::ParameterChange& change);
    void asked(const QString& change, const QString& waits);
    /// The question is answered or gone.
    void settled();
    /// A request was not made: who shows values shows the run's own.
    void reverted();
    /// Why it was not made.
    void refused(const QString& reason);

private:
    class Command;
    struct Piece {
        int runId = 0;
        engine::FieldValue from;
        engine::FieldValue to;
        std::uint64_t made = 0; ///< id of the change that made it; 0: not yet
    };
    [[nodiscard]] QString problemOf(const LiveRequest& request,
                                    const std::vector<Piece>& pieces) const;
    [[nodiscard]] std::vector<Piece> piecesOf(const LiveRequest& request) const;
    void make(const LiveRequest& request, engine::MemoryChange memory);
    std::uint64_t send(int runId, engine::ParameterChange change);
    [[nodiscard]] QString sentence(const LiveRequest& request,
                                   const std::vector<Piece>& pieces) const;
    [[nodiscard]] QString whatWaits(const std::vector<Piece>& pieces) const;

    const RunCollection& runs_;
    std::vector<int> runIds_;
    /// As the runs will be once everything that was sent has taken effect, `auto` kept.
    std::map<int, engine::Experiment> wanted_;
    std::map<std::pair<int, std::string>, int> underWay_; ///< changes sent, not yet heard of
    std::optional<LiveRequest> question_;
    std::uint64_t lastId_ = 0;
    QUndoStack stack_;
};

} // namespace gradlab::app
