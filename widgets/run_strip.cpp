// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/run_strip.h"

#include "widgets/axis_ticks.h"

#include <QFontMetricsF>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace gradlab::widgets {

namespace {

constexpr double kPad = 6.0;
constexpr double kWidestCard = 30.0; ///< in text heights
constexpr double kNarrowestCard = 15.0;

QString value(double number, ValueKind kind, int digits) {
    return QString::fromStdString(formatValue(number, kind, digits));
}

QString bytesText(const RunNumbers& numbers) {
    if (!numbers.compressionRatio)
        return {};
    const double ratio = *numbers.compressionRatio;
    if (ratio > 0.95 && ratio < 1.05)
        return RunStrip::tr("dense messages");
    if (ratio < 1.0)
        return RunStrip::tr("%1× more bytes").arg(value(1.0 / ratio, ValueKind::Number, 2));
    return RunStrip::tr("%1× fewer bytes")
        .arg(value(ratio, ValueKind::Number, ratio < 9.95 ? 2 : 3));
}

RunStrip::Card cardOf(const RunInfo& run, const Theme& theme) {
    RunStrip::Card card;
    card.id = run.id;
    card.name = run.name;
    card.colour = theme.runColour(run.colour);
    const RunNumbers numbers = run.series->numbers();
    const bool valid = numbers.validPerplexity.has_value();
    const std::optional<double> shown = valid ? numbers.validPerplexity : numbers.trainPerplexity;
    card.perplexity = shown ? value(*shown, ValueKind::Number, 3) : QStringLiteral("–");
    card.perplexityKind = !shown  ? run.state
                          : valid ? RunStrip::tr("valid")
                                  : RunStrip::tr("train");
    card.bytes = bytesText(numbers);
    if (numbers.stepSeconds) {
        card.time =
            RunStrip::tr("%1 a step").arg(value(*numbers.stepSeconds, ValueKind::Seconds, 3));
        card.network = RunStrip::tr("%1 % network")
                           .arg(std::lround(100.0 * numbers.networkShare.value_or(0.0)));
    }
    return card;
}

} // namespace

RunStrip::RunStrip(QWidget* parent) : QWidget(parent) {
    setAccessibleName(tr("Runs at a glance"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void RunStrip::setRuns(const RunList& runs) {
    runs_ = runs;
    refresh();
}

void RunStrip::setTheme(const Theme& theme) {
    theme_ = theme;
    updateGeometry();
    refresh();
    update();
}

void RunStrip::refresh() {
    std::vector<Card> cards;
    QStringList words;
    for (const RunInfo& run : runs_) {
        if (!run.visible)
            continue;
        cards.push_back(cardOf(run, theme_));
        words << tr("%1: perplexity %2, %3")
                     .arg(cards.back().name, cards.back().perplexity, cards.back().bytes);
    }
    if (cards == cards_)
        return;
    cards_ = std::move(cards);
    summary_.say(*this, words.join(QStringLiteral("; ")));
    update();
}

QSize RunStrip::sizeHint() const {
    const double lines = 3 * std::ceil(QFontMetricsF(theme_.font(theme_.textPixels)).height());
    const double left = std::ceil(QFontMetricsF(theme_.font(theme_.titlePixels, true)).height()) +
                        std::ceil(QFontMetricsF(theme_.font(theme_.bigPixels, true)).height());
    return {600, static_cast<int>(std::max(lines, left) + 2 * kPad)};
}

QSize RunStrip::minimumSizeHint() const {
    return {200, sizeHint().height()};
}

std::size_t RunStrip::shownCards() const {
    const auto fit = static_cast<std::size_t>(
        std::max(1.0, std::floor(width() / (kNarrowestCard * theme_.textPixels))));
    return std::min(cards_.size(), fit);
}

QRectF RunStrip::cardBox(std::size_t index) const {
    const double wide =
        std::min(width() / static_cast<double>(std::max<std::size_t>(1, shownCards())),
                 kWidestCard * theme_.textPixels);
    return {static_cast<double>(index) * wide, 0.0, wide, static_cast<double>(height())};
}

void RunStrip::text(QPainter& painter, const QRectF& box, int pixels, bool bold,
                    const QColor& colour, const QString& text) {
    painter.setFont(theme_.font(pixels, bold));
    painter.setPen(colour);
    painter.drawText(box, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine,
                     QFontMetricsF(painter.font()).elidedText(text, Qt::ElideRight, box.width()));
    if (!text.isEmpty())
        textBoxes_.push_back(box);
}

void RunStrip::paintCard(QPainter& painter, const Card& card, const QRectF& box) {
    const double bar = theme_.textPixels * 0.5;
    painter.fillRect(QRectF(box.left() + kPad, box.top() + kPad, bar, box.height() - 2 * kPad),
                     card.colour);
    const QRectF inside = box.adjusted(kPad + bar + kPad, kPad, -kPad, -kPad);
    const QFontMetricsF name(theme_.font(theme_.titlePixels, true));
    const QFontMetricsF big(theme_.font(theme_.bigPixels, true));
    const QFontMetricsF small(theme_.font(theme_.textPixels));
    const double numberWidth = std::ceil(big.horizontalAdvance(card.perplexity)) + 2.0;
    const double facts =
        std::ceil(std::max({small.horizontalAdvance(card.bytes), small.horizontalAdvance(card.time),
                            small.horizontalAdvance(card.network)})) +
        2.0;
    const double kindWidth = std::ceil(small.horizontalAdvance(card.perplexityKind)) + 2.0;
    const double wanted = std::max(std::ceil(name.horizontalAdvance(card.name)) + 2.0,
                                   numberWidth + kPad + kindWidth);
    const double left = std::min(wanted, std::max(numberWidth, inside.width() - facts - 2 * kPad));

    text(painter, {inside.left(), inside.top(), left, name.height()}, theme_.titlePixels, true,
         theme_.text, card.name);
    const double numberTop = inside.top() + name.height();
    text(painter,
         {inside.left(), numberTop, std::min(numberWidth, left), inside.bottom() - numberTop},
         theme_.bigPixels, true, theme_.text, card.perplexity);
    if (numberWidth + kPad + kindWidth <= left)
        text(
            painter,
            {inside.left() + numberWidth + kPad, numberTop, kindWidth, inside.bottom() - numberTop},
            theme_.textPixels, false, theme_.mutedText, card.perplexityKind);
    const double line = inside.height() / 3;
    double top = inside.top();
    for (const QString& fact : {card.bytes, card.time, card.network}) {
        const double x = inside.left() + left + 2 * kPad;
        text(painter, {x, top, std::max(0.0, inside.right() - x), line}, theme_.textPixels, false,
             theme_.text, fact);
        top += line;
    }
}

void RunStrip::paintEvent(QPaintEvent* /*event*/) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(rect(), theme_.background);
    textBoxes_.clear();
    const std::size_t shown = shownCards();
    if (shown == 0)
        text(painter, QRectF(rect()).adjusted(kPad, kPad, -kPad, -kPad), theme_.titlePixels, false,
             theme_.mutedText, tr("No runs yet: set up an experiment and start it"));
    // The newest runs are the ones that somebody watches.
    const std::size_t first = cards_.size() - shown;
    for (std::size_t i = 0; i < shown; ++i)
        paintCard(painter, cards_[first + i], cardBox(i));
}

void RunStrip::mousePressEvent(QMouseEvent* event) {
    const std::size_t shown = shownCards();
    for (std::size_t i = 0; i < shown; ++i)
        if (cardBox(i).contains(event->position()))
            Q_EMIT runClicked(cards_[cards_.size() - shown + i].id);
}

} // namespace gradlab::widgets
