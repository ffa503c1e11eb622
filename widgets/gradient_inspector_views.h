// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// From a snapshot's numbers to what the inspector's plots and sentences show. Pure functions.
#pragma once

#include "engine/metrics/gradient_snapshot.h"
#include "widgets/histogram_plot.h"

#include <QString>

#include <vector>

namespace gradlab::widgets {

/// |x| of one tensor: all, and the part that was sent.
[[nodiscard]] HistogramData magnitudeView(const engine::TensorSnapshot& tensor);
/// By how many workers the tensor's chosen indices were chosen, beside chance: as if each of N
/// workers drew its share p of the n indices, n·C(N,j)·p^j·(1 − p)^(N − j) would be chosen by j.
[[nodiscard]] HistogramData overlapView(const engine::SnapshotTensor& tensor);
[[nodiscard]] QString overlapSentence(const engine::SnapshotTensor& tensor);
/// QSGD's levels |q| as drawn, beside the sum of their probabilities.
[[nodiscard]] HistogramData levelView(const engine::LevelHistogram& levels);
[[nodiscard]] QString levelSentence(const engine::TensorSnapshot& tensor);
/// Kept shares and threshold in one or two sentences.
[[nodiscard]] QString sentSentence(const engine::TensorSnapshot& tensor);
/// "Sampling cost: 1.2 ms of 35 ms a step".
[[nodiscard]] QString costSentence(const engine::GradientSnapshot& snapshot);

} // namespace gradlab::widgets
