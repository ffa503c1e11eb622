// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What is kept (elements asked and achieved, energy) and what waits in memory.
#pragma once

#include "widgets/run_chart.h"

namespace gradlab::widgets {

class SparsityChart : public RunChart {
    Q_OBJECT

public:
    explicit SparsityChart(QWidget* parent = nullptr);

    [[nodiscard]] QStringList logFields() const override;

protected:
    void redraw() override;
    void applyTheme() override;
    [[nodiscard]] std::unique_ptr<RunChart> fresh() const override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void chooseRoom();
    PlotWidget* kept_;
    PlotWidget* waiting_;
};

} // namespace gradlab::widgets
