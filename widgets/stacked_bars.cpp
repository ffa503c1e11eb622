// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/stacked_bars.h"

#include <QFontMetricsF>
#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gradlab::widgets {

namespace {

constexpr double kPad = 4.0;
constexpr double kTightest = 0.88;   ///< of a text line: the least height of a row
constexpr double kLabelShare = 0.34; ///< of the width, at most

double valueOf(const BarPart& part) {
    return std::isfinite(part.value) && part.value > 0.0 ? part.value : 0.0;
}

double totalOf(const BarRow& row) {
    double sum = 0.0;
    for (const BarPart& part : row.parts)
        sum += valueOf(part);
    return sum;
}

QString toolTipOf(const BarRow& row, ValueKind kind) {
    QString html = QStringLiteral("<b>%1</b> %2").arg(row.label.toHtmlEscaped(), row.value);
    const double total = totalOf(row);
    for (const BarPart& part : row.parts)
        if (valueOf(part) > 0.0)
            html += QStringLiteral("<br><span style=\"color:%1\">■</span> %2 %3 (%4)")
                        .arg(part.colour.name(), part.name.toHtmlEscaped(),
                             QString::fromStdString(formatValue(part.value, kind)),
                             QString::fromStdString(
                                 formatValue(part.value / total, ValueKind::Share, 2)));
    return html;
}

} // namespace

StackedBars::StackedBars(QWidget* parent) : QWidget(parent) {
    setAttribute(Qt::WA_OpaquePaintEvent);
    setFocusPolicy(Qt::StrongFocus);
}

void StackedBars::setTheme(const Theme& theme) {
    theme_ = theme;
    update();
}

void StackedBars::setTitle(const QString& title) {
    title_ = title;
    setAccessibleName(title);
    update();
}

void StackedBars::setNote(const QString& note) {
    note_ = note;
    update();
}

void StackedBars::setRows(std::vector<BarRow> rows, ValueKind kind) {
    shown_.clear();
    rows_ = std::move(rows);
    kind_ = kind;
    update();
}

QSize StackedBars::sizeHint() const {
    return {480, 200};
}

QSize StackedBars::minimumSizeHint() const {
    return {120, 90};
}

double StackedBars::lineHeight() const {
    return std::ceil(QFontMetricsF(theme_.font(theme_.textPixels)).height());
}

double StackedBars::headerHeight() const {
    return std::ceil(QFontMetricsF(theme_.font(theme_.titlePixels, true)).height()) + kPad +
           lineHeight() + kPad;
}

void StackedBars::chooseRows() {
    const double least = lineHeight() * kTightest;
    const double whole = height() - headerHeight() - kPad;
    const double withNote = whole - (note_.isEmpty() ? 0.0 : lineHeight());
    // The note gives way before the thin bars do.
    const auto rows = static_cast<double>(rows_.size());
    noteShown_ = rows * least <= withNote || rows * least > whole;
    const double room = noteShown_ ? withNote : whole;
    const auto fit = static_cast<std::size_t>(std::max(1.0, std::floor(room / least)));
    const bool all = rows_.size() <= fit;
    shown_.clear();
    lines_.clear();
    labelWidth_ = valueWidth_ = largest_ = 0.0;
    const QFontMetricsF metrics(theme_.font(theme_.textPixels));
    for (const BarRow& row : rows_) {
        if (row.slim && !all)
            continue;
        if (shown_.size() == fit)
            break;
        shown_.push_back(&row);
        labelWidth_ = std::max(labelWidth_, metrics.horizontalAdvance(row.label));
        valueWidth_ = std::max(valueWidth_, metrics.horizontalAdvance(row.value));
        largest_ = std::max(largest_, totalOf(row));
    }
    labelWidth_ = std::min(labelWidth_ + theme_.textPixels + kPad, width() * kLabelShare);
    const double line = std::min(room / std::max<double>(1.0, static_cast<double>(shown_.size())),
                                 lineHeight() * 1.7);
    for (std::size_t i = 0; i < shown_.size(); ++i)
        lines_.emplace_back(kPad, headerHeight() + static_cast<double>(i) * line,
                            width() - 2 * kPad, line);
}

void StackedBars::text(QPainter& painter, const QRectF& box, int flags, const QString& text,
                       const QColor& colour) {
    const QFontMetricsF metrics(painter.font());
    painter.setPen(colour);
    painter.drawText(box, flags | Qt::TextSingleLine,
                     metrics.elidedText(text, Qt::ElideRight, box.width()));
    if (!text.isEmpty())
        textBoxes_.push_back(box);
}

