// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/perplexity_chart.h"

#include "widgets/prediction_pen.h"
#include "widgets/seed_spread.h"

#include <QLocale>
#include <QStringList>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace gradlab::widgets {

namespace {

constexpr int kMemberAlpha = 70;      ///< of the runs behind their mean
constexpr int kPredictionAlpha = 150; ///< pale, and still 3:1 against both backgrounds
constexpr double kFrameTop = 1000.0;  ///< perplexities to draw on while there is no run
constexpr double kFrameBottom = 2.0;
constexpr double kLimitOverUnigram = 8.0; ///< perplexities above that are drawn as border marks

QString shortNumber(double value) {
    return QString::fromStdString(formatValue(value, ValueKind::Number, 3));
}

QString spreadText(const engine::Spread& spread) {
    return QStringLiteral("%1 ± %2").arg(shortNumber(spread.mean), shortNumber(spread.deviation));
}

/// All digits that the record has.
QString exactNumber(double value) {
    return QString::number(value, 'g', QLocale::FloatingPointShortest);
}

/// Runs of one corpus share their lines; other corpora add theirs.
void addReference(std::vector<ReferenceLine>& lines, const std::optional<double>& value,
                  const QString& text) {
    const auto same = [&](const ReferenceLine& line) {
        return std::abs(line.y / *value - 1.0) < 1e-3;
    };
    if (value && *value > 0.0 && std::none_of(lines.begin(), lines.end(), same))
        lines.push_back({*value, text.arg(shortNumber(*value))});
}

} // namespace

PerplexityChart::PerplexityChart(QWidget* parent)
    : RunChart(parent), plot_(new PlotWidget(this)), pen_(new PredictionPen(plot_)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(plot_);
    setObjectName(QStringLiteral("perplexity-chart"));
    setAccessibleName(tr("Perplexity"));
    plot_->setTitle(tr("Perplexity: validation thick, training thin"));
    addPlot(plot_, QStringLiteral("perplexity"));
    plot_->setYAxis(ValueKind::Number, true);
    plot_->setHoverProvider([this](double x) { return hoverAt(x); });
    connect(pen_, &PredictionPen::drawn, this, &PerplexityChart::takeStroke);
}

/// One line for a group of seeds; the first group is what the others are compared with.
HoverText PerplexityChart::hoverAt(double x) const {
    if (curtain_ && (!isAlongSteps() || x > *curtain_))
        return {tr("Hidden until the prediction's end"), {}};
    const std::vector<RunList> groups = togetherGroups();
    HoverText hover = hoverText(*plot_, x, Metric::TrainPerplexity, [&](const RunInfo& run) {
        return areSeedsTogether() && run.seedGroup != 0 ? QString() : hoverLine(run, x);
    });
    for (const RunList& group : groups) {
        std::vector<double> values;
        for (const RunInfo& run : group)
            if (const auto valid = run.series->nearest(Metric::ValidPerplexity, xAxis(), x))
                values.push_back(valid->value);
        const engine::Spread spread = engine::spreadOf(values);
        if (spread.count == 0)
            continue;
        QString text = tr("%1, %2 seeds: validation %3")
                           .arg(group.front().seedGroupName)
                           .arg(spread.count)
                           .arg(spreadText(spread));
        if (&group != &groups.front()) {
            const engine::Spread difference =
                pairedDifference(group, groups.front(), Metric::ValidPerplexity, xAxis(), x);
            if (difference.count > 0)
                text += tr(" · %1%2 to %3 with the same seeds")
                            .arg(difference.mean > 0.0 ? QStringLiteral("+") : QString(),
                                 spreadText(difference), groups.front().front().seedGroupName);
        }
        hover.lines.push_back({text, theme().runColour(group.front().colour), spread.mean});
    }
    return hover;
}

QString PerplexityChart::hoverLine(const RunInfo& run, double x) const {
    QStringList parts;
    if (const auto valid = run.series->nearest(Metric::ValidPerplexity, xAxis(), x))
        parts << tr("validation %1 at step %2").arg(exactNumber(valid->value)).arg(valid->x[0]);
    if (const auto train = run.series->nearest(Metric::TrainPerplexity, xAxis(), x))
        parts << tr("training %1").arg(exactNumber(train->value));
    return parts.join(QStringLiteral(" · "));
}

