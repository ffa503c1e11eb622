// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// One plot with lines: own ticks, log axis, gaps, reference lines, change marks, labels at the
// lines' ends, crosshair, zoom and pan. The one place that knows Qt Charts; nobody else sees one of
// its types.
#pragma once

#include "widgets/plot_crosshair.h"
#include "widgets/plot_layout.h"
#include "widgets/theme.h"

#include <QString>
#include <QWidget>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace gradlab::widgets {

/// The axes as they are now.
struct PlotScales {
    PlotRanges shown;
    PlotRanges full; ///< without the window
    bool logX = false;
    bool logY = false;
};

class PlotWidget : public QWidget {
    Q_OBJECT

public:
    explicit PlotWidget(QWidget* parent = nullptr);
    ~PlotWidget() override;

    void setTheme(const Theme& theme);
    void setTitle(const QString& title);
    void setXAxis(const QString& title, ValueKind kind, bool logarithmic = false);
    /// `logarithmic` as the chart likes it; the person's choice with setLogarithmicY goes before.
    void setYAxis(ValueKind kind, bool logarithmic);
    void setLogarithmicY(std::optional<bool> chosen);
    [[nodiscard]] bool isLogarithmicY() const;
    [[nodiscard]] std::optional<bool> chosenLogarithmicY() const;
    /// Values beyond are drawn as marks at the border; nothing: the range follows the data.
    void setYLimits(std::optional<AxisRange> limits);
    /// Along x, of all data, where setData() gives only those in the window.
    void setXExtent(std::optional<AxisRange> extent);
    /// Largest number of points a line may have; more are refused (GRADLAB_CHECK).
    static constexpr std::size_t kMaxPoints = 1500;

    /// Everything that changes with the data, in one call. While x is zoomed y stays as it is, so
    /// that a run that goes on moves nothing; after refit() it follows the new data once.
    void setData(std::vector<PlotLine> lines, std::vector<ReferenceLine> references,
                 std::vector<EventMark> events, std::vector<PlotBand> bands = {});
    void refit();
    /// Asked with the x under the cursor, in data coordinates.
    void setHoverProvider(std::function<HoverText(double x)> provider);
    /// What the tooltip says at x.
    [[nodiscard]] HoverText hoverTextAt(double x) const;
    /// What a screen reader says; applied at most once a second.
    void setSummary(const QString& text);

    [[nodiscard]] const PlotWindow& window() const;
    void setWindow(const PlotWindow& window);
    /// As setWindow(), and says so with windowChanged(): what the person's hands do.
    void changeWindow(const PlotWindow& window);
    void showAll() { changeWindow({}); }
    /// A step of zoom on both sides of the crosshair, or of the middle.
    void zoom(bool closer);

    [[nodiscard]] PlotScales scales();
    /// Of the last layout, in the widget's coordinates.
    [[nodiscard]] QRectF plotArea() const;
    [[nodiscard]] bool isInside(const QPointF& pixel) const { return plotArea().contains(pixel); }
    /// Values at a pixel, of the plot's border beyond it.
    [[nodiscard]] QPointF valueAt(const QPointF& pixel);
    /// Where the crosshair is along x; nothing while it is hidden.
    [[nodiscard]] std::optional<double> crosshair();

    /// Lays out at once; valid for the widget's present size.
    [[nodiscard]] PlotLayout layoutNow();
    /// The plot at any size, lines as lines, for any device; leaves what is on the screen alone.
    void paintTo(QPainter& painter, const QSizeF& size);

    [[nodiscard]] QSize sizeHint() const override { return {480, 260}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {120, 90}; }

Q_SIGNALS:
    void windowChanged(const gradlab::widgets::PlotWindow& window);
    /// It got the keyboard: commands go here.
    void activated();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace gradlab::widgets
