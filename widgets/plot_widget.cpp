// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Everything is painted into a pixmap, which a moving cursor reuses. New data and windows are only
// noted; ranges, lines and layout follow at the next look.
#include "widgets/plot_widget.h"

#include "engine/core/check.h"
#include "widgets/live_button.h"
#include "widgets/plot_lines.h"
#include "widgets/plot_navigator.h"
#include "widgets/plot_painter.h"
#include "widgets/spoken_summary.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>

#include <algorithm>
#include <utility>

namespace gradlab::widgets {

namespace {

constexpr double kKeyStep = 0.02; ///< of the width, an arrow key moves the crosshair
constexpr int kRubberAlpha = 50;

} // namespace

class PlotWidget::Impl {
public:
    explicit Impl(PlotWidget& owner)
        : owner_(owner), crosshair(owner), navigator(owner), liveButton(new LiveButton(&owner)) {}

    void dataChanged() {
        rangesOutdated_ = true;
        linesOutdated_ = true;
        invalidate();
    }

    void refit() noexcept { holdY_ = false; }

    const PlotRanges& ranges() {
        if (!rangesOutdated_)
            return ranges_;
        PlotRanges ranges = rangesOf(content);
        // While a part of x is looked at, data that come do not move y.
        if (holdY_ && content.window.x && !content.window.y)
            ranges.y = ranges_.y;
        ranges_ = ranges;
        rangesOutdated_ = false;
        holdY_ = true;
        return ranges_;
    }

    /// A range of one kind of axis is none of the other.
    void axesChanged(bool kindChanged) {
        if (!kindChanged)
            return invalidate();
        holdY_ = false;
        dataChanged();
    }

    void setWindow(const PlotWindow& window) {
        if (window == content.window)
            return;
        content.window = window;
        holdY_ = false;
        showButton();
        dataChanged();
    }

    void showButton() {
        const bool zoomed = content.window.isZoomed();
        content.titleRoom = liveButton->place(zoomed);
        content.labelRoom = zoomed ? labelRoom_ : 0.0;
    }

    void themeChanged() {
        liveButton->setTheme(theme);
        showButton();
        dataChanged();
    }

    void invalidate() {
        cache_ = QPixmap();
        owner_.update();
    }

    void render(QPainter& painter, const QSizeF& size) {
        layout = layOutPlot(content, ranges(), theme, size);
        keepLabelRoom(size);
        if (linesOutdated_)
            lines_.set(content, ranges_, theme);
        linesOutdated_ = false;
        painter.setRenderHints(QPainter::Antialiasing | QPainter::TextAntialiasing);
        painter.fillRect(QRectF(QPointF(), size), theme.background);
        paintPlotBackground(painter, content, layout, theme);
        lines_.paint(painter, layout, size);
        paintPlotForeground(painter, content, layout, theme);
    }

    const QPixmap& cached() {
        if (cache_.isNull() || cache_.devicePixelRatio() != owner_.devicePixelRatioF()) {
            const double ratio = owner_.devicePixelRatioF();
            cache_ = QPixmap(owner_.size() * ratio);
            cache_.setDevicePixelRatio(ratio);
            QPainter painter(&cache_);
            render(painter, owner_.size());
        }
        return cache_;
    }

    void showHover(double pixel) {
        (void)cached(); // lays out
        const double inside = std::clamp(pixel, layout.plot.left(), layout.plot.right());
        crosshair.show(layout, inside, owner_.hoverTextAt(layout.valueAtX(inside)));
    }

    /// Zooming shortens labels, and should not move what is under the cursor.
    void keepLabelRoom(const QSizeF& size) {
        if (!content.window.isZoomed())
            labelRoom_ = size.width() - layout.plot.right();
    }

    /// What of x is looked at, to a screen reader.
    void sayWindow() {
        const auto text = [&](double value) {
            return QString::fromStdString(formatValue(value, content.x.kind, 4));
        };
        const AxisRange x = ranges().x;
        summary.sayNow(
            owner_, PlotWidget::tr("%1 %2 to %3").arg(content.x.title, text(x.from), text(x.to)));
    }

