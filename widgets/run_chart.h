// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What all charts of runs share: the list of runs, the x axis, the theme, and redrawing only what
// has changed and can be seen. The owner calls refresh() from one timer, one chart a tick in turn.
#pragma once

#include "widgets/run_info.h"
#include "widgets/theme.h"

#include <QImage>
#include <QString>
#include <QWidget>

namespace gradlab::widgets {

class RunChart : public QWidget {
    Q_OBJECT

public:
    explicit RunChart(QWidget* parent = nullptr);

    void setRuns(const RunList& runs);
    void setXAxis(XAxis axis);
    void setTheme(const Theme& theme);
    /// Draws if something changed since the last time and the chart is visible; says whether it
    /// did.
    bool refresh();
    /// Draws whatever is new, visible or not, and gives the picture.
    [[nodiscard]] QImage renderImage(const QSize& size, double scale = 1.0);

    [[nodiscard]] XAxis xAxis() const noexcept { return xAxis_; }
    [[nodiscard]] const RunList& runs() const noexcept { return runs_; }

    /// Points a line may have: fewer when many runs are shown.
    [[nodiscard]] std::size_t pointsPerLine() const;

protected:
    virtual void redraw() = 0;
    virtual void applyTheme() = 0;
    [[nodiscard]] const Theme& theme() const noexcept { return theme_; }
    /// Visible runs that have data.
    [[nodiscard]] RunList shownRuns() const;
    void showEvent(QShowEvent* event) override;

private:
    [[nodiscard]] std::uint64_t revision() const;
    void drawNow();

    RunList runs_;
    XAxis xAxis_ = XAxis::Step;
    Theme theme_ = Theme::make(false, false);
    std::uint64_t drawnRevision_ = 0;
    bool dirty_ = true;
};

[[nodiscard]] QString xAxisTitle(XAxis axis);
/// Step → bytes → simulated time → wall time → step.
[[nodiscard]] XAxis nextXAxis(XAxis axis) noexcept;

} // namespace gradlab::widgets
