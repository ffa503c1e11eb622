// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// One edit of one field, on the undo stack. Edits of the same field that follow each other closely
// are one.
#pragma once

#include "engine/core/field_spec.h"

#include <QElapsedTimer>
#include <QString>
#include <QUndoCommand>

#include <functional>

namespace gradlab::widgets {

class FieldCommand : public QUndoCommand {
public:
    using Apply = std::function<void(const engine::FieldValue&)>;
    /// `fieldNumber`: its place in the schema. `apply` outlives the stack.
    FieldCommand(int fieldNumber, const QString& label, engine::FieldValue before,
                 engine::FieldValue after, Apply apply)
        : QUndoCommand(label), number_(fieldNumber), before_(std::move(before)),
          after_(std::move(after)), apply_(std::move(apply)) {
        age_.start();
    }

    void undo() override { apply_(before_); }
    void redo() override { apply_(after_); }
    [[nodiscard]] int id() const override { return number_; }
    bool mergeWith(const QUndoCommand* other) override {
        const auto* later = static_cast<const FieldCommand*>(other);
        if (later->number_ != number_ || age_.elapsed() > kMergeMilliseconds)
            return false;
        age_.restart();
        after_ = later->after_;
        setObsolete(before_ == after_);
        return true;
    }

private:
    static constexpr qint64 kMergeMilliseconds = 1500;
    int number_;
    engine::FieldValue before_;
    engine::FieldValue after_;
    Apply apply_;
    QElapsedTimer age_;
};

} // namespace gradlab::widgets