void PerplexityChart::addRun(const RunInfo& run, std::vector<PlotLine>& lines) const {
    const RunNumbers numbers = run.series->numbers();
    const auto label = [&](const std::optional<double>& value) {
        // The latest number belongs to the end, which may not be in the window.
        return value && !plot_->window().x
                   ? QStringLiteral("%1  %2").arg(run.name, shortNumber(*value))
                   : run.name;
    };
    PlotLine valid =
        line(*plot_, run, Metric::ValidPerplexity, true, label(numbers.validPerplexity));
    const auto& window = plot_->window().x;
    const bool validated =
        !valid.points.empty() && (!window || valid.points.front().x <= window->to);
    addNoisyLine(lines, *plot_, run, Metric::TrainPerplexity, false,
                 validated ? QString() : label(numbers.trainPerplexity));
    if (!validated)
        return;
    valid.markers = true;
    lines.push_back(std::move(valid));
}

std::vector<RunList> PerplexityChart::togetherGroups() const {
    return areSeedsTogether() ? seedGroups(shownRuns()) : std::vector<RunList>();
}

/// The runs pale and thin behind their mean; nothing while there is no mean yet.
bool PerplexityChart::addGroup(const RunList& group, std::vector<PlotLine>& lines,
                               std::vector<PlotBand>& bands) const {
    std::vector<std::vector<PlotPoint>> validated;
    std::vector<PlotLine> members;
    for (const RunInfo& run : group) {
        members.push_back(line(*plot_, run, Metric::ValidPerplexity, false, QString()));
        members.back().colour.setAlpha(kMemberAlpha);
        validated.push_back(members.back().points);
    }
    const std::vector<SpreadPoint> spread = spreadAlong(validated);
    if (spread.empty())
        return false;
    PlotLine mean;
    mean.colour = theme().runColour(group.front().colour);
    mean.markers = true;
    PlotBand band;
    band.colour = mean.colour;
    for (const SpreadPoint& point : spread) {
        mean.points.push_back({point.x, point.mean});
        band.points.push_back(
            {point.x, point.mean - point.deviation, point.mean + point.deviation});
    }
    const engine::Spread last{group.size(), spread.back().mean, spread.back().deviation};
    mean.label = plot_->window().x
                     ? group.front().seedGroupName
                     : QStringLiteral("%1  %2").arg(group.front().seedGroupName, spreadText(last));
    std::move(members.begin(), members.end(), std::back_inserter(lines));
    lines.push_back(std::move(mean));
    bands.push_back(std::move(band));
    return true;
}

void PerplexityChart::redraw() {
    std::vector<PlotLine> lines;
    std::vector<PlotBand> bands;
    std::vector<int> drawn; // groups
    for (const RunList& group : togetherGroups())
        if (addGroup(group, lines, bands))
            drawn.push_back(group.front().seedGroup);
    std::vector<ReferenceLine> references;
    QStringList words;
    double limit = 0.0;
    for (const RunInfo& run : shownRuns()) {
        if (std::find(drawn.begin(), drawn.end(), run.seedGroup) == drawn.end())
            addRun(run, lines);
        addReference(references, run.series->unigramPerplexity(), tr("word frequencies alone %1"));
        addReference(references, run.series->entropyFloor(), tr("floor %1"));
        limit = std::max(limit, run.series->unigramPerplexity().value_or(0.0));
        const RunNumbers numbers = run.series->numbers();
        if (numbers.validPerplexity)
            words << tr("%1 %2").arg(run.name, shortNumber(*numbers.validPerplexity));
    }
    drawCurtain(lines);
    addPrediction(lines);
    plot_->setYLimits(limit > 0.0 ? std::optional<AxisRange>({0.5, kLimitOverUnigram * limit})
                                  : std::nullopt);
    applyXAxis(*plot_);
    showFuture();
    plot_->setData(std::move(lines), std::move(references), changeMarks(*plot_), std::move(bands));
    if (curtain_)
        words = {tr("hidden until the prediction's end")};
    plot_->setSummary(words.isEmpty()
                          ? tr("No validation yet")
                          : tr("Validation perplexity: %1").arg(words.join(QStringLiteral(", "))));
}

