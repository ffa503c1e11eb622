// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Perplexity over the run on a log axis: validation thick, training thin, the floor and the
// word-frequency model as lines.
#pragma once

#include "widgets/run_chart.h"

namespace gradlab::widgets {

class PerplexityChart : public RunChart {
    Q_OBJECT

public:
    explicit PerplexityChart(QWidget* parent = nullptr);

    [[nodiscard]] QStringList logFields() const override;

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

    PlotWidget* plot_;
};

} // namespace gradlab::widgets
