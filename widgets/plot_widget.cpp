// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Qt Charts draws the lines only: hidden linear axes (of log10 where logarithmic), one QLineSeries
// for each unbroken piece of a line, always replace() (append of a list is quadratic in 6.4), never
// OpenGL, dashes or animations. Everything else is painted around it, into a pixmap that a moving
// cursor reuses.
#include "widgets/plot_widget.h"

#include "engine/core/check.h"
#include "widgets/plot_painter.h"
#include "widgets/spoken_summary.h"

#include <QChart>
#include <QGraphicsLayout>
#include <QGraphicsScene>
#include <QKeyEvent>
#include <QLegend>
#include <QLineSeries>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QValueAxis>

#include <algorithm>
#include <cmath>

namespace gradlab::widgets {

namespace {

constexpr std::size_t kMostPieces = 32; ///< of one line; of more the latest are drawn
constexpr double kKeyStep = 0.02;       ///< of the width, an arrow key

double axisValue(double value, bool logarithmic) {
    return logarithmic ? std::log10(value) : value;
}

AxisRange axisRange(AxisRange range, bool logarithmic) {
    return {axisValue(range.from, logarithmic), axisValue(range.to, logarithmic)};
}

/// The one place where values become coordinates: finite, positive on a log axis, and not so far
/// outside that the path's numbers lose their digits.
std::vector<QList<QPointF>> piecesOf(const PlotLine& line, const PlotContent& content,
                                     AxisRange y) {
    const double reach = 2.0 * (y.to - y.from);
    std::vector<QList<QPointF>> pieces(1);
    for (const PlotPoint& point : line.points) {
        if (!isDrawable(point.x, content.x.logarithmic))
            continue;
        if (!isDrawable(point.y, content.y.logarithmic)) {
            if (!pieces.back().isEmpty())
                pieces.emplace_back();
            continue;
        }
        const double value = axisValue(point.y, content.y.logarithmic);
        pieces.back().append(QPointF(axisValue(point.x, content.x.logarithmic),
                                     std::clamp(value, y.from - reach, y.to + reach)));
    }
    if (pieces.size() > kMostPieces)
        pieces.erase(pieces.begin(), pieces.end() - static_cast<std::ptrdiff_t>(kMostPieces));
    return pieces;
}

QString toolTipOf(const HoverText& hover) {
    QString html = QStringLiteral("<b>%1</b>").arg(hover.title.toHtmlEscaped());
    for (const HoverLine& line : hover.lines)
        html += QStringLiteral("<br><span style=\"color:%1\">■</span> %2")
                    .arg(line.colour.name(), line.text.toHtmlEscaped());
    return html;
}

} // namespace

class PlotWidget::Impl {
public:
    explicit Impl(PlotWidget& owner) : owner_(owner) {
        scene_.setItemIndexMethod(QGraphicsScene::NoIndex);
        chart_->setAnimationOptions(QChart::NoAnimation);
        chart_->setBackgroundVisible(false);
        chart_->setPlotAreaBackgroundVisible(false);
        chart_->legend()->hide();
        chart_->setMargins(QMargins());
        chart_->layout()->setContentsMargins(0, 0, 0, 0);
        chart_->addAxis(x_, Qt::AlignBottom);
        chart_->addAxis(y_, Qt::AlignLeft);
        x_->setVisible(false);
        y_->setVisible(false);
        scene_.addItem(chart_);
    }

    void dataChanged() {
        const PlotRanges ranges = rangesOf(content);
        if (!(ranges == ranges_) || rangesOutdated_) {
            ranges_ = ranges;
            rangesOutdated_ = false;
            const AxisRange x = axisRange(ranges.x, content.x.logarithmic);
            const AxisRange y = axisRange(ranges.y, content.y.logarithmic);
            x_->setRange(x.from, x.to);
            y_->setRange(y.from, y.to);
        }
        std::size_t used = 0;
        for (const PlotLine& line : content.lines)
            for (const QList<QPointF>& piece :
                 piecesOf(line, content, axisRange(ranges.y, content.y.logarithmic)))
                show(used++, piece, line);
        for (std::size_t i = used; i < series_.size(); ++i)
            if (series_[i]->count() > 0)
                series_[i]->clear();
        invalidate();
    }

    /// A range of one kind of axis is none of the other.
    void axesChanged(bool kindChanged) {
        rangesOutdated_ |= kindChanged;
        if (kindChanged)
            dataChanged();
        else
            invalidate();
    }

    void invalidate() {
        cache_ = QPixmap();
        owner_.update();
    }

    void render(QPainter& painter, const QSizeF& size) {
        layout = layOutPlot(content, ranges_, theme, size);
        chart_->resize(size);
        chart_->setPlotArea(layout.plot);
        scene_.setSceneRect(QRectF(QPointF(), size));
        painter.setRenderHints(QPainter::Antialiasing | QPainter::TextAntialiasing);
        painter.fillRect(QRectF(QPointF(), size), theme.background);
        paintPlotBackground(painter, content, layout, theme);
        scene_.render(&painter, scene_.sceneRect(), scene_.sceneRect());
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
        hoverPixel = std::clamp(pixel, layout.plot.left(), layout.plot.right());
        hover = owner_.hoverTextAt(layout.valueAtX(hoverPixel));
        const QPoint place(static_cast<int>(hoverPixel),
                           static_cast<int>(layout.plot.center().y()));
        if (hover.lines.empty())
            QToolTip::hideText();
        else
            QToolTip::showText(owner_.mapToGlobal(place), toolTipOf(hover), &owner_);
        hovering = !hover.lines.empty();
        owner_.update();
    }

