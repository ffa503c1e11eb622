// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Knobs for a run that is on: every live field of the schema that the chosen run uses, to be typed
// or, where it has a range to try things out in, moved by a slider. A change goes to the chosen run
// or to all.
#pragma once

#include "engine/training/experiment.h"

#include <QScrollArea>

#include <vector>

class QComboBox;

namespace gradlab::widgets {
class FieldEditor;
class FieldKnob;
} // namespace gradlab::widgets

namespace gradlab::app {

struct LiveRequest;

class TuningBar : public QScrollArea {
    Q_OBJECT

public:
    explicit TuningBar(QWidget* parent = nullptr);

    struct Target {
        int id = 0;
        QString name;
        engine::Experiment experiment; ///< as it is now
    };
    /// The runs that can be tuned; keeps the choice where it is still there. Empty: all disabled.
    void setTargets(const std::vector<Target>& targets);
    void chooseTarget(int id);
    /// TrainingSession::kAllRuns or a run's id.
    [[nodiscard]] int chosenTarget() const;
    [[nodiscard]] widgets::FieldEditor* editor(const QString& path) const;
    /// Null where no knob has this field.
    [[nodiscard]] widgets::FieldKnob* knob(const QString& path) const;
    /// Shows the runs' own values again.
    void showValues();
    /// Focuses the first knob.
    void focusFirst();

Q_SIGNALS:
    void changeRequested(const gradlab::app::LiveRequest& request);
    void closeRequested();

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void buildKnobs();
    void fitHeight();
    [[nodiscard]] static bool isShown(const engine::FieldSpec& field,
                                      const std::vector<const engine::Experiment*>& chosen);
    [[nodiscard]] std::vector<const engine::Experiment*> chosenExperiments() const;

    std::vector<Target> targets_;
    QWidget* row_;
    QComboBox* target_;
    std::vector<widgets::FieldKnob*> knobs_;
};

} // namespace gradlab::app
