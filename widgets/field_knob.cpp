// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/field_knob.h"

#include "widgets/field_editor.h"
#include "widgets/field_text.h"
#include "widgets/slider_scale.h"

#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QSlider>
#include <QVBoxLayout>

#include <cmath>
#include <utility>

namespace gradlab::widgets {
namespace {

constexpr qint64 kGestureMs = 1500; ///< between two steps of one gesture, at most

double numberOf(const engine::FieldValue& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value))
        return static_cast<double>(*whole);
    return std::get<double>(value);
}

} // namespace

FieldKnob::FieldKnob(const engine::FieldSpec& field, QWidget* parent)
    : QWidget(parent), editor_(FieldEditor::create(field, this)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(1);
    auto* label = new QLabel(fieldLabel(field), this);
    label->setBuddy(editor_);
    label->setToolTip(fieldToolTip(field));
    column->addWidget(label);
    column->addWidget(editor_);
    setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
    connect(editor_, &FieldEditor::edited, this, &FieldKnob::takeTyped);
    for (auto* inner : editor_->findChildren<QWidget*>())
        inner->installEventFilter(this);
    connect(editor_, &FieldEditor::textErrorChanged, this, [this] { typed_.reset(); });
    for (auto* line : editor_->findChildren<QLineEdit*>(Qt::FindDirectChildrenOnly))
        connect(line, &QLineEdit::editingFinished, this, [this] {
            if (const auto value = std::exchange(typed_, std::nullopt))
                send(*value);
        });
    pause_.setSingleShot(true);
    connect(&pause_, &QTimer::timeout, this, &FieldKnob::sendPending);
    if (field.slider)
        buildSlider();
}

FieldKnob::~FieldKnob() = default;

const engine::FieldSpec& FieldKnob::field() const {
    return editor_->field();
}

void FieldKnob::buildSlider() {
    scale_ = std::make_unique<SliderScale>(field());
    slider_ = new QSlider(Qt::Horizontal, this);
    slider_->setRange(0, scale_->last());
    slider_->setPageStep(std::max(1, scale_->last() / 10));
    slider_->setObjectName(QString::fromStdString(field().path) + QStringLiteral(" slider"));
    slider_->setAccessibleName(tr("%1, slider").arg(fieldLabel(field())));
    slider_->setAccessibleDescription(fieldHelp(field()));
    slider_->setToolTip(fieldToolTip(field()));
    slider_->setFocusPolicy(Qt::StrongFocus);
    slider_->installEventFilter(this);
    layout()->addWidget(slider_);
    connect(slider_, &QSlider::sliderPressed, this, [this] { ++gesture_; });
    connect(slider_, &QSlider::sliderReleased, this, [this] {
        sendPending();
        sinceSent_.invalidate(); // the next one is another gesture
    });
    connect(slider_, &QSlider::valueChanged, this, &FieldKnob::takeSlider);
}

void FieldKnob::setValue(const engine::FieldValue& value) {
    if (pending_ || typed_ || (slider_ != nullptr && slider_->isSliderDown()))
        return;
    editor_->setValue(value);
    moveSlider(value);
}

void FieldKnob::moveSlider(const engine::FieldValue& value) {
    if (slider_ == nullptr)
        return;
    const QSignalBlocker blocker(slider_);
    slider_->setValue(scale_->positionOf(numberOf(value)));
}

/// Of numbers at once; of a text that may be typed any further ("10" of "10Gbit") once it is
/// finished.
void FieldKnob::takeTyped(const engine::FieldValue& value) {
    moveSlider(value);
    const auto* line = editor_->findChild<QLineEdit*>(QString(), Qt::FindDirectChildrenOnly);
    if (line != nullptr && line->hasFocus())
        typed_ = value;
    else
        send(value);
}

void FieldKnob::takeSlider(int position) {
    const double number = scale_->valueAt(position);
    if (field().type == engine::FieldType::Integer)
        pending_ = static_cast<std::int64_t>(std::llround(number));
    else
        pending_ = number;
    editor_->setValue(*pending_);
    if (!pause_.isActive())
        sendPending();
}

void FieldKnob::sendPending() {
    const auto value = std::exchange(pending_, std::nullopt);
    if (!value)
        return;
    send(*value);
    pause_.start(kSliderMs);
}

void FieldKnob::send(const engine::FieldValue& value) {
    const bool held = slider_ != nullptr && slider_->isSliderDown();
    if (!held && (!sinceSent_.isValid() || sinceSent_.elapsed() > kGestureMs))
        ++gesture_;
    sinceSent_.start();
    Q_EMIT edited(value, gesture_);
}

/// Undo and redo are the window's, of whole changes, but for text that is being typed; and a wheel
/// turned over a slider scrolls what it lies in, unless it has the focus.
bool FieldKnob::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const auto* line = qobject_cast<QLineEdit*>(watched);
        if (line == nullptr) // a spin box asks its line itself
            line = watched->findChild<QLineEdit*>();
        const bool history = key->matches(QKeySequence::Undo) || key->matches(QKeySequence::Redo);
        if (history && line != nullptr && !line->isModified()) {
            event->ignore();
            return true;
        }
    }
    if (event->type() == QEvent::Wheel && watched == slider_ && !slider_->hasFocus()) {
        event->ignore();
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace gradlab::widgets
