// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Perplexity over the run on a log axis: validation thick, training thin, the floor and the
// word-frequency model as lines. Along steps also what a person predicted, drawn with a pen.
#pragma once

#include "widgets/prediction.h"
#include "widgets/run_chart.h"

namespace gradlab::widgets {

class PredictionPen;

class PerplexityChart : public RunChart {
    Q_OBJECT

public:
    explicit PerplexityChart(QWidget* parent = nullptr);

    [[nodiscard]] QStringList logFields() const override;

    [[nodiscard]] PlotWidget* plot() const noexcept { return plot_; }
    /// Pale and thin, beside the runs.
    void setPrediction(const Prediction& prediction);
    [[nodiscard]] const Prediction& prediction() const noexcept { return prediction_; }
    /// The x axis reaches to step `horizon` and the pen draws beyond the last step that was made;
    /// nothing: neither.
    void setPredicting(std::optional<double> horizon);
    /// The first shown run's latest: validation, or training before any.
    [[nodiscard]] std::optional<double> currentPerplexity() const;
    /// Hides what the runs did after this step; nothing: hides nothing.
    void setCurtain(std::optional<double> step);
    [[nodiscard]] const std::optional<double>& curtain() const noexcept { return curtain_; }

Q_SIGNALS:
    /// The person drew.
    void predictionDrawn();

protected:
    void redraw() override;
    void applyTheme() override;
    [[nodiscard]] std::unique_ptr<RunChart> fresh() const override;

private:
    void addRun(const RunInfo& run, std::vector<PlotLine>& lines) const;
    bool addGroup(const RunList& group, std::vector<PlotLine>& lines,
                  std::vector<PlotBand>& bands) const;
    /// Of seeds, where they are shown together.
    [[nodiscard]] std::vector<RunList> togetherGroups() const;
    [[nodiscard]] HoverText hoverAt(double x) const;
    [[nodiscard]] QString hoverLine(const RunInfo& run, double x) const;

    void takeStroke(const PlotPoint& from, const PlotPoint& to);
    void drawCurtain(std::vector<PlotLine>& lines) const;
    void addPrediction(std::vector<PlotLine>& lines) const;
    void showFuture();
    [[nodiscard]] double lastStep() const;
    [[nodiscard]] bool isAlongSteps() const { return axisOf(*plot_) == XAxis::Step; }

    PlotWidget* plot_;
    PredictionPen* pen_;
    Prediction prediction_;
    std::optional<double> horizon_;
    std::optional<double> curtain_;
};

} // namespace gradlab::widgets
