// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The strip and the four charts of the window, with the timer that redraws them one a tick in turn.
#pragma once

#include "widgets/run_chart.h"

#include <QTimer>
#include <QWidget>

#include <cstddef>
#include <vector>

class QSplitter;

namespace gradlab::widgets {
class RunStrip;
}

namespace gradlab::app {

class ChartBoard : public QWidget {
    Q_OBJECT

public:
    explicit ChartBoard(QWidget* parent = nullptr);

    void setRuns(const widgets::RunList& runs);
    void setTheme(const widgets::Theme& theme);
    void setXAxis(widgets::XAxis axis);
    [[nodiscard]] widgets::XAxis xAxis() const noexcept { return xAxis_; }
    /// Strip and every chart at once, for a picture.
    void refreshAll();
    [[nodiscard]] const std::vector<widgets::RunChart*>& charts() const noexcept { return charts_; }

    [[nodiscard]] QByteArray saveSplitters() const;
    void restoreSplitters(const QByteArray& state);
    void resetSplitters();

Q_SIGNALS:
    void runClicked(int id);
    void xAxisChanged(gradlab::widgets::XAxis axis);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void layOut();
    void refreshNext();

    widgets::RunStrip* strip_;
    QSplitter* columns_;
    QSplitter* stack_;
    std::vector<widgets::RunChart*> charts_; ///< perplexity, traffic, time, sparsity
    std::size_t next_ = 0;
    widgets::XAxis xAxis_ = widgets::XAxis::Step;
    bool moved_ = false; ///< the person set the splitters: keep them
    QTimer timer_;
};

} // namespace gradlab::app
