// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/theme.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gradlab::widgets {

namespace {

// Okabe-Ito's hues: blue, vermilion, green, purple, ochre, sky, then dark green or yellow, and
// grey; moved until each has 3:1 against its background and any two are as far apart for red- and
// green-blind eyes as Okabe-Ito's own (tests/widgets/test_colours).
constexpr std::array<QRgb, Theme::kRunColours> kLightRuns{
    0xff0a74c6, 0xffd8610b, 0xff26a17c, 0xffb05d8c, 0xff957251, 0xff2296f5, 0xff086223, 0xff484645};
constexpr std::array<QRgb, Theme::kRunColours> kDarkRuns{
    0xff09a2fe, 0xffe98649, 0xff1bca9f, 0xffe191be, 0xffa86516, 0xffa6e1ff, 0xffeae10f, 0xffd7e0dd};

double linear(double channel) {
    return channel <= 0.03928 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

double luminance(const QColor& colour) {
    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) +
           0.0722 * linear(colour.blueF());
}

void setLightColours(Theme& theme) {
    theme.background = QColor(0xffffff);
    theme.text = QColor(0x1c1f23);
    theme.mutedText = QColor(0x5a6068);
    theme.grid = QColor(0xe4e7ea);
    theme.axis = QColor(0x868d95);
    theme.mark = QColor(0x5a6068);
    theme.error = QColor(0xb3261e);
    theme.warning = QColor(0x8a5200);
    theme.better = QColor(0x00639c);
    theme.worse = QColor(0xa84a00);
    theme.errorBackground = QColor(0xfdecea);
    theme.warningBackground = QColor(0xfff4e0);
    theme.compute = QColor(0x5f6b76);
    theme.compression = QColor(0xc77700);
    theme.network = QColor(0x7b52ab);
    theme.server = QColor(0x2a8787);
    theme.turn = QColor(0x8c8c8c);
}

void setDarkColours(Theme& theme) {
    theme.background = QColor(0x1b1e23);
    theme.text = QColor(0xe8eaed);
    theme.mutedText = QColor(0xa9b0b8);
    theme.grid = QColor(0x32373e);
    theme.axis = QColor(0x6c747d);
    theme.mark = QColor(0xa9b0b8);
    theme.error = QColor(0xff8a80);
    theme.warning = QColor(0xffc266);
    theme.better = QColor(0x7cc0ff);
    theme.worse = QColor(0xff9d66);
    theme.errorBackground = QColor(0x3b2020);
    theme.warningBackground = QColor(0x3a2e17);
    theme.compute = QColor(0x94a3b3);
    theme.compression = QColor(0xf0a030);
    theme.network = QColor(0xb79ae8);
    theme.server = QColor(0x5cc2c2);
    theme.turn = QColor(0x868686);
}

} // namespace

QColor Theme::runColour(int index) const {
    const auto slot = static_cast<std::size_t>(std::abs(index) % kRunColours);
    return QColor::fromRgb(dark ? kDarkRuns[slot] : kLightRuns[slot]);
}

QFont Theme::font(int pixels, bool bold) const {
    QFont font;
    font.setPixelSize(pixels);
    font.setBold(bold);
    return font;
}

Theme Theme::make(bool dark, bool presentation) {
    Theme theme;
    theme.dark = dark;
    theme.presentation = presentation;
    if (dark)
        setDarkColours(theme);
    else
        setLightColours(theme);
    if (presentation) {
        theme.textPixels = 20;
        theme.titlePixels = 22;
        theme.bigPixels = 44;
        theme.lineWidth = 4.0;
        theme.thinLineWidth = 3.0;
    }
    return theme;
}

Theme Theme::fromPalette(const QPalette& palette, bool presentation) {
    return make(isDark(palette), presentation);
}

bool isDark(const QPalette& palette) {
    return palette.color(QPalette::Window).lightness() <
           palette.color(QPalette::WindowText).lightness();
}

QPalette themePalette(bool dark) {
    const Theme theme = Theme::make(dark, false);
    QPalette palette(dark ? QColor(0x262a30) : QColor(0xf1f3f5));
    palette.setColor(QPalette::Window, dark ? QColor(0x262a30) : QColor(0xf1f3f5));
    palette.setColor(QPalette::WindowText, theme.text);
    palette.setColor(QPalette::Base, theme.background);
    palette.setColor(QPalette::AlternateBase, dark ? QColor(0x23272d) : QColor(0xf6f8fa));
    palette.setColor(QPalette::Text, theme.text);
    palette.setColor(QPalette::PlaceholderText, theme.mutedText);
    palette.setColor(QPalette::Button, dark ? QColor(0x343a42) : QColor(0xe9ecef));
    palette.setColor(QPalette::ButtonText, theme.text);
    palette.setColor(QPalette::ToolTipBase, dark ? QColor(0x343a42) : QColor(0xffffff));
    palette.setColor(QPalette::ToolTipText, theme.text);
    palette.setColor(QPalette::Highlight, dark ? QColor(0x2f6fab) : QColor(0x0072b2));
    palette.setColor(QPalette::HighlightedText, QColor(0xffffff));
    palette.setColor(QPalette::Link, theme.runColour(0));
    for (const QPalette::ColorRole role :
         {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, dark ? QColor(0x7d848c) : QColor(0x8a9199));
    return palette;
}

double contrastRatio(const QColor& a, const QColor& b) {
    const double first = luminance(a);
    const double second = luminance(b);
    return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

} // namespace gradlab::widgets
