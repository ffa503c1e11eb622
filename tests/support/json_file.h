// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the oracles in tests/data.
#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace gradlab::tests {

inline std::string dataPath(const std::string& name) {
    return std::string(GRADLAB_TEST_DATA) + "/" + name;
}

inline nlohmann::json readJsonFile(const std::string& name) {
    std::ifstream stream(dataPath(name));
    if (!stream)
        throw std::runtime_error("no such test file: " + name);
    return nlohmann::json::parse(stream);
}

template <class T>
std::vector<T> numbers(const nlohmann::json& array) {
    return array.get<std::vector<T>>();
}

/// Largest |a − b| over the largest |b|; infinite for different sizes or anything that is not
/// finite.
template <class A>
double relativeError(std::span<const A> a, std::span<const double> b) {
    double worst = 0.0;
    double scale = 0.0;
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
        const double difference = std::abs(static_cast<double>(a[i]) - b[i]);
        worst = difference <= worst ? worst : difference; // NaN counts as worse
        scale = std::max(scale, std::abs(b[i]));
    }
    if (a.size() != b.size() || !std::isfinite(worst))
        return std::numeric_limits<double>::infinity();
    return scale > 0.0 ? worst / scale : worst;
}

} // namespace gradlab::tests
