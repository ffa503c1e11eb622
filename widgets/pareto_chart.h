// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What a perplexity costs: validation perplexity against bytes sent and against simulated time,
// with the Pareto front of the visible runs drawn and named. Its axes are its own.
#pragma once

#include "widgets/pareto_front.h"
#include "widgets/run_chart.h"

namespace gradlab::widgets {

class ParetoChart : public RunChart {
    Q_OBJECT

public:
    explicit ParetoChart(QWidget* parent = nullptr);
    [[nodiscard]] QStringList logFields() const override;

protected:
    void redraw() override;
    void applyTheme() override;
    [[nodiscard]] std::unique_ptr<RunChart> fresh() const override;

private:
    void setUp(PlotWidget* plot, const QString& name, XAxis axis);
    [[nodiscard]] std::vector<ParetoPoint> front(const RunList& runs, XAxis axis) const;
    [[nodiscard]] QString hoverLine(const PlotWidget& plot, const RunInfo& run, double x) const;
    void draw(PlotWidget& plot, const RunList& runs, const QString& title);

    PlotWidget* byBytes_;
    PlotWidget* byTime_;
};

} // namespace gradlab::widgets
