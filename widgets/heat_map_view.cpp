// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/heat_map_view.h"

#include "widgets/axis_ticks.h"

#include <QFontMetricsF>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace gradlab::widgets {

namespace {

constexpr double kPad = 4.0;
constexpr int kScaleLevels = 20; ///< three decades of half octaves
constexpr double kStripe = 28.0; ///< height of a vector's only row
constexpr double kTallestCell = 24.0;

QColor mixed(const QColor& from, const QColor& to, double share) {
    const auto mix = [share](int a, int b) {
        return static_cast<int>(std::lround(a + share * (b - a)));
    };
    return {mix(from.red(), to.red()), mix(from.green(), to.green()), mix(from.blue(), to.blue())};
}

QString sizeText(double magnitude) {
    return QString::fromStdString(formatValue(magnitude, ValueKind::Number, 2));
}

QString levelText(int level) {
    if (level == 0)
        return QStringLiteral("0");
    // The middle of the half octave.
    const double magnitude = engine::heatLevelEdge(std::abs(level)) * std::exp2(0.25);
    return (level < 0 ? QStringLiteral("−") : QString()) + sizeText(magnitude);
}

/// Where cell `cell` of `cells` begins among `count` elements of the wider grid.
std::uint64_t firstOf(int cell, std::uint64_t cells, std::uint64_t count) {
    // Row r of R goes to cell r·m div R: the first one of cell c is ceil(c·R / m).
    return (static_cast<std::uint64_t>(cell) * count + cells - 1) / cells;
}

} // namespace

HeatMapView::HeatMapView(QWidget* parent) : QWidget(parent) {
    setAttribute(Qt::WA_OpaquePaintEvent);
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAccessibleName(tr("Map of the tensor"));
}

void HeatMapView::setTheme(const Theme& theme) {
    theme_ = theme;
    update();
}

void HeatMapView::setMap(const engine::HeatMap& map, std::uint64_t rows, std::uint64_t columns,
                         bool lost, const QString& why) {
    lost_ = lost;
    map_ = map;
    rows_ = rows;
    columns_ = columns;
    why_ = why;
    if (held_ && (held_->row >= static_cast<int>(map_.rows) ||
                  held_->column >= static_cast<int>(map_.columns)))
        held_.reset();
    findScale();
    update();
}

void HeatMapView::findScale() {
    most_ = 1;
    least_ = engine::HeatMap::kFocusColumns; // above every level
    for (int pane = 0; pane < kPanes; ++pane)
        for (const std::int8_t level : levels(pane))
            if (const int high = std::abs(int{level}); high != 0) {
                most_ = std::max(most_, high);
                least_ = std::min(least_, high);
            }
    least_ = std::clamp(least_, std::max(1, most_ - kScaleLevels + 1), most_);
}

const std::vector<std::int8_t>& HeatMapView::levels(int pane) const {
    return pane == 0 ? map_.toSend : pane == 1 ? map_.sent : map_.stayed;
}

QColor HeatMapView::levelColour(int level) const {
    const int size = std::abs(level);
    if (size < least_ || level == 0)
        return theme_.background;
    const double share =
        most_ == least_ ? 1.0
                        : static_cast<double>(size - least_) / static_cast<double>(most_ - least_);
    if (level > 0)
        return theme_.dark ? mixed(QColor(0x43301d), QColor(0xffb45e), share)
                           : mixed(QColor(0xfdeedd), QColor(0x9c4400), share);
    return theme_.dark ? mixed(QColor(0x1e3a56), QColor(0x8accff), share)
                       : mixed(QColor(0xe2eef8), QColor(0x0a4a85), share);
}

QSize HeatMapView::sizeHint() const {
    return {480, 240};
}

QSize HeatMapView::minimumSizeHint() const {
    return {240, 120};
}

QString HeatMapView::cellText(int row, int column) const {
    const auto range = [](std::uint64_t first, std::uint64_t end) {
        return end - first <= 1 ? QString::number(first)
                                : QStringLiteral("%1–%2").arg(first).arg(end - 1);
    };
    const std::size_t at =
        static_cast<std::size_t>(row) * map_.columns + static_cast<std::size_t>(column);
    const std::uint64_t rowBegin = firstOf(row, map_.rows, rows_);
    const std::uint64_t rowEnd = firstOf(row + 1, map_.rows, rows_);
    const auto c = static_cast<std::uint64_t>(column);
    const QString columns = range(c * columns_ / map_.columns, (c + 1) * columns_ / map_.columns);
    return tr("row %1, column %2: to send %3, sent %4, stayed %5")
        .arg(range(rowBegin, rowEnd), columns, levelText(map_.toSend[at]), levelText(map_.sent[at]),
             levelText(map_.stayed[at]));
}

