// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// QtTest rows from the compressor registry: every legal method and memory, and these times code and
// value type.
#pragma once

#include "tests/support/compression_case.h"

#include <QByteArray>
#include <QTest>

namespace gradlab::test {

struct Combination {
    engine::CompressionSettings settings;
    QByteArray tag;
};

inline engine::CompressionSettings combined(const engine::MethodInfo& method,
                                            const std::string& memory, const std::string& indices,
                                            const std::string& levelCode,
                                            const std::string& values) {
    engine::CompressionSettings settings = settingsOf(method.name, memory);
    settings.indices = indices;
    settings.levelCode = levelCode;
    settings.values = values;
    settings.parameters["ratio"] = 0.05;
    settings.parameters["bucket"] = std::int64_t{100};
    return settings;
}

/// The registry's product, memory × code × values of each method.
inline std::vector<Combination> combinations() {
    std::vector<Combination> all;
    eachPair([&](const engine::MethodInfo& method, const std::string& memory) {
        for (const auto& [indices, levelCode] : codesOf(method))
            for (const std::string& values : valueNames()) {
                const std::string tag =
                    method.name + " " + memory + " " + indices + " " + levelCode + " " + values;
                all.push_back({combined(method, memory, indices, levelCode, values),
                               QByteArray::fromStdString(tag)});
            }
    });
    return all;
}

inline void addCombinations() {
    QTest::addColumn<int>("combination");
    const auto all = combinations();
    for (std::size_t i = 0; i < all.size(); ++i)
        QTest::newRow(all[i].tag.constData()) << static_cast<int>(i);
}

inline void addPairs() {
    QTest::addColumn<QString>("method");
    QTest::addColumn<QString>("memory");
    eachPair([](const engine::MethodInfo& method, const std::string& memory) {
        QTest::addRow("%s %s", method.name.c_str(), memory.c_str())
            << QString::fromStdString(method.name) << QString::fromStdString(memory);
    });
}

} // namespace gradlab::test