    void paintRubber(QPainter& painter) const {
        const std::optional<QRectF> rubber = navigator.rubber();
        if (!rubber)
            return;
        QColor fill = theme.mark;
        fill.setAlpha(kRubberAlpha);
        painter.setPen(QPen(theme.text, 1.0));
        painter.setBrush(fill);
        painter.drawRect(*rubber);
    }

private:
    PlotWidget& owner_;
    PlotLines lines_;
    PlotRanges ranges_;
    bool rangesOutdated_ = true;
    bool linesOutdated_ = true;
    bool holdY_ = false;
    double labelRoom_ = 0.0; ///< of the last layout without a window
    QPixmap cache_;

public:
    PlotContent content;
    PlotLayout layout;
    Theme theme = Theme::make(false, false);
    std::function<HoverText(double)> provider;
    SpokenSummary summary;
    bool likesLogY = false;         ///< the chart's own wish
    std::optional<bool> chosenLogY; ///< the person's
    PlotCrosshair crosshair;
    PlotNavigator navigator;
    LiveButton* liveButton; ///< owned by the widget
};

PlotWidget::PlotWidget(QWidget* parent) : QWidget(parent), impl_(std::make_unique<Impl>(*this)) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setWhatsThis(PlotNavigator::hint());
    connect(impl_->liveButton, &LiveButton::clicked, this, [this] {
        setFocus();
        showAll();
    });
    impl_->themeChanged();
}

PlotWidget::~PlotWidget() = default;

void PlotWidget::setTheme(const Theme& theme) {
    impl_->theme = theme;
    impl_->themeChanged();
}

void PlotWidget::setTitle(const QString& title) {
    impl_->content.title = title;
    setAccessibleName(title);
    impl_->invalidate();
}

void PlotWidget::setXAxis(const QString& title, ValueKind kind, bool logarithmic) {
    const bool changes = impl_->content.x.logarithmic != logarithmic;
    impl_->content.x = {title, kind, logarithmic};
    impl_->axesChanged(changes);
}

void PlotWidget::setYAxis(ValueKind kind, bool logarithmic) {
    impl_->likesLogY = logarithmic;
    impl_->content.y.kind = kind;
    setLogarithmicY(impl_->chosenLogY);
}

void PlotWidget::setLogarithmicY(std::optional<bool> chosen) {
    impl_->chosenLogY = chosen;
    const bool logarithmic = chosen.value_or(impl_->likesLogY);
    const bool changes = impl_->content.y.logarithmic != logarithmic;
    impl_->content.y.logarithmic = logarithmic;
    impl_->axesChanged(changes);
}

bool PlotWidget::isLogarithmicY() const {
    return impl_->content.y.logarithmic;
}

std::optional<bool> PlotWidget::chosenLogarithmicY() const {
    return impl_->chosenLogY;
}

void PlotWidget::setYLimits(std::optional<AxisRange> limits) {
    impl_->content.yLimits = limits;
}

void PlotWidget::setXExtent(std::optional<AxisRange> extent) {
    impl_->content.xExtent = extent;
}

void PlotWidget::setData(std::vector<PlotLine> lines, std::vector<ReferenceLine> references,
                         std::vector<EventMark> events, std::vector<PlotBand> bands) {
    for (const PlotLine& line : lines)
        GRADLAB_CHECK(line.points.size() <= kMaxPoints, line.points.size());
    impl_->content.lines = std::move(lines);
    impl_->content.references = std::move(references);
    impl_->content.events = std::move(events);
    impl_->content.bands = std::move(bands);
    impl_->dataChanged();
}

void PlotWidget::refit() {
    impl_->refit();
}

void PlotWidget::setHoverProvider(std::function<HoverText(double)> provider) {
    impl_->provider = std::move(provider);
}

HoverText PlotWidget::hoverTextAt(double x) const {
    return impl_->provider ? impl_->provider(x) : HoverText{};
}

void PlotWidget::setSummary(const QString& text) {
    if (!impl_->crosshair.isShown()) // what the person reads goes before what the run does
        impl_->summary.say(*this, text);
}

const PlotWindow& PlotWidget::window() const {
    return impl_->content.window;
}

void PlotWidget::setWindow(const PlotWindow& window) {
    impl_->setWindow(window);
}

void PlotWidget::changeWindow(const PlotWindow& window) {
    if (window == impl_->content.window)
        return;
    impl_->setWindow(window);
    Q_EMIT windowChanged(window);
}

