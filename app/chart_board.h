// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The strip and the charts of the window, with the timer that redraws them one a tick in turn.
#pragma once

#include "widgets/run_chart.h"

#include <QPointer>
#include <QTimer>
#include <QWidget>

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

class QSettings;
class QSplitter;
class QTabWidget;

namespace gradlab::widgets {
class PerplexityChart;
class RunStrip;
} // namespace gradlab::widgets

namespace gradlab::app {

class ChartBoard : public QWidget {
    Q_OBJECT

public:
    static constexpr double kFirstSmoothing = 8.0; ///< steps

    explicit ChartBoard(QWidget* parent = nullptr);

    void setRuns(const widgets::RunList& runs);
    void setTheme(const widgets::Theme& theme);
    void setXAxis(widgets::XAxis axis);
    [[nodiscard]] widgets::XAxis xAxis() const noexcept { return xAxis_; }
    /// Linked: all charts show the same part of the x axis.
    void setXLinked(bool linked);
    [[nodiscard]] bool isXLinked() const noexcept { return xLinked_; }
    /// Every plot whole again, following its runs.
    void showAll();
    void setSmoothing(double steps);
    [[nodiscard]] double smoothing() const noexcept { return smoothing_; }
    /// Runs of one experiment from several seeds as mean and spread.
    void setSeedsTogether(bool together);
    /// This part of the x axis in the large chart, and in the others if they are linked.
    void showX(const widgets::AxisRange& part);
    /// The Pareto front in the place of the perplexity.
    void showPareto(bool shown);
    [[nodiscard]] bool isParetoShown() const;
    /// The chart that had the keyboard last, if it is visible; else the large one.
    [[nodiscard]] widgets::RunChart* currentChart() const;
    /// The same of plots with axes.
    [[nodiscard]] widgets::PlotWidget* currentPlot() const;
    [[nodiscard]] widgets::PerplexityChart* perplexityChart() const;
    [[nodiscard]] const widgets::Theme& theme() const noexcept { return theme_; }
    /// Strip and every chart at once, for a picture.
    void refreshAll();
    [[nodiscard]] const std::vector<widgets::RunChart*>& charts() const noexcept { return charts_; }

    [[nodiscard]] QByteArray saveSplitters() const;
    void restoreSplitters(const QByteArray& state);
    void resetSplitters();
    /// Percent of the width for the large chart, and of the height for each of the small ones.
    void setShares(int large, const std::array<int, 3>& small);
    /// Scales that were chosen, smoothing, what is linked.
    void saveView(QSettings& settings) const;
    void restoreView(const QSettings& settings);

Q_SIGNALS:
    void runClicked(int id);
    void xAxisChanged(gradlab::widgets::XAxis axis);
    void currentChartChanged();
    void menuRequested(const QPoint& globalPosition);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void layOut();
    void connectCharts();
    void followXWindow(const widgets::RunChart* from,
                       const std::optional<widgets::AxisRange>& window);
    bool refreshOutdated();
    void answer();
    void catchUp();
    void refreshNext();
    [[nodiscard]] widgets::RunChart* largeChart() const;

    widgets::RunStrip* strip_;
    QSplitter* columns_;
    QSplitter* stack_;
    QTabWidget* large_;
    std::vector<widgets::RunChart*> charts_; ///< perplexity, traffic, time, sparsity, Pareto
    std::size_t next_ = 0;
    std::size_t nextOutdated_ = 0;
    widgets::XAxis xAxis_ = widgets::XAxis::Step;
    bool xLinked_ = true;
    double smoothing_ = kFirstSmoothing;
    widgets::Theme theme_ = widgets::Theme::make(false, false);
    QPointer<widgets::RunChart> lastChart_;
    QPointer<widgets::PlotWidget> lastPlot_;
    bool moved_ = false; ///< the person set the splitters: keep them
    QTimer timer_;
};

} // namespace gradlab::app
