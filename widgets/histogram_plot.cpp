// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/histogram_plot.h"

#include <QFontMetricsF>
#include <QKeyEvent>
#include <QLocale>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace gradlab::widgets {

namespace {

constexpr double kPad = 4.0;
constexpr double kLeastCount = 0.7; ///< where the count axis begins: a bar of 1 can be seen
constexpr double kFewPixels = 70.0; ///< between labels of the x axis

QString countText(double count) {
    const QLocale locale;
    return count == std::floor(count) ? locale.toString(count, 'f', 0)
                                      : locale.toString(count, 'f', count < 100.0 ? 1 : 0);
}

} // namespace

HistogramPlot::HistogramPlot(QWidget* parent) : QWidget(parent) {
    setAttribute(Qt::WA_OpaquePaintEvent);
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
}

void HistogramPlot::setTheme(const Theme& theme) {
    theme_ = theme;
    update();
}

void HistogramPlot::setTitle(const QString& title) {
    title_ = title;
    setAccessibleName(title);
    update();
}

void HistogramPlot::setEmptyText(const QString& text) {
    emptyText_ = text;
    update();
}

void HistogramPlot::setData(HistogramData data) {
    data_ = std::move(data);
    mostCount_ = 1.0;
    for (const HistogramBar& bar : data_.bars)
        mostCount_ = std::max({mostCount_, bar.all, bar.expected.value_or(0.0)});
    if (data_.apart)
        mostCount_ = std::max(mostCount_, data_.apart->all);
    if (!data_.bars.empty())
        x_ = {data_.bars.front().from, data_.bars.back().to};
    if (held_ >= static_cast<int>(data_.bars.size()))
        held_ = kNoBar;
    update();
}

QSize HistogramPlot::sizeHint() const {
    return {480, 220};
}

QSize HistogramPlot::minimumSizeHint() const {
    return {220, 130};
}

QColor HistogramPlot::allColour() const {
    return theme_.dark ? QColor(0x56616d) : QColor(0xb9c3cd);
}

QColor HistogramPlot::shadedColour() const {
    return theme_.runColour(1); // vermilion: far from grey for everybody
}

double HistogramPlot::xOf(double value) const {
    const auto place = [&](double v) { return data_.logX ? std::log2(v) : v; };
    return plot_.left() +
           plot_.width() * (place(value) - place(x_.from)) / (place(x_.to) - place(x_.from));
}

double HistogramPlot::yOf(double count) const {
    const double share = std::log(std::max(count, kLeastCount) / kLeastCount) /
                         std::log(mostCount_ * 1.3 / kLeastCount);
    return plot_.bottom() - share * plot_.height();
}

const HistogramBar* HistogramPlot::barAt(int bar) const {
    if (bar == -1 && data_.apart)
        return &*data_.apart;
    return bar >= 0 && bar < static_cast<int>(data_.bars.size())
               ? &data_.bars[static_cast<std::size_t>(bar)]
               : nullptr;
}

QRectF HistogramPlot::barBox(int bar) const {
    const HistogramBar* found = barAt(bar);
    if (found == nullptr)
        return {};
    if (bar == -1)
        return {apartBox_.left(), yOf(found->all), apartBox_.width(),
                plot_.bottom() - yOf(found->all)};
    const double left = xOf(found->from);
    return {left, yOf(found->all), xOf(found->to) - left, plot_.bottom() - yOf(found->all)};
}

QString HistogramPlot::barText(int bar) const {
    const HistogramBar* found = barAt(bar);
    if (found == nullptr)
        return {};
    QString text = tr("%1: %2 %3").arg(found->label, countText(found->all), data_.allName);
    if (!data_.shadedName.isEmpty())
        text += tr(", %1 %2").arg(countText(found->shaded), data_.shadedName);
    if (found->expected)
        text += tr(", %1 %2").arg(countText(*found->expected), data_.expectedName);
    return text;
}

void HistogramPlot::layOut() {
    const QFontMetricsF small(theme_.font(theme_.textPixels));
    const QFontMetricsF large(theme_.font(theme_.titlePixels, true));
    const double top = large.height() + small.height() + 3 * kPad;
    const double bottom = 2 * small.height() + kPad;
    const double left = small.horizontalAdvance(QStringLiteral("10⁶")) + 2 * kPad;
    const double apart = data_.apart ? small.averageCharWidth() * 3.0 : 0.0;
    apartBox_ = {left + kPad, top, apart, std::max(1.0, height() - top - bottom)};
    plot_ = {apartBox_.right() + (data_.apart ? 2 * kPad : 0.0), top,
             std::max(1.0, width() - apartBox_.right() - 4 * kPad), apartBox_.height()};
}

