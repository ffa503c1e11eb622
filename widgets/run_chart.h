// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What all charts of runs share: the list of runs, the x axis, the theme, and redrawing only what
// has changed and can be seen. The owner calls refresh() from one timer, one chart a tick in turn.
#pragma once

#include "widgets/plot_widget.h"
#include "widgets/run_info.h"
#include "widgets/theme.h"

#include <QImage>
#include <QString>
#include <QWidget>

#include <functional>
#include <vector>

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
    /// A run's line of a metric, with as many points as its number allows.
    [[nodiscard]] PlotLine line(const RunInfo& run, Metric metric, bool thick,
                                const QString& label) const;
    /// Every change of the shown runs; the same one of several runs at one place is marked once.
    [[nodiscard]] std::vector<EventMark> changeMarks() const;
    /// Title, kind and scale of the x axis. Bytes and simulated time are logarithmic once the runs
    /// have come to very different places.
    void applyXAxis(PlotWidget& plot) const;
    /// One line of tooltip for each shown run that has got as far as x.
    [[nodiscard]] HoverText hoverText(double x, Metric dot,
                                      const std::function<QString(const RunInfo&)>& text) const;
    /// Whether the chart is wide enough for two plots in the theme's type.
    [[nodiscard]] bool hasRoomForTwo() const;
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
