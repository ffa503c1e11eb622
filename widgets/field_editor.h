// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// An editor for one field of the experiment schema: spin box, combo box, check box, line edit or
// path with a browse button, by the field's type. Knows ranges and text forms through the schema.
#pragma once

#include "engine/core/field_spec.h"

#include <QString>
#include <QWidget>

namespace gradlab::widgets {

class FieldEditor : public QWidget {
    Q_OBJECT

public:
    /// `field` is one of engine::experimentSchema(): it lives as long as the process.
    [[nodiscard]] static FieldEditor* create(const engine::FieldSpec& field,
                                             QWidget* parent = nullptr);

    [[nodiscard]] const engine::FieldSpec& field() const noexcept { return field_; }
    [[nodiscard]] virtual engine::FieldValue value() const = 0;
    /// Shows the value; emits nothing.
    virtual void setValue(const engine::FieldValue& value) = 0;
    /// Text that is no value of the field's type, with the reason; empty when all is well.
    [[nodiscard]] const QString& textError() const noexcept { return textError_; }

Q_SIGNALS:
    /// The person changed the value (not setValue).
    void edited(const gradlab::engine::FieldValue& value);
    /// What the person typed cannot be read, or can be read again: see textError().
    void textErrorChanged();

protected:
    FieldEditor(const engine::FieldSpec& field, QWidget* parent);
    /// Makes `inner` the focus proxy, with the field's accessible name and tooltip.
    void adopt(QWidget* inner);
    void setTextError(const QString& reason);

private:
    const engine::FieldSpec& field_;
    QString textError_;
};

} // namespace gradlab::widgets
