// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A paint device that draws nothing and keeps every piece of text with its colour and place: what
// a widget really writes, whatever its code or style looked up.
#pragma once

#include <QColor>
#include <QPaintDevice>
#include <QPaintEngine>
#include <QPainter>
#include <QPainterPath>
#include <QRectF>
#include <QSize>
#include <QString>

#include <utility>
#include <vector>

namespace gradlab::tests {

struct Ink {
    QString text;
    QColor colour;
    QRectF box; ///< device pixels; only what is not clipped
};

class InkRecorder final : public QPaintDevice {
public:
    explicit InkRecorder(const QSize& size) : size_(size) {}
    [[nodiscard]] QPaintEngine* paintEngine() const override { return &engine_; }
    [[nodiscard]] const std::vector<Ink>& inks() const noexcept { return engine_.inks; }

protected:
    [[nodiscard]] int metric(PaintDeviceMetric metric) const override {
        constexpr int kDots = 96;
        constexpr double kMillimetres = 25.4;
        switch (metric) {
        case PdmWidth:
            return size_.width();
        case PdmHeight:
            return size_.height();
        case PdmWidthMM:
            return static_cast<int>(size_.width() * kMillimetres / kDots);
        case PdmHeightMM:
            return static_cast<int>(size_.height() * kMillimetres / kDots);
        case PdmNumColors:
            return 1 << 24;
        case PdmDepth:
            return 32;
        case PdmDpiX:
        case PdmDpiY:
        case PdmPhysicalDpiX:
        case PdmPhysicalDpiY:
            return kDots;
        case PdmDevicePixelRatio:
            return 1;
        case PdmDevicePixelRatioScaled:
            return static_cast<int>(devicePixelRatioFScale());
        default:
            return QPaintDevice::metric(metric);
        }
    }

private:
    class Engine final : public QPaintEngine {
    public:
        Engine() : QPaintEngine(QPaintEngine::AllFeatures) {}
        bool begin(QPaintDevice* /*device*/) override { return true; }
        bool end() override { return true; }
        void updateState(const QPaintEngineState& /*state*/) override {}
        void drawPixmap(const QRectF& /*to*/, const QPixmap& /*what*/,
                        const QRectF& /*from*/) override {}
        void drawImage(const QRectF& /*to*/, const QImage& /*what*/, const QRectF& /*from*/,
                       Qt::ImageConversionFlags /*flags*/) override {}
        void drawPath(const QPainterPath& /*path*/) override {}
        void drawPolygon(const QPointF* /*points*/, int /*count*/,
                         PolygonDrawMode /*mode*/) override {}
        void drawTextItem(const QPointF& at, const QTextItem& item) override {
            const QRectF own(at.x(), at.y() - item.ascent(), item.width(),
                             item.ascent() + item.descent());
            QRectF box = painter()->deviceTransform().mapRect(own);
            if (!systemClip().isEmpty())
                box &= QRectF(systemClip().boundingRect());
            if (painter()->hasClipping())
                box &= painter()->deviceTransform().mapRect(painter()->clipBoundingRect());
            if (box.isValid() && !item.text().trimmed().isEmpty())
                inks.push_back({item.text(), painter()->pen().color(), box});
        }
        [[nodiscard]] Type type() const override { return QPaintEngine::User; }
        std::vector<Ink> inks;
    };
    QSize size_;
    mutable Engine engine_;
};

} // namespace gradlab::tests
