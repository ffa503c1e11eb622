// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/field_text.h"

#include "engine/training/experiment_schema.h"
#include "widgets/field_editor.h"

#include <QCoreApplication>

namespace gradlab::widgets {
namespace {

QString translated(const std::string& text) {
    return text.empty() ? QString() : QCoreApplication::translate(kFieldContext, text.c_str());
}

QString paragraph(const QString& name, const QString& text) {
    return text.isEmpty() ? QString()
                          : QStringLiteral("<br>%1: %2").arg(name, text.toHtmlEscaped());
}

} // namespace

QString fieldLabel(const engine::FieldSpec& field) {
    return translated(field.label);
}

QString fieldHelp(const engine::FieldSpec& field) {
    return translated(field.help);
}

QString fieldUnit(const engine::FieldSpec& field) {
    return translated(field.unit);
}

QString fieldToolTip(const engine::FieldSpec& field) {
    return QStringLiteral("<qt><b>%1</b><br>%2%3%4%5%6</qt>")
        .arg(fieldLabel(field).toHtmlEscaped(), fieldHelp(field).toHtmlEscaped(),
             paragraph(FieldEditor::tr("Equation"), QString::fromStdString(field.equation)),
             paragraph(FieldEditor::tr("Source"), QString::fromStdString(field.source)),
             paragraph(FieldEditor::tr("Allowed"),
                       QString::fromStdString(engine::allowedValues(field))),
             paragraph(FieldEditor::tr("Option"), QString::fromStdString(field.option)));
}

} // namespace gradlab::widgets
