// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// One plot with lines: own ticks, log axis, gaps, reference lines, change marks, labels at the
// lines' ends, crosshair. The one place that knows Qt Charts; nobody else sees one of its types.
#pragma once

#include "widgets/plot_layout.h"
#include "widgets/theme.h"

#include <QImage>
#include <QString>
#include <QWidget>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace gradlab::widgets {

/// One line of the tooltip.
struct HoverLine {
    QString text;
    QColor colour;
    double y = 0.0; ///< where its dot goes; NaN: no dot
};
struct HoverText {
    QString title;
    std::vector<HoverLine> lines;
};

class PlotWidget : public QWidget {
    Q_OBJECT

public:
    explicit PlotWidget(QWidget* parent = nullptr);
    ~PlotWidget() override;

    void setTheme(const Theme& theme);
    void setTitle(const QString& title);
    void setXAxis(const QString& title, ValueKind kind, bool logarithmic = false);
    void setYAxis(ValueKind kind, bool logarithmic);
    /// Values beyond are drawn as marks at the border; nothing: the range follows the data.
    void setYLimits(std::optional<AxisRange> limits);
    /// Largest number of points a line may have; more are refused (GRADLAB_CHECK).
    static constexpr std::size_t kMaxPoints = 1500;

    /// Everything that changes with the data, in one call.
    void setData(std::vector<PlotLine> lines, std::vector<ReferenceLine> references,
                 std::vector<EventMark> events);
    /// Asked with the x under the cursor, in data coordinates.
    void setHoverProvider(std::function<HoverText(double x)> provider);
    /// What the tooltip says at x.
    [[nodiscard]] HoverText hoverTextAt(double x) const;
    /// What a screen reader says; applied at most once a second.
    void setSummary(const QString& text);

    /// Lays out at once; valid for the widget's present size.
    [[nodiscard]] PlotLayout layoutNow();
    /// The plot as shown, at any size (in the widget's units) and scale.
    [[nodiscard]] QImage renderImage(const QSize& size, double scale = 1.0);

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace gradlab::widgets
