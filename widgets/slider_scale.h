// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The positions of a field's slider and the round values that they stand for. No Qt.
//   logarithmic: 24 a decade (1, 1.1, 1.2, 1.3, 1.5, …), 0 before them where the field allows it
//   linear:      every step of the range
#pragma once

#include "engine/core/field_spec.h"

#include <vector>

namespace gradlab::widgets {

class SliderScale {
public:
    /// `field` has a slider.
    explicit SliderScale(const engine::FieldSpec& field);

    [[nodiscard]] int last() const noexcept { return static_cast<int>(values_.size()) - 1; }
    /// `position` from 0 to last().
    [[nodiscard]] double valueAt(int position) const;
    /// The nearest one, of a logarithmic scale by ratio; an end for what is beyond.
    [[nodiscard]] int positionOf(double value) const;

private:
    std::vector<double> values_; ///< ascending
    bool logarithmic_;
};

} // namespace gradlab::widgets
