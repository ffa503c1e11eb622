// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// One field in the form: label, editor, and the line that says what is wrong with it.
#pragma once

#include "engine/training/experiment_schema.h"
#include "widgets/theme.h"

#include <QString>
#include <QWidget>

class QGridLayout;
class QLabel;

namespace gradlab::widgets {

class FieldEditor;

class FormRow {
public:
    /// Adds its widgets to the next free rows of the grid, which owns them.
    FormRow(const engine::FieldSpec& field, QGridLayout& grid, QWidget* parent);

    [[nodiscard]] const engine::FieldSpec& field() const noexcept { return *field_; }
    [[nodiscard]] FieldEditor* editor() const noexcept { return editor_; }
    void setShown(bool shown);
    /// `reason`: why it cannot be changed now.
    void setEditable(bool editable, const QString& reason);
    /// Text of the line below the editor; empty: none.
    void setIssue(const engine::ExperimentIssue* issue, const Theme& theme);
    [[nodiscard]] bool isShown() const noexcept { return shown_; }
    [[nodiscard]] QString issueText() const;

private:
    const engine::FieldSpec* field_;
    QLabel* label_;
    FieldEditor* editor_;
    QLabel* issueIcon_;
    QLabel* issueText_;
    bool shown_ = true;
};

} // namespace gradlab::widgets
