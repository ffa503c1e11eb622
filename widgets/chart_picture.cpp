// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/chart_picture.h"

#include "widgets/run_chart.h"

#include <QBuffer>
#include <QMimeData>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>
#include <QStringList>
#include <QSvgGenerator>

namespace gradlab::widgets {

namespace {

constexpr int kScreenDots = 96; ///< an inch: the theme's sizes are pixels of a screen
constexpr double kPointsAPixel = 72.0 / kScreenDots;

QString description(const RunChart& chart) {
    QStringList names;
    for (const RunInfo& run : chart.runs())
        if (run.visible)
            names << run.name;
    return QStringLiteral("Gradient Lab: %1").arg(names.join(QStringLiteral(", ")));
}

void paintOn(QPaintDevice& device, const RunChart& chart, const QSize& size, const Theme& theme,
             double scale) {
    QPainter painter(&device);
    painter.scale(scale, scale);
    chart.twin(size, theme)->paint(painter);
}

QByteArray svg(const RunChart& chart, const QSize& size, const Theme& theme) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setSize(size);
    generator.setViewBox(QRect(QPoint(), size));
    // Qt 6.4 writes both as they are.
    generator.setTitle(chart.title().toHtmlEscaped());
    generator.setDescription(description(chart).toHtmlEscaped());
    paintOn(generator, chart, size, theme, 1.0);
    return bytes;
}

QByteArray pdf(const RunChart& chart, const QSize& size, const Theme& theme) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    QPdfWriter writer(&buffer);
    writer.setResolution(kScreenDots);
    writer.setPageSize(QPageSize(QSizeF(size) * kPointsAPixel, QPageSize::Point));
    writer.setPageMargins(QMarginsF());
    writer.setTitle(chart.title());
    writer.setCreator(description(chart));
    paintOn(writer, chart, size, theme, 1.0);
    return bytes;
}

} // namespace

QImage chartImage(const RunChart& chart, const QSize& size, const Theme& theme) {
    QImage image((QSizeF(size) * kPictureScale).toSize(), QImage::Format_RGB32);
    paintOn(image, chart, size, theme, kPictureScale);
    return image;
}

QByteArray chartPicture(const RunChart& chart, PictureFormat format, const QSize& size,
                        const Theme& theme) {
    if (format == PictureFormat::Svg)
        return svg(chart, size, theme);
    if (format == PictureFormat::Pdf)
        return pdf(chart, size, theme);
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    chartImage(chart, size, theme).save(&buffer, "PNG");
    return bytes;
}

QMimeData* chartForClipboard(const RunChart& chart, const QSize& size, const Theme& theme) {
    auto* data = new QMimeData;
    data->setImageData(chartImage(chart, size, theme));
    data->setData(QStringLiteral("image/svg+xml"), svg(chart, size, theme));
    return data;
}

} // namespace gradlab::widgets
