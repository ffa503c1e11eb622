// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What all charts of runs share: the list of runs, the x axis and the part of it that is looked at,
// smoothing, the theme, pictures, and redrawing only what has changed and can be seen. The owner
// calls refresh() from one timer, one chart a tick in turn.
#pragma once

#include "widgets/plot_widget.h"
#include "widgets/run_info.h"
#include "widgets/theme.h"

#include <QString>
#include <QStringList>
#include <QWidget>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace gradlab::widgets {

class RunChart : public QWidget {
    Q_OBJECT

public:
    explicit RunChart(QWidget* parent = nullptr);

    void setRuns(const RunList& runs);
    /// Another axis is shown whole.
    void setXAxis(XAxis axis);
    /// The part of the x axis that every plot shows; nothing: all of it.
    void setXWindow(const std::optional<AxisRange>& window);
    /// Of noisy lines, in steps (RunSeries::smoothed); 1: none.
    void setSmoothing(double steps);
    /// Runs of one experiment from several seeds as their mean and its spread, where the chart can.
    void setSeedsTogether(bool together);
    void setTheme(const Theme& theme);
    /// Draws if something changed since the last time and the chart is visible; says whether it
    /// did.
    bool refresh();
    /// A chart of its own that shows the same, of that size and never on the screen.
    [[nodiscard]] std::unique_ptr<RunChart> twin(const QSize& size, const Theme& theme) const;
    /// All of it, lines as lines: on any device, of its size, at the painter's origin.
    void paint(QPainter& painter);

    /// Whether something else than new records waits to be drawn.
    [[nodiscard]] bool isOutdated() const noexcept { return dirty_; }
    [[nodiscard]] XAxis xAxis() const noexcept { return xAxis_; }
    [[nodiscard]] const std::optional<AxisRange>& xWindow() const noexcept { return xWindow_; }
    [[nodiscard]] const RunList& runs() const noexcept { return runs_; }
    /// Its plots with axes.
    [[nodiscard]] const std::vector<PlotWidget*>& plots() const noexcept { return plots_; }
    [[nodiscard]] QString title() const { return accessibleName(); }
    /// The fields of a run's log that it draws ("loss", "cpu.forward").
    [[nodiscard]] virtual QStringList logFields() const = 0;

    /// Points a line may have: fewer when many runs are shown.
    [[nodiscard]] std::size_t pointsPerLine() const;

Q_SIGNALS:
    /// The person zoomed or panned along x.
    void xWindowChanged(const std::optional<gradlab::widgets::AxisRange>& window);
    /// One of its parts got the keyboard: commands go here.
    void activated();
    /// What can be done with it is wanted as a menu.
    void menuRequested(const QPoint& globalPosition);

protected:
    /// @param name stable, for settings and file names
    /// @param own an x axis that setXAxis() and setXWindow() leave alone
    void addPlot(PlotWidget* plot, const QString& name, std::optional<XAxis> own = std::nullopt);
    virtual void redraw() = 0;
    /// Something else than records and settings has changed: the next refresh() draws.
    void outdate() noexcept { dirty_ = true; }
    virtual void applyTheme() = 0;
    virtual void paintParts(QPainter& painter);
    /// Another one of its class, without parent.
    [[nodiscard]] virtual std::unique_ptr<RunChart> fresh() const = 0;
    [[nodiscard]] const Theme& theme() const noexcept { return theme_; }
    [[nodiscard]] bool areSeedsTogether() const noexcept { return seedsTogether_; }
    [[nodiscard]] XAxis axisOf(const PlotWidget& plot) const;
    /// A run's line of a metric: what the plot looks at, with as many points as their number
    /// allows.
    [[nodiscard]] PlotLine line(const PlotWidget& plot, const RunInfo& run, Metric metric,
                                bool thick, const QString& label) const;
    /// The same smoothed, before it the raw values, thin and pale.
    void addNoisyLine(std::vector<PlotLine>& lines, const PlotWidget& plot, const RunInfo& run,
                      Metric metric, bool thick, const QString& label) const;
    /// Every change of the shown runs; the same one of several runs at one place is marked once.
    [[nodiscard]] std::vector<EventMark> changeMarks(const PlotWidget& plot) const;
    /// Title, kind and scale of the x axis. Bytes and simulated time are logarithmic once the runs
    /// have come to very different places.
    void applyXAxis(PlotWidget& plot) const;
    /// One line of tooltip for each shown run that has got as far as x; none where `text` is empty.
    [[nodiscard]] HoverText hoverText(const PlotWidget& plot, double x, Metric dot,
                                      const std::function<QString(const RunInfo&)>& text) const;
    /// Whether the chart is wide enough for two plots in the theme's type.
    [[nodiscard]] bool hasRoomForTwo() const;
    /// Visible runs that have data.
    [[nodiscard]] RunList shownRuns() const;
    void showEvent(QShowEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    [[nodiscard]] std::uint64_t revision() const;
    void drawNow();
    void followWindow(const PlotWidget& plot);
    [[nodiscard]] std::optional<AxisRange> xExtent(XAxis axis) const;
    [[nodiscard]] QString labelOf(const RunInfo& run, QString label) const;
    [[nodiscard]] SeriesStore::Query queryFor(const PlotWidget& plot) const;

    RunList runs_;
    std::vector<PlotWidget*> plots_;            ///< children
    std::vector<std::optional<XAxis>> ownAxes_; ///< of plots_
    XAxis xAxis_ = XAxis::Step;
    std::optional<AxisRange> xWindow_;
    double smoothing_ = 1.0;
    bool seedsTogether_ = true;
    Theme theme_ = Theme::make(false, false);
    std::uint64_t drawnRevision_ = 0;
    bool dirty_ = true;
};

[[nodiscard]] QString xAxisTitle(XAxis axis);
/// Step → bytes → simulated time → wall time → epoch → tokens → step.
[[nodiscard]] XAxis nextXAxis(XAxis axis) noexcept;

} // namespace gradlab::widgets