void HeatMapView::layOut() {
    const QFontMetricsF metrics(theme_.font(theme_.textPixels));
    const double line = metrics.height();
    const double top = line + kPad;
    legend_ = {kPad, height() - 2 * line - 2 * kPad, width() - 2 * kPad, line};
    const double wide = (width() - 2 * kPad - (kPanes - 1) * 2 * kPad) / kPanes;
    const double room = std::max(1.0, legend_.top() - kPad - top);
    const double tallest = map_.rows == 1 ? kStripe : kTallestCell * map_.rows;
    for (int pane = 0; pane < kPanes; ++pane)
        boxes_[static_cast<std::size_t>(pane)] = {kPad + pane * (wide + 2 * kPad), top, wide,
                                                  std::min(room, tallest)};
}

/// Pixels by the largest of their cells.
QImage HeatMapView::image(const std::vector<std::int8_t>& levels, int rows, int columns) const {
    std::vector<std::int8_t> cells(
        static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns), 0);
    for (std::size_t r = 0; r < map_.rows; ++r)
        for (std::size_t c = 0; c < map_.columns; ++c) {
            const std::int8_t level = levels[r * map_.columns + c];
            std::int8_t& held = cells[r * static_cast<std::size_t>(rows) / map_.rows *
                                          static_cast<std::size_t>(columns) +
                                      c * static_cast<std::size_t>(columns) / map_.columns];
            if (std::abs(level) > std::abs(held))
                held = level;
        }
    QImage image(columns, rows, QImage::Format_RGB32);
    auto cell = cells.begin();
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c)
            image.setPixelColor(c, r, levelColour(*cell++));
    return image;
}

void HeatMapView::paintPane(QPainter& painter, int pane) {
    const QRectF& box = boxes_[static_cast<std::size_t>(pane)];
    const std::array<QString, kPanes> names = {
        tr("To send: x"), tr("Sent: C(x)"), lost_ ? tr("Lost: x − C(x)") : tr("Stayed: x − C(x)")};
    painter.setPen(theme_.text);
    const QFontMetricsF metrics(painter.font());
    painter.drawText(
        QRectF(box.left(), 0, box.width(), box.top()), Qt::AlignLeft | Qt::AlignVCenter,
        metrics.elidedText(names[static_cast<std::size_t>(pane)], Qt::ElideRight, box.width()));
    const double ratio = devicePixelRatioF();
    const int rows =
        std::clamp(static_cast<int>(box.height() * ratio), 1, static_cast<int>(map_.rows));
    const int columns =
        std::clamp(static_cast<int>(box.width() * ratio), 1, static_cast<int>(map_.columns));
    painter.drawImage(box, image(levels(pane), rows, columns));
    painter.setPen(theme_.axis);
    painter.drawRect(box);
    if (!held_)
        return;
    const double high = box.height() / map_.rows;
    const double wide = box.width() / map_.columns;
    painter.setPen(QPen(theme_.text, 1.5));
    painter.drawRect(
        QRectF(box.left() + held_->column * wide, box.top() + held_->row * high, wide, high)
            .adjusted(-1, -1, 1, 1));
}