void PlotWidget::zoom(bool closer) {
    impl_->navigator.zoomX(closer ? PlotNavigator::kCloser : 1.0 / PlotNavigator::kCloser,
                           crosshair());
}

PlotScales PlotWidget::scales() {
    const PlotContent& content = impl_->content;
    return {impl_->ranges(), fullRangesOf(content), content.x.logarithmic, content.y.logarithmic};
}

QRectF PlotWidget::plotArea() const {
    return impl_->layout.plot;
}

QPointF PlotWidget::valueAt(const QPointF& pixel) {
    PlotLayout now = impl_->layout;
    now.ranges = impl_->ranges();
    return {now.valueAtX(std::clamp(pixel.x(), now.plot.left(), now.plot.right())),
            now.valueAtY(std::clamp(pixel.y(), now.plot.top(), now.plot.bottom()))};
}

std::optional<double> PlotWidget::crosshair() {
    if (!impl_->crosshair.isShown())
        return std::nullopt;
    return valueAt({impl_->crosshair.pixel(), 0.0}).x();
}

PlotLayout PlotWidget::layoutNow() {
    (void)impl_->cached();
    return impl_->layout;
}

void PlotWidget::paintTo(QPainter& painter, const QSizeF& size) {
    PlotContent& content = impl_->content;
    const double room = std::exchange(content.titleRoom, 0.0); // there is no button
    const double labels = std::exchange(content.labelRoom, 0.0);
    const PlotLayout layout = layOutPlot(content, impl_->ranges(), impl_->theme, size);
    content.titleRoom = room;
    content.labelRoom = labels;
    painter.setRenderHints(QPainter::Antialiasing | QPainter::TextAntialiasing);
    painter.fillRect(QRectF(QPointF(), size), impl_->theme.background);
    paintPlotBackground(painter, content, layout, impl_->theme);
    paintPlotLines(painter, content, layout, impl_->theme);
    paintPlotForeground(painter, content, layout, impl_->theme);
}

void PlotWidget::paintEvent(QPaintEvent* /*event*/) {
    QPainter painter(this);
    painter.drawPixmap(0, 0, impl_->cached());
    impl_->crosshair.paint(painter, impl_->layout, impl_->theme);
    impl_->paintRubber(painter);
}

void PlotWidget::resizeEvent(QResizeEvent* /*event*/) {
    impl_->showButton();
    impl_->invalidate();
}

void PlotWidget::mouseMoveEvent(QMouseEvent* event) {
    if (impl_->navigator.move(*event))
        return;
    if (isInside(event->position()))
        impl_->showHover(event->position().x());
    else
        impl_->crosshair.hide();
}

void PlotWidget::mousePressEvent(QMouseEvent* event) {
    if (impl_->navigator.press(*event))
        impl_->crosshair.hide();
    else
        QWidget::mousePressEvent(event);
}

void PlotWidget::mouseReleaseEvent(QMouseEvent* event) {
    if (!impl_->navigator.release(*event))
        QWidget::mouseReleaseEvent(event);
}

void PlotWidget::mouseDoubleClickEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton)
        showAll();
}

void PlotWidget::wheelEvent(QWheelEvent* event) {
    impl_->crosshair.hide();
    event->setAccepted(impl_->navigator.wheel(*event));
}

void PlotWidget::leaveEvent(QEvent* /*event*/) {
    impl_->crosshair.hide();
}

void PlotWidget::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    Q_EMIT activated();
    update();
}

void PlotWidget::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    impl_->crosshair.hide();
    impl_->navigator.cancel();
    update();
}

void PlotWidget::keyPressEvent(QKeyEvent* event) {
    const std::optional<double> read = crosshair();
    if (impl_->navigator.key(*event)) {
        if (read)
            impl_->showHover(layoutNow().mapX(*read));
        return impl_->sayWindow();
    }
    const int direction = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
    if (direction == 0) {
        if (event->key() == Qt::Key_Escape)
            impl_->crosshair.hide();
        return QWidget::keyPressEvent(event);
    }
    const QRectF plot = layoutNow().plot;
    const double from = impl_->crosshair.isShown() ? impl_->crosshair.pixel() : plot.right();
    impl_->showHover(from + direction * kKeyStep * plot.width());
    if (const std::optional<double> at = crosshair())
        impl_->summary.sayNow(*this, hoverTextAt(*at).spoken());
}

} // namespace gradlab::widgets
