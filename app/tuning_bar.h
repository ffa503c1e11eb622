// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Knobs for a run that is on: every live field of the schema that the chosen run uses, with an
// editor each. A change goes to the chosen run or to all.
#pragma once

#include "engine/training/trainer.h"

#include <QScrollArea>

#include <vector>

class QCheckBox;
class QComboBox;

namespace gradlab::widgets {
class FieldEditor;
}

namespace gradlab::app {

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
    /// Focuses the first knob.
    void focusFirst();

Q_SIGNALS:
    void changeRequested(int runId, const gradlab::engine::ParameterChange& change);
    void closeRequested();

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Knob {
        QWidget* box;
        widgets::FieldEditor* editor;
    };
    void buildKnobs();
    void showValues();
    void fitHeight();
    [[nodiscard]] static bool isShown(const engine::FieldSpec& field,
                                      const std::vector<const engine::Experiment*>& chosen);
    [[nodiscard]] std::vector<const engine::Experiment*> chosenExperiments() const;

    std::vector<Target> targets_;
    QWidget* row_;
    QComboBox* target_;
    QCheckBox* keep_; ///< of a memory's content
    std::vector<Knob> knobs_;
};

} // namespace gradlab::app
