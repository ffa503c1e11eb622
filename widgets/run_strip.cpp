// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/run_strip.h"

#include "widgets/axis_ticks.h"

#include <QFontMetricsF>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QResizeEvent>

#include <algorithm>
#include <cmath>

namespace gradlab::widgets {

namespace {

constexpr double kPad = 6.0;
constexpr double kFocusWidth = 2.0;
constexpr double kWidestCard = 30.0; ///< in text heights
constexpr double kNarrowestCard = 18.0;
constexpr int kSmallestText = 11;
constexpr std::size_t kMostRows = 3;

QString value(double number, ValueKind kind, int digits) {
    return QString::fromStdString(formatValue(number, kind, digits));
}

QString bytesText(const RunNumbers& numbers) {
    if (numbers.nothingSent)
        return RunStrip::tr("nothing sent");
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
    setToolTip(tr("Choose the run to tune: a click, or arrow keys and Enter"));
    setFocusPolicy(Qt::StrongFocus);
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
    if (cards.size() != cards_.size())
        updateGeometry();
    cards_ = std::move(cards);
    summary_.say(*this, words.join(QStringLiteral("; ")));
    update();
}

int RunStrip::rowHeight(const Type& type) const {
    const double lines = 3 * std::ceil(QFontMetricsF(theme_.font(type.text)).height());
    const double left = std::ceil(QFontMetricsF(theme_.font(type.title, true)).height()) +
                        std::ceil(QFontMetricsF(theme_.font(type.big, true)).height());
    return static_cast<int>(std::max(lines, left) + 2 * kPad);
}

/// One row in the theme's type if that fits, else in smaller type, else several rows of small type;
/// what does not fit even then is counted.
RunStrip::Arrangement RunStrip::arrangement(std::size_t mostRows) const {
    const std::size_t count = std::max<std::size_t>(1, cards_.size());
    const int least = std::min(theme_.textPixels, kSmallestText);
    const auto fitting = static_cast<int>(width() / (kNarrowestCard * static_cast<double>(count)));
    Arrangement result;
    result.type.text = std::clamp(fitting, least, theme_.textPixels);
    const double scale = static_cast<double>(result.type.text) / theme_.textPixels;
    result.type.title = static_cast<int>(std::lround(scale * theme_.titlePixels));
    result.type.big = static_cast<int>(std::lround(scale * theme_.bigPixels));
    const auto perRow = static_cast<std::size_t>(
        std::max(1.0, std::floor(width() / (kNarrowestCard * result.type.text))));
    result.rows = std::min(mostRows, (count + perRow - 1) / perRow);
    result.columns = std::min(perRow, (count + result.rows - 1) / result.rows);
    return result;
}

/// In the height that there is.
RunStrip::Arrangement RunStrip::shownArrangement() const {
    const Arrangement wanted = arrangement(kMostRows);
    const int fitting = height() / rowHeight(wanted.type);
    return arrangement(std::min(wanted.rows, static_cast<std::size_t>(std::max(1, fitting))));
}

QSize RunStrip::sizeHint() const {
    const Arrangement now = arrangement(kMostRows);
    const int one = rowHeight({theme_.textPixels, theme_.titlePixels, theme_.bigPixels});
    return {600, std::max(one, static_cast<int>(now.rows) * rowHeight(now.type))};
}

QSize RunStrip::minimumSizeHint() const {
    return {200, sizeHint().height()};
}

std::size_t RunStrip::hiddenCards() const {
    const Arrangement now = shownArrangement();
    const std::size_t slots = now.rows * now.columns;
    return cards_.size() > slots ? cards_.size() - slots + 1 : 0; // a slot says how many
}

QRectF RunStrip::cardBox(std::size_t slot) const {
    const Arrangement now = shownArrangement();
    const double wide =
        std::min(width() / static_cast<double>(now.columns), kWidestCard * now.type.text);
    const double high = height() / static_cast<double>(now.rows);
    const std::size_t row = slot / now.columns;
    return {static_cast<double>(slot % now.columns) * wide, static_cast<double>(row) * high, wide,
            high};
}

void RunStrip::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    if (event->oldSize().width() != event->size().width())
        updateGeometry(); // another number of rows, perhaps
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

/// Name over the number, facts to their right; in a narrow card the name takes the whole first line
/// and the network's share is left to the chart.
void RunStrip::paintCard(QPainter& painter, const Card& card, const QRectF& box) {
    const Type type = shownArrangement().type;
    const double bar = type.text * 0.5;
    painter.fillRect(QRectF(box.left() + kPad, box.top() + kPad, bar, box.height() - 2 * kPad),
                     card.colour);
    const QRectF inside = box.adjusted(kPad + bar + kPad, kPad, -kPad, -kPad);
    const QFontMetricsF name(theme_.font(type.title, true));
    const QFontMetricsF small(theme_.font(type.text));
    const double number =
        std::ceil(QFontMetricsF(theme_.font(type.big, true)).horizontalAdvance(card.perplexity)) +
        2.0;
    const double kind = std::ceil(small.horizontalAdvance(card.perplexityKind)) + 2.0;
    const double facts =
        std::ceil(std::max({small.horizontalAdvance(card.bytes), small.horizontalAdvance(card.time),
                            small.horizontalAdvance(card.network)})) +
        2.0;
    const double left =
        std::max(std::ceil(name.horizontalAdvance(card.name)) + 2.0, number + kPad + kind);
    const bool roomy = left + 2 * kPad + facts <= inside.width();
    const double top = inside.top() + name.height();
    text(painter, {inside.left(), inside.top(), roomy ? left : inside.width(), name.height()},
         type.title, true, theme_.text, card.name);
    text(painter, {inside.left(), top, std::min(number, inside.width()), inside.bottom() - top},
         type.big, true, theme_.text, card.perplexity);
    if (roomy)
        text(painter, {inside.left() + number + kPad, top, kind, inside.bottom() - top}, type.text,
             false, theme_.mutedText, card.perplexityKind);
    const double x = inside.left() + (roomy ? left : number) + 2 * kPad;
    const QRectF room(x, roomy ? inside.top() : top, std::max(0.0, inside.right() - x),
                      inside.bottom() - (roomy ? inside.top() : top));
    paintFacts(painter, room,
               roomy ? QStringList{card.bytes, card.time, card.network}
                     : QStringList{card.bytes, card.time});
}

void RunStrip::paintFacts(QPainter& painter, const QRectF& room, const QStringList& facts) {
    const Type type = shownArrangement().type;
    const double line = room.height() / static_cast<double>(facts.size());
    for (qsizetype i = 0; i < facts.size(); ++i)
        text(painter, {room.left(), room.top() + static_cast<double>(i) * line, room.width(), line},
             type.text, false, theme_.text, facts[i]);
}

void RunStrip::paintEvent(QPaintEvent* /*event*/) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(rect(), theme_.background);
    textBoxes_.clear();
    const Type type = shownArrangement().type;
    if (cards_.empty())
        text(painter, QRectF(rect()).adjusted(kPad, kPad, -kPad, -kPad), type.title, false,
             theme_.mutedText, tr("No runs yet: set up an experiment and start it"));
    // The newest runs are the ones that somebody watches.
    const std::size_t hidden = hiddenCards();
    std::size_t slot = 0;
    if (hidden > 0)
        text(painter, cardBox(slot++).adjusted(kPad, kPad, -kPad, -kPad), type.title, false,
             theme_.mutedText,
             tr("%n earlier runs: see the table", nullptr, static_cast<int>(hidden)));
    for (std::size_t i = hidden; i < cards_.size(); ++i) {
        const QRectF box = cardBox(slot++);
        paintCard(painter, cards_[i], box);
        if (hasFocus() && i == currentCard()) {
            painter.setPen(QPen(palette().color(QPalette::Highlight), kFocusWidth));
            painter.drawRect(box.adjusted(kFocusWidth, kFocusWidth, -kFocusWidth, -kFocusWidth));
        }
    }
}

std::size_t RunStrip::currentCard() const {
    const auto found = std::find_if(cards_.begin(), cards_.end(),
                                    [this](const Card& card) { return card.id == currentId_; });
    const auto index = static_cast<std::size_t>(found - cards_.begin());
    return index < cards_.size() ? std::max(index, hiddenCards()) : hiddenCards();
}

void RunStrip::moveTo(std::size_t card) {
    if (card >= cards_.size())
        return;
    const Card& current = cards_[card];
    currentId_ = current.id;
    summary_.sayNow(
        *this, tr("%1: perplexity %2, %3").arg(current.name, current.perplexity, current.bytes));
    update();
}

void RunStrip::keyPressEvent(QKeyEvent* event) {
    const std::size_t now = currentCard();
    switch (event->key()) {
    case Qt::Key_Left:
        moveTo(now > hiddenCards() ? now - 1 : now);
        break;
    case Qt::Key_Right:
        moveTo(std::min(now + 1, cards_.size() - 1));
        break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (now < cards_.size())
            Q_EMIT runClicked(cards_[now].id);
        break;
    default:
        QWidget::keyPressEvent(event);
    }
}

void RunStrip::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    moveTo(currentCard());
}

void RunStrip::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    update();
}

void RunStrip::mousePressEvent(QMouseEvent* event) {
    const std::size_t hidden = hiddenCards();
    const std::size_t first = hidden > 0 ? 1 : 0;
    for (std::size_t i = hidden; i < cards_.size(); ++i)
        if (cardBox(first + i - hidden).contains(event->position()))
            Q_EMIT runClicked(cards_[i].id);
}

} // namespace gradlab::widgets
