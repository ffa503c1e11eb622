// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes of one worker's message, a step and in total, against dense messages, log axes.
#pragma once

#include "widgets/run_chart.h"

namespace gradlab::widgets {

class TrafficChart : public RunChart {
    Q_OBJECT

public:
    explicit TrafficChart(QWidget* parent = nullptr);

    [[nodiscard]] QStringList logFields() const override;

protected:
    void redraw() override;
    void applyTheme() override;
    [[nodiscard]] std::unique_ptr<RunChart> fresh() const override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void chooseRoom();
    [[nodiscard]] PlotLine denseLine(const PlotWidget& plot, const RunInfo& run,
                                     Metric metric) const;

    PlotWidget* perStep_;
    PlotWidget* total_;
};

} // namespace gradlab::widgets
