// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/live_button.h"

#include "widgets/icons.h"

#include <algorithm>

namespace gradlab::widgets {

LiveButton::LiveButton(QWidget* plot) : QToolButton(plot) {
    setObjectName(QStringLiteral("liveButton"));
    setText(tr("Live"));
    setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    setFocusPolicy(Qt::TabFocus);
    setCursor(Qt::ArrowCursor);
    setToolTip(tr("The view is held while the run goes on. Show everything again and follow it "
                  "(Home, or a double click)"));
    setAccessibleName(tr("Show everything and follow the run"));
}

void LiveButton::setTheme(const Theme& theme) {
    setPalette(themePalette(theme.dark));
    setFont(theme.font(theme.textPixels));
    setIcon(widgets::icon(IconName::Reset, theme.text, theme.mutedText));
    lineHeight_ =
        QFontMetrics(theme.font(theme.titlePixels, true)).height() + 1; // no label under it
}

double LiveButton::place(bool shown) {
    const QSize wanted = sizeHint();
    setGeometry(parentWidget()->width() - wanted.width() - 2, 1, wanted.width(),
                std::min(wanted.height(), lineHeight_));
    setVisible(shown);
    return shown ? wanted.width() + 4.0 : 0.0;
}

} // namespace gradlab::widgets