    void hideHover() {
        if (!hovering)
            return;
        hovering = false;
        QToolTip::hideText();
        owner_.update();
    }

    void paintHover(QPainter& painter) const {
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(theme.mutedText, 1.0));
        painter.drawLine(QPointF(hoverPixel, layout.plot.top()),
                         QPointF(hoverPixel, layout.plot.bottom()));
        for (const HoverLine& line : hover.lines) {
            if (!isDrawable(line.y, layout.logY))
                continue;
            const QPointF at(hoverPixel, layout.mapY(line.y));
            painter.setPen(QPen(theme.background, 1.5));
            painter.setBrush(line.colour);
            if (layout.plot.contains(at))
                painter.drawEllipse(at, theme.lineWidth * 2, theme.lineWidth * 2);
        }
    }

    PlotContent content;
    PlotLayout layout;
    Theme theme = Theme::make(false, false);
    std::function<HoverText(double)> provider;
    HoverText hover;
    double hoverPixel = 0.0;
    bool hovering = false;
    SpokenSummary summary;

private:
    void show(std::size_t index, const QList<QPointF>& piece, const PlotLine& line) {
        if (index == series_.size()) {
            series_.push_back(new QLineSeries(chart_));
            chart_->addSeries(series_.back());
            series_.back()->attachAxis(x_);
            series_.back()->attachAxis(y_);
        }
        QLineSeries* series = series_[index];
        const QPen pen(line.colour, line.thick ? theme.lineWidth : theme.thinLineWidth);
        if (series->pen() != pen)
            series->setPen(pen);
        series->replace(piece);
    }

    PlotWidget& owner_;
    QGraphicsScene scene_;
    QChart* chart_ = new QChart;       ///< owned by the scene
    QValueAxis* x_ = new QValueAxis;   ///< owned by the chart
    QValueAxis* y_ = new QValueAxis;   ///< owned by the chart
    std::vector<QLineSeries*> series_; ///< owned by the chart; reused, never removed
    PlotRanges ranges_;
    bool rangesOutdated_ = true; ///< an axis has changed its kind
    QPixmap cache_;
};

PlotWidget::PlotWidget(QWidget* parent) : QWidget(parent), impl_(std::make_unique<Impl>(*this)) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_OpaquePaintEvent);
}

PlotWidget::~PlotWidget() = default;

void PlotWidget::setTheme(const Theme& theme) {
    impl_->theme = theme;
    impl_->dataChanged();
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
    const bool changes = impl_->content.y.logarithmic != logarithmic;
    impl_->content.y = {{}, kind, logarithmic};
    impl_->axesChanged(changes);
}

void PlotWidget::setYLimits(std::optional<AxisRange> limits) {
    impl_->content.yLimits = limits;
}

void PlotWidget::setData(std::vector<PlotLine> lines, std::vector<ReferenceLine> references,
                         std::vector<EventMark> events) {
    for (const PlotLine& line : lines)
        GRADLAB_CHECK(line.points.size() <= kMaxPoints, line.points.size());
    impl_->content.lines = std::move(lines);
    impl_->content.references = std::move(references);
    impl_->content.events = std::move(events);
    impl_->dataChanged();
}

void PlotWidget::setHoverProvider(std::function<HoverText(double)> provider) {
    impl_->provider = std::move(provider);
}

HoverText PlotWidget::hoverTextAt(double x) const {
    return impl_->provider ? impl_->provider(x) : HoverText{};
}

void PlotWidget::setSummary(const QString& text) {
    impl_->summary.say(*this, text);
}

PlotLayout PlotWidget::layoutNow() {
    (void)impl_->cached();
    return impl_->layout;
}

QImage PlotWidget::renderImage(const QSize& size, double scale) {
    QImage image((QSizeF(size) * scale).toSize(), QImage::Format_RGB32);
    QPainter painter(&image);
    painter.scale(scale, scale);
    impl_->render(painter, size);
    painter.end();
    impl_->invalidate();
    return image;
}

QSize PlotWidget::sizeHint() const {
    return {480, 260};
}

QSize PlotWidget::minimumSizeHint() const {
    return {120, 90};
}

void PlotWidget::paintEvent(QPaintEvent* /*event*/) {
    QPainter painter(this);
    painter.drawPixmap(0, 0, impl_->cached());
    if (impl_->hovering)
        impl_->paintHover(painter);
}

void PlotWidget::resizeEvent(QResizeEvent* /*event*/) {
    impl_->invalidate();
}

void PlotWidget::mouseMoveEvent(QMouseEvent* event) {
    if (impl_->layout.plot.contains(event->position()))
        impl_->showHover(event->position().x());
    else
        impl_->hideHover();
}

void PlotWidget::leaveEvent(QEvent* /*event*/) {
    impl_->hideHover();
}

void PlotWidget::focusOutEvent(QFocusEvent* /*event*/) {
    impl_->hideHover();
}

void PlotWidget::keyPressEvent(QKeyEvent* event) {
    const int direction = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
    if (direction == 0) {
        impl_->hideHover();
        return QWidget::keyPressEvent(event);
    }
    const QRectF plot = layoutNow().plot;
    const double from = impl_->hovering ? impl_->hoverPixel : plot.right();
    impl_->showHover(from + direction * kKeyStep * plot.width());
}

} // namespace gradlab::widgets
