// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/form_row.h"

#include "widgets/field_editor.h"
#include "widgets/field_text.h"
#include "widgets/icons.h"

#include <QGridLayout>
#include <QLabel>

namespace gradlab::widgets {

FormRow::FormRow(const engine::FieldSpec& field, QGridLayout& grid, QWidget* parent)
    : field_(&field), label_(new QLabel(fieldLabel(field), parent)),
      editor_(FieldEditor::create(field, parent)), issueIcon_(new QLabel(parent)),
      issueText_(new QLabel(parent)) {
    const int row = grid.rowCount();
    label_->setBuddy(editor_);
    label_->setToolTip(fieldToolTip(field));
    label_->setWordWrap(true);
    grid.addWidget(label_, row, 0);
    grid.addWidget(editor_, row, 1);
    grid.addWidget(issueIcon_, row + 1, 0, Qt::AlignRight | Qt::AlignTop);
    grid.addWidget(issueText_, row + 1, 1);
    issueText_->setWordWrap(true);
    issueText_->setTextFormat(Qt::PlainText);
    issueIcon_->hide();
    issueText_->hide();
}

void FormRow::setShown(bool shown) {
    shown_ = shown;
    label_->setVisible(shown);
    editor_->setVisible(shown);
    issueIcon_->setVisible(shown && !issueText_->text().isEmpty());
    issueText_->setVisible(shown && !issueText_->text().isEmpty());
}

void FormRow::setEditable(bool editable, const QString& reason) {
    editor_->setEnabled(editable);
    label_->setEnabled(editable);
    const QString tip = fieldToolTip(*field_);
    const QString why =
        editable ? QString() : QStringLiteral("<b>%1</b><br>").arg(reason.toHtmlEscaped());
    editor_->setToolTip(why + tip);
    label_->setToolTip(why + tip);
}

void FormRow::setIssue(const engine::ExperimentIssue* issue, const Theme& theme) {
    const QString text = issue == nullptr ? QString() : QString::fromStdString(issue->message);
    if (issue != nullptr) {
        const bool error = issue->severity == engine::ExperimentIssue::Severity::Error;
        const QColor ink = error ? theme.error : theme.warning;
        QPalette colours = issueText_->palette();
        colours.setColor(QPalette::WindowText, ink);
        issueText_->setPalette(colours);
        issueIcon_->setPixmap(
            icon(error ? IconName::Error : IconName::Warning, ink, ink).pixmap(16));
        issueIcon_->setAccessibleName(error ? FieldEditor::tr("Error")
                                            : FieldEditor::tr("Warning"));
    }
    issueText_->setText(text);
    editor_->setAccessibleDescription(text.isEmpty() ? QString::fromStdString(field_->help) : text);
    issueIcon_->setVisible(shown_ && !text.isEmpty());
    issueText_->setVisible(shown_ && !text.isEmpty());
}

QString FormRow::issueText() const {
    return issueText_->text();
}

} // namespace gradlab::widgets
