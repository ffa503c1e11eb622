// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A pen for a plot: while it is in use, the left button draws instead of zooming.
#pragma once

#include "widgets/series_store.h"

#include <QObject>

#include <optional>

namespace gradlab::widgets {

class PlotWidget;

class PredictionPen : public QObject {
    Q_OBJECT

public:
    /// `plot` is the parent.
    explicit PredictionPen(PlotWidget* plot);
    void setInUse(bool inUse);
    [[nodiscard]] bool isInUse() const noexcept { return inUse_; }

Q_SIGNALS:
    /// A piece, in data coordinates.
    void drawn(const gradlab::widgets::PlotPoint& from, const gradlab::widgets::PlotPoint& to);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    PlotWidget* plot_;
    bool inUse_ = false;
    std::optional<PlotPoint> last_; ///< while the button is down
};

} // namespace gradlab::widgets
