// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/gradient_inspector_views.h"

#include "widgets/gradient_inspector.h"

#include <QLocale>

#include <algorithm>
#include <cmath>

namespace gradlab::widgets {

namespace {

QString number(double value) {
    return QString::fromStdString(formatValue(value, ValueKind::Number));
}

QString share(double part, double whole) {
    return QString::fromStdString(formatValue(whole > 0.0 ? part / whole : 0.0, ValueKind::Share));
}

template <class Value>
double sum(const std::vector<Value>& values) {
    double total = 0.0;
    for (const Value value : values)
        total += static_cast<double>(value);
    return total;
}

/// [j] = indices that j + 1 of the workers would choose if each drew at random.
std::vector<double> chosenByChance(const engine::SnapshotTensor& tensor) {
    const auto workers = static_cast<double>(tensor.chosenBy.size());
    const double n = static_cast<double>(tensor.rows) * static_cast<double>(tensor.columns);
    double choices = 0.0;
    for (std::size_t j = 0; j < tensor.chosenBy.size(); ++j)
        choices += static_cast<double>(j + 1) * static_cast<double>(tensor.chosenBy[j]);
    const double p = n > 0.0 && workers > 0.0 ? choices / (n * workers) : 0.0;
    std::vector<double> chance;
    double ways = 1.0; // C(N, j)
    for (double j = 1.0; j <= workers; ++j) {
        ways *= (workers - j + 1.0) / j;
        chance.push_back(n * ways * std::pow(p, j) * std::pow(1.0 - p, workers - j));
    }
    return chance;
}

QString seconds(double value) {
    return QString::fromStdString(formatValue(value, ValueKind::Seconds, 2));
}

} // namespace

HistogramData magnitudeView(const engine::TensorSnapshot& tensor) {
    HistogramData view;
    const engine::MagnitudeHistogram& counts = tensor.magnitudes;
    const bool levels = tensor.levels.levels > 0;
    view.logX = true;
    view.xTitle = GradientInspector::tr(
        "|gradient + memory|, log bins of a quarter octave; elements on a log axis");
    view.allName = GradientInspector::tr("elements");
    view.shadedName =
        levels ? GradientInspector::tr("not zero after rounding") : GradientInspector::tr("sent");
    for (std::size_t i = 0; i < counts.all.size(); ++i) {
        HistogramBar bar;
        bar.from = engine::magnitudeBinEdge(counts.firstBin + i);
        bar.to = engine::magnitudeBinEdge(counts.firstBin + i + 1);
        bar.all = static_cast<double>(counts.all[i]);
        bar.shaded = static_cast<double>(counts.chosen[i]);
        bar.label = GradientInspector::tr("%1 to %2").arg(number(bar.from), number(bar.to));
        view.bars.push_back(std::move(bar));
    }
    if (counts.zeros > 0)
        view.apart = HistogramBar{0.0,
                                  0.0,
                                  static_cast<double>(counts.zeros),
                                  static_cast<double>(counts.chosenZeros),
                                  std::nullopt,
                                  QStringLiteral("0")};
    if (tensor.hasThreshold()) {
        view.line = tensor.smallestChosen;
        view.lineName = GradientInspector::tr("threshold %1").arg(number(tensor.smallestChosen));
    } else if (levels && tensor.levels.unit > 0.0) {
        view.line = tensor.levels.unit;
        view.lineName = GradientInspector::tr("one level %1").arg(number(tensor.levels.unit));
    }
    return view;
}

HistogramData overlapView(const engine::SnapshotTensor& tensor) {
    HistogramData view;
    view.labelBars = true;
    view.xTitle = GradientInspector::tr("chosen by so many workers; indices on a log axis");
    view.allName = GradientInspector::tr("indices");
    view.expectedName = GradientInspector::tr("by chance");
    const std::vector<double> chance = chosenByChance(tensor);
    for (std::size_t j = 0; j < tensor.chosenBy.size(); ++j) {
        HistogramBar bar;
        bar.from = static_cast<double>(j) + 0.5;
        bar.to = bar.from + 1.0;
        bar.all = static_cast<double>(tensor.chosenBy[j]);
        bar.expected = chance[j];
        bar.label = QString::number(j + 1);
        view.bars.push_back(std::move(bar));
    }
    return view;
}

QString overlapSentence(const engine::SnapshotTensor& tensor) {
    const std::vector<double> chance = chosenByChance(tensor);
    if (tensor.chosenBy.empty())
        return {};
    const double any = sum(tensor.chosenBy);
    const double anyByChance = sum(chance);
    if (tensor.chosenBy.size() == 1)
        return GradientInspector::tr("One worker alone: nobody to agree with.");
    return GradientInspector::tr(
               "Of %1 indices that any worker chose, %2 were chosen by one alone and %3 by all %4. "
               "By chance it would be %5 and %6.")
        .arg(QLocale().toString(any, 'f', 0),
             share(static_cast<double>(tensor.chosenBy.front()), any),
             share(static_cast<double>(tensor.chosenBy.back()), any))
        .arg(tensor.chosenBy.size())
        .arg(share(chance.front(), anyByChance), share(chance.back(), anyByChance));
}

HistogramData levelView(const engine::LevelHistogram& levels) {
    HistogramData view;
    view.xTitle = GradientInspector::tr("level |q|; elements on a log axis");
    view.allName = GradientInspector::tr("drawn");
    view.expectedName = GradientInspector::tr("expected");
    for (std::size_t i = 0; i < levels.drawn.size(); ++i) {
        const std::size_t first = i * levels.width;
        HistogramBar bar;
        bar.from = static_cast<double>(first) - 0.5;
        bar.to = bar.from + levels.width;
        bar.all = static_cast<double>(levels.drawn[i]);
        bar.expected = levels.expected[i];
        bar.label =
            levels.width == 1
                ? GradientInspector::tr("level %1").arg(first)
                : GradientInspector::tr("levels %1 to %2").arg(first).arg(first + levels.width - 1);
        view.bars.push_back(std::move(bar));
    }
    return view;
}

QString levelSentence(const engine::TensorSnapshot& tensor) {
    const engine::LevelHistogram& levels = tensor.levels;
    if (levels.drawn.empty())
        return {};
    const auto n = static_cast<double>(tensor.elements);
    const QString zeros = share(n - static_cast<double>(tensor.nonzero), n);
    QString text = levels.width == 1
                       ? GradientInspector::tr("Rounded to 0: %1, by their probabilities %2.")
                             .arg(zeros, share(levels.expected[0], n))
                       : GradientInspector::tr("Rounded to 0: %1.").arg(zeros);
    if (levels.unit > 0.0)
        text += GradientInspector::tr(" One level is norm/s = %1.").arg(number(levels.unit));
    return text;
}

QString sentSentence(const engine::TensorSnapshot& tensor) {
    const QLocale locale;
    const QString energy = share(tensor.squaredKept, tensor.squaredNorm);
    const auto n = static_cast<double>(tensor.elements);
    if (tensor.levels.levels > 0)
        return GradientInspector::tr(
                   "All %1 elements travel as one of %2 levels; %3 are not zero after rounding. "
                   "What arrives has %4 of the energy.")
            .arg(locale.toString(static_cast<qulonglong>(tensor.elements)),
                 locale.toString(2 * tensor.levels.levels + 1),
                 share(static_cast<double>(tensor.nonzero), n), energy);
    QString text = GradientInspector::tr("Sent: %1 of %2 elements (%3) with %4 of the energy.")
                       .arg(locale.toString(static_cast<qulonglong>(tensor.selected)),
                            locale.toString(static_cast<qulonglong>(tensor.elements)),
                            share(static_cast<double>(tensor.selected), n), energy);
    if (tensor.hasThreshold())
        text += GradientInspector::tr(" Everything of %1 or more went.")
                    .arg(number(tensor.smallestChosen));
    else if (tensor.selection && tensor.largestLeft > tensor.smallestChosen)
        text += GradientInspector::tr(" Size did not decide: elements of up to %1 stayed.")
                    .arg(number(tensor.largestLeft));
    return text;
}

QString costSentence(const engine::GradientSnapshot& snapshot) {
    return GradientInspector::tr("Sampling cost: %1 beside %2 of a step")
        .arg(seconds(snapshot.cost), seconds(snapshot.stepCost));
}

} // namespace gradlab::widgets
