// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plot_crosshair.h"

#include "widgets/plot_navigator.h"

#include <QPainter>
#include <QStringList>
#include <QToolTip>
#include <QWidget>

namespace gradlab::widgets {

namespace {

QString toolTipOf(const HoverText& hover) {
    QString html = QStringLiteral("<b>%1</b>").arg(hover.title.toHtmlEscaped());
    for (const HoverLine& line : hover.lines)
        html += QStringLiteral("<br><span style=\"color:%1\">■</span> %2")
                    .arg(line.colour.name(), line.text.toHtmlEscaped());
    return html +
           QStringLiteral("<br><small>%1</small>").arg(PlotNavigator::hint().toHtmlEscaped());
}

} // namespace

QString HoverText::spoken() const {
    QStringList parts{title};
    for (const HoverLine& line : lines)
        parts << line.text;
    return parts.join(QStringLiteral("; "));
}

void PlotCrosshair::show(const PlotLayout& layout, double pixel, HoverText text) {
    pixel_ = pixel;
    text_ = std::move(text);
    shown_ = !text_.lines.empty();
    const QPoint place(static_cast<int>(pixel_), static_cast<int>(layout.plot.center().y()));
    if (shown_)
        QToolTip::showText(owner_.mapToGlobal(place), toolTipOf(text_), &owner_);
    else
        QToolTip::hideText();
    owner_.update();
}

void PlotCrosshair::hide() {
    if (!shown_)
        return;
    shown_ = false;
    QToolTip::hideText();
    owner_.update();
}

void PlotCrosshair::paint(QPainter& painter, const PlotLayout& layout, const Theme& theme) const {
    if (!shown_)
        return;
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme.mutedText, 1.0));
    painter.drawLine(QPointF(pixel_, layout.plot.top()), QPointF(pixel_, layout.plot.bottom()));
    for (const HoverLine& line : text_.lines) {
        if (!isDrawable(line.y, layout.logY))
            continue;
        const QPointF at(pixel_, layout.mapY(line.y));
        painter.setPen(QPen(theme.background, 1.5));
        painter.setBrush(line.colour);
        if (layout.plot.contains(at))
            painter.drawEllipse(at, theme.lineWidth * 2, theme.lineWidth * 2);
    }
}

} // namespace gradlab::widgets
