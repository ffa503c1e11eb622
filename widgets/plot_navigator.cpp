// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plot_navigator.h"

#include "widgets/plot_widget.h"

#include <QApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace gradlab::widgets {

namespace {

constexpr double kWheelStep = 0.8;  ///< of the width, a notch
constexpr double kWheelPan = 0.1;   ///< a notch sideways
constexpr double kKeyPan = 0.1;     ///< an arrow key
constexpr double kNotch = 120.0;    ///< eighths of a degree
constexpr double kFlatPixels = 8.0; ///< a rectangle as flat as that means one axis only

double middleOf(AxisRange range, bool logarithmic) {
    return logarithmic ? std::sqrt(range.from * range.to) : (range.from + range.to) / 2.0;
}

} // namespace

QString PlotNavigator::hint() {
    return PlotWidget::tr("Wheel or + − zooms x (Shift, Page Up: y), a drag its rectangle; "
                          "Shift+drag or arrows pan; double click or Home: all");
}

void PlotNavigator::zoomX(double factor, std::optional<double> at) {
    const PlotScales now = plot_.scales();
    const double fixed = at.value_or(middleOf(now.shown.x, now.logX));
    PlotWindow window = plot_.window();
    window.x = confined(zoomed(now.shown.x, fixed, factor, now.logX), now.full.x, now.logX);
    plot_.changeWindow(window);
}

void PlotNavigator::zoomY(double factor, std::optional<double> at) {
    const PlotScales now = plot_.scales();
    const double fixed = at.value_or(middleOf(now.shown.y, now.logY));
    PlotWindow window = plot_.window();
    window.y = confined(zoomed(now.shown.y, fixed, factor, now.logY), now.full.y, now.logY);
    plot_.changeWindow(window);
}

void PlotNavigator::pan(double shareX, double shareY) {
    const PlotScales now = plot_.scales();
    PlotWindow window = plot_.window();
    if (window.x && shareX != 0.0)
        window.x = confined(panned(now.shown.x, shareX, now.logX), now.full.x, now.logX);
    if (window.y && shareY != 0.0)
        window.y = confined(panned(now.shown.y, shareY, now.logY), now.full.y, now.logY);
    plot_.changeWindow(window);
}

bool PlotNavigator::wheel(const QWheelEvent& event) {
    const QPoint delta = event.angleDelta();
    const bool shift = event.modifiers().testFlag(Qt::ShiftModifier);
    const PlotWindow before = plot_.window();
    if (!shift && std::abs(delta.x()) > std::abs(delta.y())) {
        pan(-kWheelPan * delta.x() / kNotch, 0.0);
    } else {
        // With Shift some systems turn the wheel sideways.
        const int turned = delta.y() != 0 ? delta.y() : delta.x();
        const double factor = std::pow(kWheelStep, turned / kNotch);
        const QPointF at = plot_.valueAt(event.position());
        shift ? zoomY(factor, at.y()) : zoomX(factor, at.x());
    }
    return plot_.window().isZoomed() || before.isZoomed();
}

bool PlotNavigator::press(const QMouseEvent& event) {
    const bool shift = event.modifiers().testFlag(Qt::ShiftModifier);
    const bool middle = event.button() == Qt::MiddleButton;
    if ((event.button() != Qt::LeftButton && !middle) || !plot_.isInside(event.position()))
        return false;
    const AxisRange x = plot_.scales().shown.x;
    const AxisRange y = plot_.scales().shown.y;
    drag_ = Drag{event.position(), event.position(), middle || shift, false, plot_.window(), x, y};
    return true;
}

bool PlotNavigator::move(const QMouseEvent& event) {
    if (!drag_)
        return false;
    drag_->to = event.position();
    const QPointF way = drag_->to - drag_->from;
    drag_->moved = drag_->moved || way.manhattanLength() >= QApplication::startDragDistance();
    if (drag_->moved && drag_->pans) {
        plot_.setCursor(Qt::ClosedHandCursor);
        panTo(*drag_);
    }
    plot_.update();
    return true;
}

bool PlotNavigator::release(const QMouseEvent& event) {
    if (!drag_)
        return false;
    drag_->to = event.position();
    const std::optional<QRectF> pixels = rubber();
    drag_.reset();
    plot_.unsetCursor();
    if (pixels)
        zoomTo(*pixels);
    plot_.update();
    return true;
}

void PlotNavigator::cancel() {
    if (!drag_)
        return;
    const PlotWindow before = drag_->before;
    drag_.reset();
    plot_.unsetCursor();
    plot_.changeWindow(before);
    plot_.update();
}

void PlotNavigator::panTo(const Drag& drag) {
    const PlotScales now = plot_.scales();
    const QRectF area = plot_.plotArea();
    const double shareX = (drag.from.x() - drag.to.x()) / area.width();
    const double shareY = (drag.to.y() - drag.from.y()) / area.height();
    PlotWindow window = drag.before;
    if (window.x)
        window.x = confined(panned(drag.xBefore, shareX, now.logX), now.full.x, now.logX);
    if (window.y)
        window.y = confined(panned(drag.yBefore, shareY, now.logY), now.full.y, now.logY);
    plot_.changeWindow(window);
}

std::optional<QRectF> PlotNavigator::rubber() const {
    if (!drag_ || !drag_->moved || drag_->pans)
        return std::nullopt;
    const QRectF area = plot_.plotArea();
    QRectF pixels = QRectF(drag_->from, drag_->to).normalized();
    if (pixels.height() < kFlatPixels) {
        pixels.setTop(area.top());
        pixels.setBottom(area.bottom());
    } else if (pixels.width() < kFlatPixels) {
        pixels.setLeft(area.left());
        pixels.setRight(area.right());
    }
    return pixels.intersected(area);
}

void PlotNavigator::zoomTo(const QRectF& pixels) {
    if (pixels.width() < 1.0 || pixels.height() < 1.0)
        return;
    const QRectF area = plot_.plotArea();
    const PlotScales now = plot_.scales();
    const QPointF low = plot_.valueAt(pixels.bottomLeft());
    const QPointF high = plot_.valueAt(pixels.topRight());
    PlotWindow window = plot_.window();
    if (pixels.width() < area.width() - 0.5)
        window.x = confined({low.x(), high.x()}, now.full.x, now.logX);
    if (pixels.height() < area.height() - 0.5)
        window.y = confined({low.y(), high.y()}, now.full.y, now.logY);
    plot_.changeWindow(window);
}

bool PlotNavigator::key(const QKeyEvent& event) {
    const bool zoomedIn = plot_.window().isZoomed();
    const bool arrows = zoomedIn && !event.modifiers().testFlag(Qt::ShiftModifier);
    switch (event.key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal: // the same key without Shift on many keyboards
        zoomX(kCloser, plot_.crosshair());
        return true;
    case Qt::Key_Minus:
        zoomX(1.0 / kCloser, plot_.crosshair());
        return true;
    case Qt::Key_PageUp:
        zoomY(kCloser);
        return true;
    case Qt::Key_PageDown:
        zoomY(1.0 / kCloser);
        return true;
    case Qt::Key_Home:
        plot_.showAll();
        return true;
    case Qt::Key_Left:
    case Qt::Key_Right:
        if (arrows)
            pan(event.key() == Qt::Key_Left ? -kKeyPan : kKeyPan, 0.0);
        return arrows;
    case Qt::Key_Up:
    case Qt::Key_Down:
        if (arrows)
            pan(0.0, event.key() == Qt::Key_Down ? -kKeyPan : kKeyPan);
        return arrows;
    default:
        return false;
    }
}

} // namespace gradlab::widgets
