// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The crosshair of a plot: a vertical line, a dot on every line that it reads, and their values as
// a tooltip.
#pragma once

#include "widgets/plot_layout.h"

#include <QColor>
#include <QString>

#include <vector>

class QPainter;
class QWidget;

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
    /// In one sentence, for a screen reader.
    [[nodiscard]] QString spoken() const;
};

class PlotCrosshair {
public:
    /// `owner` outlives it.
    explicit PlotCrosshair(QWidget& owner) : owner_(owner) {}

    /// At `pixel` across; hides where there is nothing to read.
    void show(const PlotLayout& layout, double pixel, HoverText text);
    void hide();
    void paint(QPainter& painter, const PlotLayout& layout, const Theme& theme) const;
    [[nodiscard]] bool isShown() const noexcept { return shown_; }
    [[nodiscard]] double pixel() const noexcept { return pixel_; }

private:
    QWidget& owner_;
    HoverText text_;
    double pixel_ = 0.0;
    bool shown_ = false;
};

} // namespace gradlab::widgets
