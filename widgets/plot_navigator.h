// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What wheel, mouse and keys do to the window of a plot: wheel zooms x at the cursor (Shift: y), a
// drag zooms to its rectangle, Shift+drag or the middle button pans, a double click or Home shows
// everything; + and − zoom x, Page Up and Down y, arrows pan while something is zoomed.
#pragma once

#include "widgets/plot_view.h"

#include <QPointF>
#include <QRectF>
#include <QString>

#include <optional>

class QKeyEvent;
class QMouseEvent;
class QWheelEvent;

namespace gradlab::widgets {

class PlotWidget;

class PlotNavigator {
public:
    /// `plot` outlives it.
    explicit PlotNavigator(PlotWidget& plot) : plot_(plot) {}

    // True if the event was for the window of the plot.
    bool wheel(const QWheelEvent& event);
    bool press(const QMouseEvent& event);
    bool move(const QMouseEvent& event);
    bool release(const QMouseEvent& event);
    bool key(const QKeyEvent& event);
    void cancel();

    void zoomX(double factor, std::optional<double> at = std::nullopt);
    void zoomY(double factor, std::optional<double> at = std::nullopt);
    void pan(double shareX, double shareY);
    /// The rectangle being dragged, in pixels; a flat one stands for the whole other axis.
    [[nodiscard]] std::optional<QRectF> rubber() const;
    [[nodiscard]] bool isDragging() const noexcept { return drag_.has_value(); }

    static constexpr double kCloser = 0.7; ///< of a key or a menu's command
    /// One line that says how.
    [[nodiscard]] static QString hint();

private:
    struct Drag {
        QPointF from;
        QPointF to;
        bool pans = false;
        bool moved = false;
        PlotWindow before;
        AxisRange xBefore;
        AxisRange yBefore;
    };
    void panTo(const Drag& drag);
    void zoomTo(const QRectF& pixels);

    PlotWidget& plot_;
    std::optional<Drag> drag_;
};

} // namespace gradlab::widgets
