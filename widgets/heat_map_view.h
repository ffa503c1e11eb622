// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// One tensor in three panes of one colour scale: what was to be sent, what was sent, what stayed.
// A signed logarithmic scale, orange for positive and blue for negative, from the largest magnitude
// down three decades; what is smaller is the background. Where there are fewer pixels than cells, a
// pixel shows its largest cell. Arrow keys walk over the cells.
#pragma once

#include "engine/metrics/gradient_snapshot.h"
#include "widgets/spoken_summary.h"
#include "widgets/theme.h"

#include <QImage>
#include <QString>
#include <QWidget>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace gradlab::widgets {

class HeatMapView : public QWidget {
    Q_OBJECT

public:
    static constexpr int kPanes = 3;

    explicit HeatMapView(QWidget* parent = nullptr);
    void setTheme(const Theme& theme);
    /// `rows` × `columns` elements stand behind the map's cells. `lost`: no memory keeps what was
    /// not sent. An empty map: `why` is shown.
    void setMap(const engine::HeatMap& map, std::uint64_t rows, std::uint64_t columns, bool lost,
                const QString& why);
    void setSummary(const QString& text) { summary_.say(*this, text); }

    /// As painted last.
    [[nodiscard]] QRectF paneBox(int pane) const { return boxes_[static_cast<std::size_t>(pane)]; }
    /// Of a cell's signed level; the background for 0 and for what is below the scale.
    [[nodiscard]] QColor levelColour(int level) const;
    /// What is told of a cell.
    [[nodiscard]] QString cellText(int row, int column) const;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    struct Cell {
        int row = 0;
        int column = 0;
        bool operator==(const Cell&) const = default;
    };
    void layOut();
    void findScale();
    [[nodiscard]] QImage image(const std::vector<std::int8_t>& levels, int rows, int columns) const;
    void paintPane(QPainter& painter, int pane);
    void paintLegend(QPainter& painter) const;
    [[nodiscard]] const std::vector<std::int8_t>& levels(int pane) const;
    [[nodiscard]] std::optional<Cell> cellUnder(const QPointF& point) const;
    void hold(std::optional<Cell> cell);

    Theme theme_ = Theme::make(false, false);
    engine::HeatMap map_;
    std::uint64_t rows_ = 0;
    std::uint64_t columns_ = 0;
    bool lost_ = false;
    QString why_;
    int least_ = 1; ///< smallest and largest level with a colour of its own
    int most_ = 1;
    std::array<QRectF, kPanes> boxes_;
    QRectF legend_;
    std::optional<Cell> held_;
    SpokenSummary summary_;
};

} // namespace gradlab::widgets
