// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The experiment as a form that builds itself from the schema: groups, editors, help, what is used,
// what is wrong and why. During a run only live fields can change. All edits go through an undo
// stack.
#pragma once

#include "engine/training/experiment.h"
#include "engine/training/experiment_schema.h"

#include <QString>
#include <QWidget>

#include <memory>
#include <vector>

class QUndoStack;

namespace gradlab::widgets {

class FieldEditor;

class ExperimentForm : public QWidget {
    Q_OBJECT

public:
    explicit ExperimentForm(QWidget* parent = nullptr);
    ~ExperimentForm() override;

    /// Replaces everything and clears the undo stack; emits experimentChanged.
    void setExperiment(const engine::Experiment& experiment);
    [[nodiscard]] const engine::Experiment& experiment() const noexcept;

    /// Of the schema's validate(), and of text that cannot be read; errors first.
    [[nodiscard]] const std::vector<engine::ExperimentIssue>& issues() const noexcept;
    [[nodiscard]] bool isValid() const;
    /// The first error for people, empty if valid: what a disabled Start button says.
    [[nodiscard]] QString firstError() const;
    /// "gradlab-cli train --method topk": ready for a shell.
    [[nodiscard]] QString commandLine() const;
    [[nodiscard]] QUndoStack* undoStack() const noexcept;

    /// While running, edits of live fields (and their undo) ask for a change by
    /// liveChangeRequested; all others are disabled.
    void setRunning(bool running);
    [[nodiscard]] bool isRunning() const noexcept;

    [[nodiscard]] FieldEditor* editor(const QString& path) const;
    /// Unfolds, scrolls to and focuses the field.
    void showField(const QString& path);

Q_SIGNALS:
    void experimentChanged();
    void liveChangeRequested(const QString& path, const gradlab::engine::FieldValue& value);
    /// "Run again with…": a new run from this experiment, with changes.
    void runAgainRequested();

protected:
    void changeEvent(QEvent* event) override;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace gradlab::widgets