std::vector<AxisTick> HistogramPlot::xTicks() const {
    const int count = std::max(2, static_cast<int>(plot_.width() / kFewPixels));
    if (!data_.logX)
        return linearTicks(x_, count, ValueKind::Number);
    std::vector<AxisTick> ticks;
    const double decades = std::log10(x_.to / x_.from);
    const int every = std::max(1, static_cast<int>(std::ceil(decades / count)));
    for (int power = static_cast<int>(std::ceil(std::log10(x_.from) - 1e-9));
         std::pow(10.0, power) <= x_.to; ++power)
        ticks.push_back({std::pow(10.0, power),
                         power % every == 0 ? "1e" + std::to_string(power) : std::string()});
    return ticks;
}

/// Names with their colours in one line under the title.
void HistogramPlot::paintKeys(QPainter& painter) const {
    const QFontMetricsF metrics(painter.font());
    double x = kPad;
    const double y = QFontMetricsF(theme_.font(theme_.titlePixels, true)).height() + 1.5 * kPad;
    const double side = theme_.textPixels * 0.7;
    const auto key = [&](const QColor& colour, const QString& name, bool thin) {
        if (name.isEmpty())
            return;
        const QRectF line(x, y, metrics.horizontalAdvance(name) + side + kPad, metrics.height());
        const double tall = thin ? theme_.lineWidth : side;
        painter.fillRect(QRectF(x, line.center().y() - tall / 2, side, tall), colour);
        painter.setPen(theme_.mutedText);
        painter.drawText(line.adjusted(side + kPad, 0, kPad, 0), Qt::AlignLeft | Qt::AlignVCenter,
                         name);
        x = line.right() + 3 * kPad;
    };
    key(allColour(), data_.allName, false);
    key(shadedColour(), data_.shadedName, false);
    key(theme_.text, data_.expectedName, true);
}

void HistogramPlot::paintAxes(QPainter& painter) const {
    const QFontMetricsF metrics(painter.font());
    const double line = metrics.height();
    static const QStringList kPowers = {
        QStringLiteral("1"),   QStringLiteral("10"),  QStringLiteral("10²"), QStringLiteral("10³"),
        QStringLiteral("10⁴"), QStringLiteral("10⁵"), QStringLiteral("10⁶"), QStringLiteral("10⁷"),
        QStringLiteral("10⁸"), QStringLiteral("10⁹")};
    const double decade = yOf(1.0) - yOf(10.0);
    const int every = std::max(1, static_cast<int>(std::ceil(line / std::max(1.0, decade))));
    for (int power = 0; power < kPowers.size() && std::pow(10.0, power) <= mostCount_ * 1.3;
         power += every) {
        const double y = yOf(std::pow(10.0, power));
        painter.setPen(theme_.grid);
        painter.drawLine(QPointF(apartBox_.left(), y), QPointF(plot_.right(), y));
        painter.setPen(theme_.mutedText);
        painter.drawText(QRectF(0, y - line / 2, apartBox_.left() - kPad, line),
                         Qt::AlignRight | Qt::AlignVCenter, kPowers[power]);
    }
    const auto label = [&](double x, const QString& text) {
        const double wide = metrics.horizontalAdvance(text) + 2.0;
        const double left = std::clamp(x - wide / 2, 0.0, std::max(0.0, width() - wide));
        painter.setPen(theme_.mutedText);
        painter.drawText(QRectF(left, plot_.bottom() + 2.0, wide, line), Qt::AlignCenter, text);
    };
    if (data_.labelBars) {
        for (const HistogramBar& bar : data_.bars)
            label((xOf(bar.from) + xOf(bar.to)) / 2, bar.label);
    } else {
        for (const AxisTick& tick : xTicks()) {
            const double x = xOf(tick.value);
            painter.setPen(theme_.axis);
            painter.drawLine(QPointF(x, plot_.bottom()), QPointF(x, plot_.bottom() + 3.0));
            label(x, QString::fromStdString(tick.label));
        }
    }
    if (data_.apart)
        label(apartBox_.center().x(), data_.apart->label);
    painter.setPen(theme_.axis);
    painter.drawLine(QPointF(apartBox_.left(), plot_.bottom()), plot_.bottomRight());
    // The bar at hand is told where the axis' name stands otherwise.
    const QString told = barText(held_);
    painter.setPen(told.isEmpty() ? theme_.mutedText : theme_.text);
    const QRectF foot(kPad, height() - line - 1.0, width() - 2 * kPad, line);
    painter.drawText(
        foot, Qt::AlignCenter,
        metrics.elidedText(told.isEmpty() ? data_.xTitle : told, Qt::ElideRight, foot.width()));
}

