// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Where the time of a step goes, two bars a run: the modelled cluster (CPU time, server, link
// model) and this computer by its clock, with "sharing the cores" apart. Waiting for a core is
// never network.
#pragma once

#include "widgets/run_chart.h"

namespace gradlab::widgets {

class StackedBars;
struct BarPart;

class TimeChart : public RunChart {
    Q_OBJECT

public:
    explicit TimeChart(QWidget* parent = nullptr);

    [[nodiscard]] QStringList logFields() const override;

protected:
    void redraw() override;
    void applyTheme() override;
    void paintParts(QPainter& painter) override;
    [[nodiscard]] std::unique_ptr<RunChart> fresh() const override;

private:
    [[nodiscard]] std::vector<BarPart> parts(const StepParts& step) const;

    StackedBars* bars_;
};

} // namespace gradlab::widgets
