// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/metrics/gradient_snapshot.h"

#include "engine/metrics/magnitude_bins.h"

#include <cmath>

namespace gradlab::engine {

double magnitudeBinEdge(std::size_t bin) {
    const auto octave = static_cast<int>(bin / kBinsPerOctave) + kLowestOctave;
    return std::ldexp(kBinStarts[bin % kBinsPerOctave], octave);
}

double heatLevelEdge(int level) {
    const int half = level - 1;
    return std::ldexp(half % 2 == 0 ? 1.0 : kBinStarts[2], kHeatLowestOctave + half / 2);
}

} // namespace gradlab::engine
