// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A field to be tuned while a run is on: its editor for exact entry and, where the field has a
// range to try things out in, a slider beside it that follows the editor and leads it. Edits of the
// slider come at most four times a second; those that belong together have the same gesture.
#pragma once

#include "engine/core/field_spec.h"

#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>

#include <memory>
#include <optional>

class QSlider;

namespace gradlab::widgets {

class FieldEditor;
class SliderScale;

class FieldKnob : public QWidget {
    Q_OBJECT

public:
    static constexpr int kSliderMs = 250; ///< between two edits of a drag

    explicit FieldKnob(const engine::FieldSpec& field, QWidget* parent = nullptr);
    ~FieldKnob() override;

    [[nodiscard]] const engine::FieldSpec& field() const;
    [[nodiscard]] FieldEditor* editor() const noexcept { return editor_; }
    /// Null where the field has none.
    [[nodiscard]] QSlider* slider() const noexcept { return slider_; }
    /// Shows the value, in editor and slider; emits nothing. Not while a hand is at the slider.
    void setValue(const engine::FieldValue& value);

Q_SIGNALS:
    /// The person changed the value. A drag of the slider, or quick steps of the same knob, are one
    /// `gesture`.
    void edited(const gradlab::engine::FieldValue& value, int gesture);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void buildSlider();
    void takeTyped(const engine::FieldValue& value);
    void takeSlider(int position);
    void sendPending();
    void send(const engine::FieldValue& value);
    void moveSlider(const engine::FieldValue& value);

    FieldEditor* editor_;
    QSlider* slider_ = nullptr;
    std::unique_ptr<SliderScale> scale_;
    QTimer pause_;                              ///< runs after a slider's edit was sent
    std::optional<engine::FieldValue> pending_; ///< the slider's latest, not sent yet
    std::optional<engine::FieldValue> typed_;   ///< text's, until it is finished
    int gesture_ = 0;
    QElapsedTimer sinceSent_;
};

} // namespace gradlab::widgets
