// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Predict, then see: a row in which a person draws on the perplexity chart, or types, what a run's
// perplexity will be; and, once the runs have come there, a sentence that compares. With the
// curtain nobody sees the curves before.
#pragma once

#include "widgets/run_info.h"

#include <QFrame>

class QCheckBox;
class QDoubleSpinBox;
class QLabel;
class QSpinBox;

namespace gradlab::widgets {
class PerplexityChart;
}

namespace gradlab::app {

class PredictionTool : public QFrame {
    Q_OBJECT

public:
    static constexpr int kFirstHorizon = 1000; ///< steps, where no run says how long it will be

    /// `chart` outlives this.
    explicit PredictionTool(widgets::PerplexityChart* chart, QWidget* parent = nullptr);

    /// Shows the row and takes up the pen, or puts it away; what was predicted stays.
    void setOpen(bool open);
    /// How far the race will go; 0: not known.
    void setHorizon(std::uint64_t step);
    /// A new race: its curves are compared from now on.
    void begin();
    /// The runs of the race as they are; `active`: they go on.
    void check(const widgets::RunList& race, bool active);
    void erase();

    [[nodiscard]] QDoubleSpinBox* perplexity() const noexcept { return perplexity_; }
    [[nodiscard]] QSpinBox* step() const noexcept { return step_; }
    [[nodiscard]] QCheckBox* curtain() const noexcept { return curtain_; }

Q_SIGNALS:
    /// Predicted and actual, in one sentence.
    void revealed(const QString& sentence);
    void closed();

protected:
    bool event(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void build();
    void takeTyped();
    void takeDrawn();
    void changed();
    void drawCurtain();
    [[nodiscard]] QString verdict(const widgets::RunList& race) const;

    widgets::PerplexityChart* chart_;
    QDoubleSpinBox* perplexity_;
    QSpinBox* step_;
    QCheckBox* curtain_;
    bool told_ = false;  ///< of this prediction and race
    double known_ = 0.0; ///< the last step that was made when the curtain fell
    double now_ = 0.0;   ///< the last step that was made
};

} // namespace gradlab::app
