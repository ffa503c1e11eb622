// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A chart as a picture for people who have not this program: PNG at twice the size, SVG and PDF
// with lines as lines and text as text, a picture for the clipboard. Made from a twin of the chart,
// so that the one on the screen is left alone. Leaves out: files.
#pragma once

#include <QByteArray>
#include <QImage>
#include <QSize>

class QMimeData;

namespace gradlab::widgets {

class RunChart;
struct Theme;

enum class PictureFormat { Png, Svg, Pdf };

inline constexpr double kPictureScale = 2.0; ///< of PNG and clipboard

[[nodiscard]] QImage chartImage(const RunChart& chart, const QSize& size, const Theme& theme);
/// The whole file.
[[nodiscard]] QByteArray chartPicture(const RunChart& chart, PictureFormat format,
                                      const QSize& size, const Theme& theme);
/// Picture and SVG; the caller owns it.
[[nodiscard]] QMimeData* chartForClipboard(const RunChart& chart, const QSize& size,
                                           const Theme& theme);

} // namespace gradlab::widgets
