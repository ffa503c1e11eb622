// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Paints everything of a plot but its lines: below them grid, axes and reference lines, above them
// labels, dots and marks at the border.
#pragma once

#include "widgets/plot_layout.h"

class QPainter;

namespace gradlab::widgets {

void paintPlotBackground(QPainter& painter, const PlotContent& content, const PlotLayout& layout,
                         const Theme& theme);
/// The lines themselves, without Qt Charts: one polyline for each piece that is inside the plot,
/// cut at its border (a device may know no clipping).
void paintPlotLines(QPainter& painter, const PlotContent& content, const PlotLayout& layout,
                    const Theme& theme);
void paintPlotForeground(QPainter& painter, const PlotContent& content, const PlotLayout& layout,
                         const Theme& theme);

} // namespace gradlab::widgets
