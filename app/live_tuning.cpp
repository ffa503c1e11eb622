// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/live_tuning.h"

#include "app/run_collection.h"
#include "app/training_session.h"
#include "engine/core/errors.h"
#include "engine/training/experiment_schema.h"
#include "widgets/field_text.h"
#include "widgets/run_series.h"

#include <QUndoCommand>

#include <algorithm>
#include <utility>

namespace gradlab::app {

using engine::MemoryChange;

/// One change of one field, of one run or of several at once. Taking it back is a change too: what
/// waits is kept then, as nobody was asked.
class LiveTuning::Command : public QUndoCommand {
public:
    Command(LiveTuning& owner, const LiveRequest& request, std::vector<Piece> pieces,
            MemoryChange memory, const QString& text)
        : QUndoCommand(text), owner_(owner), path_(request.path), gesture_(request.gesture),
          memory_(memory), pieces_(std::move(pieces)) {}

    void redo() override {
        for (Piece& piece : pieces_) {
            engine::ParameterChange change{path_, piece.to, memory_};
            change.repeats = piece.made;
            piece.made = owner_.send(piece.runId, change);
        }
    }
    void undo() override {
        for (Piece& piece : pieces_) {
            engine::ParameterChange change{path_, piece.from, MemoryChange::Keep};
            change.undoes = piece.made;
            owner_.send(piece.runId, change);
        }
    }
    [[nodiscard]] int id() const override { return 1; }
    bool mergeWith(const QUndoCommand* other) override {
        const auto* later = static_cast<const Command*>(other);
        const auto sameRun = [](const Piece& a, const Piece& b) { return a.runId == b.runId; };
        if (gesture_ == 0 || later->gesture_ != gesture_ || later->path_ != path_ ||
            !std::equal(pieces_.begin(), pieces_.end(), later->pieces_.begin(),
                        later->pieces_.end(), sameRun))
            return false;
        for (std::size_t i = 0; i < pieces_.size(); ++i)
            pieces_[i].to = later->pieces_[i].to;
        setText(owner_.sentence(
            {pieces_.size() == 1 ? pieces_.front().runId : TrainingSession::kAllRuns, path_,
             pieces_.front().to, gesture_},
            pieces_));
        return true;
    }

private:
    LiveTuning& owner_;
    std::string path_;
    int gesture_;
    MemoryChange memory_;
    std::vector<Piece> pieces_;
};

LiveTuning::LiveTuning(const RunCollection& runs, QObject* parent) : QObject(parent), runs_(runs) {}

void LiveTuning::begin(const std::vector<int>& runIds) {
    cancel();
    stack_.clear();
    runIds_ = runIds;
    wanted_.clear();
    underWay_.clear();
    for (const int id : runIds)
        if (const CollectedRun* run = runs_.find(id))
            wanted_.emplace(id, run->atStart);
}

std::vector<LiveTuning::Piece> LiveTuning::piecesOf(const LiveRequest& request) const {
    std::vector<Piece> pieces;
    for (const int id : runIds_) {
        const auto run = wanted_.find(id);
        if (run == wanted_.end() ||
            (request.runId != TrainingSession::kAllRuns && request.runId != id))
            continue;
        const engine::FieldValue now = engine::getField(run->second, request.path);
        if (now != request.value)
            pieces.push_back({id, now, request.value, 0});
    }
    return pieces;
}

/// As the run itself would refuse it; empty: it may be made.
QString LiveTuning::problemOf(const LiveRequest& request, const std::vector<Piece>& pieces) const {
    for (const Piece& piece : pieces) {
        engine::Experiment next = wanted_.at(piece.runId);
        engine::setField(next, request.path, piece.to);
        try {
            (void)engine::requireValid(next);
        } catch (const engine::Error& error) {
            return QString::fromUtf8(error.what());
        }
    }
    return {};
}

void LiveTuning::request(const LiveRequest& request) {
    cancel();
    const std::vector<Piece> pieces = piecesOf(request);
    if (pieces.empty())
        return;
    if (const QString problem = problemOf(request, pieces); !problem.isEmpty()) {
        Q_EMIT refused(problem);
        Q_EMIT reverted();
        return;
    }
    const QString waits =
        engine::concernsMemory({request.path, request.value}) ? whatWaits(pieces) : QString();
    if (waits.isEmpty()) {
        make(request, MemoryChange::Keep);
        return;
    }
    question_ = request;
    Q_EMIT asked(sentence(request, pieces), waits);
}

void LiveTuning::answer(MemoryChange memory) {
    const auto request = std::exchange(question_, std::nullopt);
    if (!request)
        return;
    Q_EMIT settled();
    make(*request, memory);
}

void LiveTuning::cancel() {
    if (!std::exchange(question_, std::nullopt))
        return;
    Q_EMIT settled();
    Q_EMIT reverted();
}

void LiveTuning::make(const LiveRequest& request, MemoryChange memory) {
    std::vector<Piece> pieces = piecesOf(request);
    if (pieces.empty())
        return;
    const QString text = sentence(request, pieces);
    stack_.push(new Command(*this, request, std::move(pieces), memory, text));
}

std::uint64_t LiveTuning::send(int runId, engine::ParameterChange change) {
    change.id = ++lastId_;
    if (const auto run = wanted_.find(runId); run != wanted_.end()) {
        engine::setField(run->second, change.path, change.value);
        ++underWay_[{runId, change.path}];
    }
    Q_EMIT changeWanted(runId, change);
    return change.id;
}

/// Scripts change runs too, and a run may refuse a change: what it says holds, unless something
/// newer is on its way.
void LiveTuning::follow(int runId, const std::vector<engine::Record>& records) {
    const auto run = wanted_.find(runId);
    if (run == wanted_.end())
        return;
    for (const engine::Record& record : records) {
        const auto* event = std::get_if<engine::EventRecord>(&record);
        const engine::FieldSpec* field = event != nullptr && event->event == "parameter_changed"
                                             ? engine::findField(event->field)
                                             : nullptr;
        if (field == nullptr)
            continue;
        int& underWay = underWay_[{runId, field->path}];
        if (underWay > 0) {
            --underWay;
            continue;
        }
        engine::setField(run->second, field->path, engine::parseFieldValue(*field, event->to));
    }
}

/// "Learning rate 20 → 5 (all runs)"
QString LiveTuning::sentence(const LiveRequest& request, const std::vector<Piece>& pieces) const {
    const engine::FieldSpec* field = engine::findField(request.path);
    const auto text = [field](const engine::FieldValue& value) {
        return QString::fromStdString(engine::formatFieldValue(*field, value));
    };
    const QString label = widgets::fieldLabel(*field);
    const bool sameBefore = std::all_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
        return piece.from == pieces.front().from;
    });
    QString change =
        sameBefore ? tr("%1 %2 → %3").arg(label, text(pieces.front().from), text(request.value))
                   : tr("%1 → %2").arg(label, text(request.value));
    if (runIds_.size() == 1)
        return change;
    if (request.runId == TrainingSession::kAllRuns)
        return tr("%1 (all runs)").arg(change);
    const CollectedRun* run = runs_.find(request.runId);
    return run == nullptr ? change : tr("%1 (%2)").arg(change, run->info.name);
}

