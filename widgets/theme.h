// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Colours and sizes of every widget, for light and dark palettes and for the projector. Run colours
// have Okabe-Ito's hues, 3:1 against the background, and differ for colour-blind eyes too.
#pragma once

#include <QColor>
#include <QFont>
#include <QPalette>

namespace gradlab::widgets {

struct Theme {
    bool dark = false;
    bool presentation = false;
    QColor background; ///< of charts and strip
    QColor text;
    QColor mutedText; ///< 4.5:1 too
    QColor grid;
    QColor axis;
    QColor mark;    ///< reference lines and changes
    QColor error;   ///< text and icon
    QColor warning; ///< text and icon
    QColor better;  ///< text: a number that beats the baseline's
    QColor worse;   ///< text: one that does not
    QColor errorBackground;
    QColor warningBackground;
    QColor compute; ///< parts of a step
    QColor compression;
    QColor network;
    QColor server;
    QColor turn;
    int textPixels = 12;
    int titlePixels = 13;
    int bigPixels = 26;
    double lineWidth = 2.0;
    double thinLineWidth = 1.0;

    static constexpr int kRunColours = 8;
    /// Colours repeat after kRunColours.
    [[nodiscard]] QColor runColour(int index) const;
    [[nodiscard]] QFont font(int pixels, bool bold = false) const;

    [[nodiscard]] static Theme make(bool dark, bool presentation);
    [[nodiscard]] static Theme fromPalette(const QPalette& palette, bool presentation);
};

/// By lightness of window and text: QStyleHints::colorScheme() needs Qt 6.5.
[[nodiscard]] bool isDark(const QPalette& palette);
/// A palette for QApplication::setPalette (with the Fusion style).
[[nodiscard]] QPalette themePalette(bool dark);
/// WCAG 2 contrast ratio of two opaque colours, 1…21.
[[nodiscard]] double contrastRatio(const QColor& a, const QColor& b);

} // namespace gradlab::widgets