void HistogramPlot::paintBar(QPainter& painter, int bar) const {
    const HistogramBar& found = *barAt(bar);
    QRectF box = barBox(bar);
    if (box.width() > 4.0)
        box.adjust(0.5, 0, -0.5, 0);
    if (found.all >= 1.0)
        painter.fillRect(box,
                         bar == held_ ? allColour().lighter(theme_.dark ? 140 : 85) : allColour());
    if (found.shaded >= 1.0) {
        QRectF part = box;
        part.setTop(yOf(found.shaded));
        painter.fillRect(part, shadedColour());
    }
    if (found.expected && *found.expected >= kLeastCount) {
        const double y = yOf(*found.expected);
        painter.fillRect(
            QRectF(box.left(), y - theme_.lineWidth / 2, box.width(), theme_.lineWidth),
            theme_.text);
    }
}

void HistogramPlot::paintLine(QPainter& painter) const {
    if (!data_.line || *data_.line < x_.from || *data_.line > x_.to)
        return;
    const double x = xOf(*data_.line);
    painter.setPen(QPen(theme_.text, theme_.lineWidth));
    painter.drawLine(QPointF(x, plot_.top()), QPointF(x, plot_.bottom()));
    const QFontMetricsF metrics(painter.font());
    const double wide = metrics.horizontalAdvance(data_.lineName) + kPad;
    const bool right = x + kPad + wide <= width();
    const QRectF box(right ? x + kPad : x - kPad - wide, plot_.top(), wide, metrics.height());
    painter.fillRect(box, theme_.background);
    painter.setPen(theme_.text);
    const Qt::Alignment side = right ? Qt::AlignLeft : Qt::AlignRight;
    painter.drawText(box, static_cast<int>((side | Qt::AlignVCenter).toInt()), data_.lineName);
}

void HistogramPlot::paintEvent(QPaintEvent* /*event*/) {
    QPainter painter(this);
    painter.fillRect(rect(), theme_.background);
    layOut();
    painter.setFont(theme_.font(theme_.titlePixels, true));
    painter.setPen(theme_.text);
    painter.drawText(
        QRectF(kPad, kPad / 2, width() - 2 * kPad, QFontMetricsF(painter.font()).height()),
        Qt::AlignLeft | Qt::AlignVCenter, title_);
    painter.setFont(theme_.font(theme_.textPixels));
    if (data_.bars.empty()) {
        painter.setPen(theme_.mutedText);
        painter.drawText(rect().adjusted(20, 20, -20, 0), Qt::AlignCenter | Qt::TextWordWrap,
                         emptyText_);
        return;
    }
    painter.setRenderHint(QPainter::Antialiasing);
    paintKeys(painter);
    paintAxes(painter);
    if (data_.apart)
        paintBar(painter, -1);
    for (int bar = 0; bar < static_cast<int>(data_.bars.size()); ++bar)
        paintBar(painter, bar);
    paintLine(painter);
    if (hasFocus()) {
        painter.setPen(palette().color(QPalette::Highlight));
        painter.drawRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
    }
}

int HistogramPlot::barUnder(const QPointF& point) const {
    if (data_.apart && apartBox_.contains(point))
        return -1;
    if (!plot_.contains(point))
        return kNoBar;
    for (int bar = 0; bar < static_cast<int>(data_.bars.size()); ++bar)
        if (point.x() < xOf(data_.bars[static_cast<std::size_t>(bar)].to))
            return bar;
    return kNoBar;
}

void HistogramPlot::hold(int bar) {
    if (bar == held_)
        return;
    held_ = bar;
    update();
}

void HistogramPlot::keyPressEvent(QKeyEvent* event) {
    const int first = data_.apart ? -1 : 0;
    const int last = static_cast<int>(data_.bars.size()) - 1;
    if (last < 0) {
        QWidget::keyPressEvent(event);
        return;
    }
    const int now = held_ == kNoBar ? first : held_;
    switch (event->key()) {
    case Qt::Key_Left:
        hold(std::max(first, held_ == kNoBar ? last : now - 1));
        break;
    case Qt::Key_Right:
        hold(std::min(last, held_ == kNoBar ? first : now + 1));
        break;
    case Qt::Key_Home:
        hold(first);
        break;
    case Qt::Key_End:
        hold(last);
        break;
    default:
        QWidget::keyPressEvent(event);
        return;
    }
    setAccessibleDescription(barText(held_));
}

void HistogramPlot::mouseMoveEvent(QMouseEvent* event) {
    hold(barUnder(event->position()));
}

void HistogramPlot::leaveEvent(QEvent* event) {
    hold(kNoBar);
    QWidget::leaveEvent(event);
}

void HistogramPlot::focusOutEvent(QFocusEvent* event) {
    hold(kNoBar);
    QWidget::focusOutEvent(event);
}

} // namespace gradlab::widgets