/// Empty: nothing waits anywhere.
QString LiveTuning::whatWaits(const std::vector<Piece>& pieces) const {
    QStringList parts;
    for (const Piece& piece : pieces) {
        const CollectedRun* run = runs_.find(piece.runId);
        if (run == nullptr)
            continue;
        const engine::Experiment now = engine::resolved(wanted_.at(piece.runId));
        const auto norm = run->series->last(widgets::Metric::ResidualNorm);
        const auto gradient = run->series->last(widgets::Metric::GradientNorm);
        const bool rests = now.compression.memory == "none" && run->resting > 0.0;
        const double waits = rests ? run->resting : norm ? norm->value : 0.0;
        if (!(waits > 0.0) || (now.compression.memory == "none" && !rests))
            continue;
        QString part =
            tr("%1 has a norm of %2").arg(run->info.name, QString::number(waits, 'g', 3));
        if (gradient && gradient->value > 0.0)
            part +=
                tr(" (the mean gradient's is %1)").arg(QString::number(gradient->value, 'g', 3));
        parts.push_back(part + (rests ? tr(", resting since its memory was switched off")
                                      : tr(" at step %1").arg(run->series->numbers().step)));
    }
    if (parts.isEmpty())
        return {};
    return tr("What waits to be sent of %1. Keep it, flush it with one dense step, or drop it?")
        .arg(parts.join(QStringLiteral("; ")));
}

} // namespace gradlab::app