void StackedBars::paintHeader(QPainter& painter) {
    painter.setFont(theme_.font(theme_.titlePixels, true));
    const double titleHeight = std::ceil(QFontMetricsF(painter.font()).height());
    text(painter, {kPad, kPad / 2, width() - 2 * kPad, titleHeight},
         Qt::AlignLeft | Qt::AlignVCenter, title_, theme_.text);
    painter.setFont(theme_.font(theme_.textPixels));
    paintKeys(painter);
    if (noteShown_)
        text(painter, {kPad, height() - lineHeight() - 1, width() - 2 * kPad, lineHeight()},
             Qt::AlignLeft | Qt::AlignVCenter, note_, theme_.mutedText);
}

/// The parts to name: all that occur, or the largest that fit into one line.
std::vector<std::size_t> StackedBars::keyParts(const QFontMetricsF& metrics) const {
    std::vector<double> largest(rows_.front().parts.size(), 0.0);
    for (const BarRow* row : shown_)
        for (std::size_t part = 0; part < std::min(largest.size(), row->parts.size()); ++part)
            largest[part] = std::max(largest[part], valueOf(row->parts[part]));
    std::vector<std::size_t> order(largest.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return largest[a] > largest[b]; });
    std::vector<std::size_t> chosen;
    double room = width() - kPad;
    for (const std::size_t part : order) {
        room -= keyWidth(metrics, rows_.front().parts[part]);
        if (largest[part] > 0.0 && room >= 0.0)
            chosen.push_back(part);
    }
    std::sort(chosen.begin(), chosen.end());
    return chosen;
}

double StackedBars::keyWidth(const QFontMetricsF& metrics, const BarPart& part) const {
    return swatch() + 3 * kPad + std::ceil(metrics.horizontalAdvance(part.name)) + 1.0;
}

void StackedBars::paintKeys(QPainter& painter) {
    if (rows_.empty())
        return;
    const QFontMetricsF metrics(painter.font());
    const double y = headerHeight() - kPad - lineHeight();
    double x = kPad;
    for (const std::size_t part : keyParts(metrics)) {
        const BarPart& key = rows_.front().parts[part];
        const double wide = keyWidth(metrics, key);
        painter.fillRect(QRectF(x, y + (lineHeight() - swatch()) / 2, swatch(), swatch()),
                         key.colour);
        text(painter, {x + swatch() + kPad, y, wide - swatch() - 3 * kPad, lineHeight()},
             Qt::AlignLeft | Qt::AlignVCenter, key.name, theme_.mutedText);
        x += wide;
    }
}

void StackedBars::paintRow(QPainter& painter, const BarRow& row, const QRectF& line) {
    if (row.colour.isValid())
        painter.fillRect(QRectF(line.left(), line.center().y() - swatch() / 2, swatch(), swatch()),
                         row.colour);
    const double indent = swatch() + kPad;
    text(painter, {line.left() + indent, line.top(), labelWidth_ - indent, line.height()},
         Qt::AlignLeft | Qt::AlignVCenter, row.label, row.slim ? theme_.mutedText : theme_.text);

    const double left = line.left() + labelWidth_ + kPad;
    const double room = std::max(1.0, line.right() - left - valueWidth_ - 2 * kPad);
    const double thick = row.slim ? std::min(line.height() * 0.35, lineHeight() * 0.4)
                                  : std::min(line.height() * 0.75, lineHeight() * 1.2);
    double x = left;
    for (const BarPart& part : row.parts) {
        const double wide = largest_ > 0.0 ? room * valueOf(part) / largest_ : 0.0;
        painter.fillRect(QRectF(x, line.center().y() - thick / 2, wide, thick), part.colour);
        x += wide;
    }
    text(painter, {x + kPad, line.top(), valueWidth_ + 1.0, line.height()},
         Qt::AlignLeft | Qt::AlignVCenter, row.value, row.slim ? theme_.mutedText : theme_.text);
}

void StackedBars::paintEvent(QPaintEvent* /*event*/) {
    QPainter painter(this);
    paint(painter);
}

void StackedBars::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    Q_EMIT activated();
}

void StackedBars::paint(QPainter& painter) {
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(rect(), theme_.background);
    textBoxes_.clear();
    chooseRows();
    paintHeader(painter);
    for (std::size_t i = 0; i < shown_.size(); ++i)
        paintRow(painter, *shown_[i], lines_[i]);
}

bool StackedBars::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    for (std::size_t i = 0; i < shown_.size(); ++i)
        if (lines_[i].contains(help->pos())) {
            QToolTip::showText(help->globalPos(), toolTipOf(*shown_[i], kind_), this);
            return true;
        }
    QToolTip::hideText();
    return true;
}

} // namespace gradlab::widgets
