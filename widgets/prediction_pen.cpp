// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/prediction_pen.h"

#include "widgets/plot_widget.h"

#include <QMouseEvent>

namespace gradlab::widgets {

PredictionPen::PredictionPen(PlotWidget* plot) : QObject(plot), plot_(plot) {
    plot->installEventFilter(this);
}

void PredictionPen::setInUse(bool inUse) {
    inUse_ = inUse;
    last_.reset();
    if (inUse)
        plot_->setCursor(Qt::CrossCursor);
    else
        plot_->unsetCursor();
}

bool PredictionPen::eventFilter(QObject* /*watched*/, QEvent* event) {
    if (!inUse_)
        return false;
    const auto* mouse = dynamic_cast<QMouseEvent*>(event);
    if (mouse == nullptr)
        return false;
    const auto here = [&]() -> PlotPoint {
        const QPointF value = plot_->valueAt(mouse->position());
        return {value.x(), value.y()};
    };
    switch (event->type()) {
    case QEvent::MouseButtonPress:
        if (mouse->button() != Qt::LeftButton || !plot_->isInside(mouse->position()))
            return false;
        last_ = here();
        return true;
    case QEvent::MouseMove: {
        if (!last_)
            return false;
        const PlotPoint now = here();
        Q_EMIT drawn(*last_, now);
        last_ = now;
        return true;
    }
    case QEvent::MouseButtonRelease:
        if (!last_)
            return false;
        last_.reset();
        return true;
    case QEvent::MouseButtonDblClick:
        return mouse->button() == Qt::LeftButton;
    default:
        return false;
    }
}

} // namespace gradlab::widgets