/// −largest … −smallest, 0, smallest … largest.
void HeatMapView::paintLegend(QPainter& painter) const {
    const QFontMetricsF metrics(painter.font());
    const int steps = most_ - least_ + 1;
    const QString most = sizeText(engine::heatLevelEdge(most_ + 1));
    const QString least = tr("below %1").arg(sizeText(engine::heatLevelEdge(least_)));
    const double zero = metrics.horizontalAdvance(least) + 2 * kPad;
    const double ends = metrics.horizontalAdvance(QStringLiteral("−") + most) + kPad;
    const double half = std::max(10.0, std::min(170.0, (legend_.width() - zero) / 2 - ends));
    const double middle = legend_.center().x();
    const QRectF bar(middle - zero / 2 - half, legend_.top() + 2.0, 2 * half + zero,
                     legend_.height() - 4.0);
    for (int i = 0; i < steps; ++i) {
        const double left = half * i / steps;
        const double wide = half / steps + 0.6;
        painter.fillRect(QRectF(middle + zero / 2 + left, bar.top(), wide, bar.height()),
                         levelColour(least_ + i));
        painter.fillRect(QRectF(middle - zero / 2 - left - wide, bar.top(), wide, bar.height()),
                         levelColour(-least_ - i));
    }
    painter.setPen(theme_.mutedText);
    painter.drawText(QRectF(middle - zero, bar.top() - 2, 2 * zero, legend_.height()),
                     Qt::AlignCenter, least);
    painter.drawText(QRectF(bar.left() - ends, legend_.top(), ends - kPad, legend_.height()),
                     Qt::AlignRight | Qt::AlignVCenter, QStringLiteral("−") + most);
    painter.drawText(QRectF(bar.right() + kPad, legend_.top(), ends, legend_.height()),
                     Qt::AlignLeft | Qt::AlignVCenter, most);
    const QRectF foot(kPad, height() - metrics.height() - 2.0, width() - 2 * kPad,
                      metrics.height());
    const QString told = held_ ? cellText(held_->row, held_->column)
                               : tr("%1 × %2 elements; each of %3 × %4 cells shows its largest")
                                     .arg(rows_)
                                     .arg(columns_)
                                     .arg(map_.rows)
                                     .arg(map_.columns);
    painter.setPen(held_ ? theme_.text : theme_.mutedText);
    painter.drawText(foot, Qt::AlignCenter, metrics.elidedText(told, Qt::ElideRight, foot.width()));
}

void HeatMapView::paintEvent(QPaintEvent* /*event*/) {
    QPainter painter(this);
    painter.fillRect(rect(), theme_.background);
    painter.setFont(theme_.font(theme_.textPixels));
    if (map_.rows == 0 || map_.columns == 0) {
        painter.setPen(theme_.mutedText);
        painter.drawText(rect().adjusted(20, 0, -20, 0), Qt::AlignCenter | Qt::TextWordWrap, why_);
        return;
    }
    layOut();
    for (int pane = 0; pane < kPanes; ++pane)
        paintPane(painter, pane);
    paintLegend(painter);
    if (hasFocus()) {
        painter.setPen(palette().color(QPalette::Highlight));
        painter.drawRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
    }
}

std::optional<HeatMapView::Cell> HeatMapView::cellUnder(const QPointF& point) const {
    for (const QRectF& box : boxes_)
        if (map_.rows > 0 && box.contains(point))
            return Cell{
                std::min(static_cast<int>(map_.rows) - 1,
                         static_cast<int>((point.y() - box.top()) / box.height() * map_.rows)),
                std::min(static_cast<int>(map_.columns) - 1,
                         static_cast<int>((point.x() - box.left()) / box.width() * map_.columns))};
    return std::nullopt;
}

void HeatMapView::hold(std::optional<Cell> cell) {
    if (cell == held_)
        return;
    held_ = cell;
    update();
}

void HeatMapView::keyPressEvent(QKeyEvent* event) {
    Cell cell = held_.value_or(Cell{});
    switch (event->key()) {
    case Qt::Key_Left:
        --cell.column;
        break;
    case Qt::Key_Right:
        cell.column += held_ ? 1 : 0;
        break;
    case Qt::Key_Up:
        --cell.row;
        break;
    case Qt::Key_Down:
        cell.row += held_ ? 1 : 0;
        break;
    default:
        QWidget::keyPressEvent(event);
        return;
    }
    if (map_.rows == 0)
        return;
    cell.row = std::clamp(cell.row, 0, static_cast<int>(map_.rows) - 1);
    cell.column = std::clamp(cell.column, 0, static_cast<int>(map_.columns) - 1);
    hold(cell);
    setAccessibleDescription(cellText(cell.row, cell.column));
}

void HeatMapView::mouseMoveEvent(QMouseEvent* event) {
    hold(cellUnder(event->position()));
}

void HeatMapView::leaveEvent(QEvent* event) {
    hold(std::nullopt);
    QWidget::leaveEvent(event);
}

void HeatMapView::focusOutEvent(QFocusEvent* event) {
    hold(std::nullopt);
    QWidget::focusOutEvent(event);
}

} // namespace gradlab::widgets
