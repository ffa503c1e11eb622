// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/field_editor.h"

#include "engine/core/errors.h"
#include "engine/training/experiment_schema.h"
#include "widgets/field_text.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QEvent>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QToolButton>

#include <algorithm>
#include <cmath>
#include <limits>

namespace gradlab::widgets {

namespace {

constexpr int kLongestText = 4096;                   ///< as a path may be on this system
constexpr double kLargestExact = 9007199254740992.0; ///< 2^53

QString qt(const std::string& text) {
    return QString::fromStdString(text);
}

/// A wheel turned over a form scrolls the form, unless the editor has the focus.
class WheelGuard : public QObject {
public:
    using QObject::QObject;
    bool eventFilter(QObject* watched, QEvent* event) override {
        const auto* widget = qobject_cast<QWidget*>(watched);
        if (event->type() != QEvent::Wheel || widget == nullptr || widget->hasFocus())
            return false;
        event->ignore();
        return true;
    }
};

class BooleanEditor final : public FieldEditor {
public:
    BooleanEditor(const engine::FieldSpec& field, QWidget* parent)
        : FieldEditor(field, parent), box_(new QCheckBox(this)) {
        adopt(box_);
        connect(box_, &QCheckBox::clicked, this, [this](bool on) { Q_EMIT edited(on); });
    }
    [[nodiscard]] engine::FieldValue value() const override { return box_->isChecked(); }
    void setValue(const engine::FieldValue& value) override {
        box_->setChecked(std::get<bool>(value));
    }

private:
    QCheckBox* box_;
};

/// Shows numbers as the schema writes them: all their digits, '.' whatever the locale.
class NumberBox final : public QDoubleSpinBox {
public:
    NumberBox(const engine::FieldSpec& field, QWidget* parent)
        : QDoubleSpinBox(parent), field_(field) {
        const bool whole = field.type == engine::FieldType::Integer;
        setLocale(QLocale::c());
        setDecimals(whole ? 0 : 15);
        setRange(field.minimum.value_or(-kLargestExact), field.maximum.value_or(kLargestExact));
        setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
        setKeyboardTracking(false);
        if (!field.unit.empty())
            setSuffix(QStringLiteral(" ") + fieldUnit(field));
    }
    [[nodiscard]] QString textFromValue(double value) const override {
        if (field_.type == engine::FieldType::Integer)
            return QString::number(std::llround(value));
        return QString::number(value, 'g', QLocale::FloatingPointShortest);
    }
    [[nodiscard]] double valueFromText(const QString& text) const override {
        bool ok = false;
        const double value = QLocale::c().toDouble(bare(text), &ok);
        return ok ? value : minimum();
    }
    [[nodiscard]] QValidator::State validate(QString& text, int& /*position*/) const override {
        bool ok = false;
        const double value = QLocale::c().toDouble(bare(text), &ok);
        if (!ok)
            return QValidator::Intermediate;
        const bool whole = field_.type != engine::FieldType::Integer || value == std::floor(value);
        return whole && value >= minimum() && value <= maximum() ? QValidator::Acceptable
                                                                 : QValidator::Intermediate;
    }
    /// Halves and doubles would be too coarse, tenths of a tenth too fine: a unit of the first
    /// digit.
    void stepBy(int steps) override {
        QDoubleSpinBox::stepBy(steps);
        if (field_.type != engine::FieldType::Integer)
            setValue(QString::number(value(), 'g', 12).toDouble());
    }
    /// Of a kind that people see in the form: the range would ask for 22 digits.
    [[nodiscard]] QSize sizeHint() const override {
        QSize hint = QDoubleSpinBox::sizeHint();
        hint.setWidth(fontMetrics().horizontalAdvance(QStringLiteral("0000000000") + suffix()) +
                      30);
        return hint;
    }
    [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

private:
    [[nodiscard]] QString bare(QString text) const {
        if (!suffix().isEmpty() && text.endsWith(suffix()))
            text.chop(suffix().size());
        return text.trimmed();
    }
    const engine::FieldSpec& field_;
};

class NumberEditor final : public FieldEditor {
public:
    NumberEditor(const engine::FieldSpec& field, QWidget* parent)
        : FieldEditor(field, parent), box_(new NumberBox(field, this)) {
        adopt(box_);
        connect(box_, &QDoubleSpinBox::valueChanged, this, [this] {
            if (!setting_)
                Q_EMIT edited(value());
        });
    }
    [[nodiscard]] engine::FieldValue value() const override {
        if (field().type == engine::FieldType::Integer)
            return static_cast<std::int64_t>(std::llround(box_->value()));
        return box_->value();
    }
    void setValue(const engine::FieldValue& value) override {
        setting_ = true;
        const auto* whole = std::get_if<std::int64_t>(&value);
        const double number =
            whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value);
        // A value out of range came from a file: it is shown as it is, and marked by validate().
        box_->setRange(std::min(box_->minimum(), number), std::max(box_->maximum(), number));
        box_->setValue(number);
        setting_ = false;
    }

private:
    NumberBox* box_;
    bool setting_ = false;
};

class ChoiceEditor final : public FieldEditor {
public:
    ChoiceEditor(const engine::FieldSpec& field, QWidget* parent)
        : FieldEditor(field, parent), box_(new QComboBox(this)) {
        for (const std::string& choice : field.choices)
            box_->addItem(qt(choice));
        box_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        box_->setMinimumContentsLength(6);
        adopt(box_);
        connect(box_, &QComboBox::activated, this, [this] { Q_EMIT edited(value()); });
    }
    [[nodiscard]] engine::FieldValue value() const override {
        return box_->currentText().toStdString();
    }
    void setValue(const engine::FieldValue& value) override {
        const QString text = qt(std::get<std::string>(value));
        if (box_->findText(text) < 0)
            box_->addItem(text);
        box_->setCurrentText(text);
    }

private:
    QComboBox* box_;
};

/// Text, rates and durations: whatever the schema can parse.
class TextEditor : public FieldEditor {
public:
    TextEditor(const engine::FieldSpec& field, QWidget* parent)
        : FieldEditor(field, parent), line_(new QLineEdit(this)) {
        line_->setMaxLength(kLongestText);
        adopt(line_);
        connect(line_, &QLineEdit::textEdited, this, [this] { read(); });
        connect(line_, &QLineEdit::editingFinished, this, [this] { settle(); });
    }
    [[nodiscard]] engine::FieldValue value() const override { return value_; }
    void setValue(const engine::FieldValue& value) override {
        // Text that is being typed and means this value stays as it is.
        if (value == value_ && textError().isEmpty())
            return;
        value_ = value;
        line_->setText(qt(engine::formatFieldValue(field(), value)));
        setTextError({});
    }

protected:
    void takeText(const QString& text) {
        line_->setText(text);
        read();
    }
    [[nodiscard]] QLineEdit* line() const { return line_; }

private:
    void read() {
        try {
            const engine::FieldValue value =
                engine::parseFieldValue(field(), line_->text().toStdString());
            setTextError({});
            if (value == value_)
                return;
            value_ = value;
            Q_EMIT edited(value);
        } catch (const engine::Error& error) {
            setTextError(QString::fromUtf8(error.what()));
        }
    }
    /// Shows what was understood: "0.1s" becomes "100ms".
    void settle() {
        if (textError().isEmpty())
            line_->setText(qt(engine::formatFieldValue(field(), value_)));
    }

