// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A parameter as data: what it is called, what it may be and what it means. Command line,
// experiment file and window build themselves from lists of these; compressors and memories declare
// their own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace gradlab::engine {

using FieldValue = std::variant<bool, std::int64_t, double, std::string>;

/// Rate: bits per second, written "100Mbit"; Duration: seconds, written "1ms". Both are held as
/// double.
enum class FieldType { Boolean, Integer, Real, Choice, Text, Path, Rate, Duration };

/// The field matters only while `path` has one of `values` (all conditions must hold).
struct UsedWhen {
    std::string path;
    std::vector<std::string> values;
};

/// The part of a field's range in which people try things out, for a slider.
struct SliderRange {
    double from = 0.0;
    double to = 1.0;
    double step = 0.0; ///< of a linear one; 0: logarithmic, with `from` > 0
};

struct FieldSpec {
    std::string path;   ///< dotted, as in the experiment file: "compression.ratio"
    std::string option; ///< "--ratio"; of a Boolean: the flag that sets the opposite of the default
    FieldType type = FieldType::Text;
    FieldValue defaultValue{};
    std::optional<double> minimum{};
    std::optional<double> maximum{};
    bool minimumExcluded = false;
    bool maximumExcluded = false;
    std::vector<std::string> choices{}; ///< of a Choice
    std::string label{};                ///< for the form: "Kept ratio"
    std::string unit{};                 ///< "steps", "tokens", "" for none
    std::string help{};                 ///< one or two plain sentences
    std::string equation{};             ///< plain text, may be empty
    std::string source{};               ///< publication, may be empty
    std::vector<UsedWhen> usedWhen{};
    bool live = false;     ///< may change at a step boundary of a running run
    bool advanced = false; ///< folded away in the form at first
    std::optional<SliderRange> slider{};
};

/// Values of the parameters that compressors and memories declare, by last path component
/// ("ratio").
using ParameterValues = std::map<std::string, FieldValue, std::less<>>;

} // namespace gradlab::engine