QStringList PerplexityChart::logFields() const {
    return {QStringLiteral("loss"), QStringLiteral("lr"), QStringLiteral("split"),
            QStringLiteral("nll"), QStringLiteral("perplexity")};
}

std::unique_ptr<RunChart> PerplexityChart::fresh() const {
    auto chart = std::make_unique<PerplexityChart>();
    chart->prediction_ = prediction_;
    chart->curtain_ = curtain_;
    return chart;
}

void PerplexityChart::setPrediction(const Prediction& prediction) {
    prediction_ = prediction;
    outdate();
}

void PerplexityChart::setPredicting(std::optional<double> horizon) {
    horizon_ = horizon;
    pen_->setInUse(horizon.has_value());
    outdate();
}

void PerplexityChart::setCurtain(std::optional<double> step) {
    curtain_ = step;
    outdate();
}

/// Of the run that has come furthest; 0 before any.
double PerplexityChart::lastStep() const {
    double last = 0.0;
    for (const RunInfo& run : shownRuns())
        last = std::max(last, run.series->now()[static_cast<std::size_t>(XAxis::Step)]);
    return last;
}

std::optional<double> PerplexityChart::currentPerplexity() const {
    const RunList shown = shownRuns();
    if (shown.empty())
        return std::nullopt;
    const RunNumbers numbers = shown.front().series->numbers();
    return numbers.validPerplexity ? numbers.validPerplexity : numbers.trainPerplexity;
}

/// What has been is no prediction.
void PerplexityChart::takeStroke(const PlotPoint& from, const PlotPoint& to) {
    const double known = lastStep();
    const auto future = [&](const PlotPoint& point) {
        return PlotPoint{std::max(std::round(point.x), known), point.y};
    };
    if (!isAlongSteps() || std::max(from.x, to.x) < known)
        return;
    prediction_.stroke(future(from), future(to));
    outdate();
    refresh();
    Q_EMIT predictionDrawn();
}

/// Without their numbers, which are of the end; off the step axis nothing of them is shown.
void PerplexityChart::drawCurtain(std::vector<PlotLine>& lines) const {
    if (!curtain_)
        return;
    for (PlotLine& line : lines) {
        line.label.clear();
        std::erase_if(line.points, [&](const PlotPoint& point) {
            return !isAlongSteps() || point.x > *curtain_;
        });
        line.nonFinite.clear();
    }
}

void PerplexityChart::addPrediction(std::vector<PlotLine>& lines) const {
    if (!isAlongSteps())
        return;
    if (horizon_ && shownRuns().empty()) { // axes to draw on
        PlotLine frame;
        frame.colour = Qt::transparent;
        frame.thick = false;
        frame.points = {{1.0, kFrameTop}, {*horizon_, kFrameBottom}};
        lines.push_back(std::move(frame));
    }
    if (prediction_.isEmpty())
        return;
    PlotLine line;
    line.label = tr("Prediction  %1").arg(shortNumber(prediction_.end().y));
    line.colour = theme().text;
    line.colour.setAlpha(kPredictionAlpha);
    line.thick = prediction_.points().size() == 1; // a dot that is seen
    line.markers = prediction_.points().size() < 3;
    line.points = prediction_.points();
    lines.push_back(std::move(line));
}

void PerplexityChart::showFuture() {
    if (!horizon_ || !isAlongSteps())
        return;
    double first = 1.0;
    for (const RunInfo& run : shownRuns())
        first = std::min(first, run.series->begin()[static_cast<std::size_t>(XAxis::Step)]);
    plot_->setXExtent(AxisRange{first, std::max(*horizon_, lastStep())});
}

void PerplexityChart::applyTheme() {
    plot_->setTheme(theme());
}

} // namespace gradlab::widgets