    QLineEdit* line_;
    engine::FieldValue value_ = std::string();
};

class PathEditor final : public TextEditor {
public:
    PathEditor(const engine::FieldSpec& field, QWidget* parent) : TextEditor(field, parent) {
        auto* file = new QToolButton(this);
        file->setText(QStringLiteral("…"));
        file->setToolTip(FieldEditor::tr("Choose a file"));
        file->setAccessibleName(FieldEditor::tr("Choose a file for %1").arg(fieldLabel(field)));
        layout()->addWidget(file);
        connect(file, &QToolButton::clicked, this, [this] { browse(); });
    }

private:
    void browse() {
        auto* dialog = new QFileDialog(window(), fieldLabel(field()), line()->text());
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->setFileMode(QFileDialog::ExistingFile);
        connect(dialog, &QFileDialog::fileSelected, this, &PathEditor::takeText);
        dialog->open(); // without a nested event loop: charts go on
    }
};

} // namespace

FieldEditor::FieldEditor(const engine::FieldSpec& field, QWidget* parent)
    : QWidget(parent), field_(field) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(2);
}

void FieldEditor::adopt(QWidget* inner) {
    layout()->addWidget(inner);
    setFocusProxy(inner);
    const QString tip = fieldToolTip(field_);
    for (QWidget* widget : {static_cast<QWidget*>(this), inner}) {
        widget->setAccessibleName(fieldLabel(field_));
        widget->setAccessibleDescription(fieldHelp(field_));
        widget->setToolTip(tip);
    }
    inner->setObjectName(qt(field_.path));
    inner->setFocusPolicy(Qt::StrongFocus);
    inner->installEventFilter(new WheelGuard(inner));
}

void FieldEditor::setTextError(const QString& reason) {
    if (textError_ == reason)
        return;
    textError_ = reason;
    Q_EMIT textErrorChanged();
}

FieldEditor* FieldEditor::create(const engine::FieldSpec& field, QWidget* parent) {
    switch (field.type) {
    case engine::FieldType::Boolean:
        return new BooleanEditor(field, parent);
    case engine::FieldType::Integer:
    case engine::FieldType::Real:
        return new NumberEditor(field, parent);
    case engine::FieldType::Choice:
        return new ChoiceEditor(field, parent);
    case engine::FieldType::Path:
        return new PathEditor(field, parent);
    case engine::FieldType::Text:
    case engine::FieldType::Rate:
    case engine::FieldType::Duration:
        break;
    }
    return new TextEditor(field, parent);
}

} // namespace gradlab::widgets
