// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The oracle's training runs (tests/data/curves.json) as command lines of gradlab-cli.
#pragma once

#include "tests/support/json_file.h"

#include <QString>
#include <QStringList>

namespace gradlab::tests {

inline QString dataFile(const char* name) {
    return QString(GRADLAB_TEST_DATA "/%1").arg(name);
}

/// All digits.
inline QString numberText(const nlohmann::json& value) {
    return QString::number(value.get<double>(), 'g', 17);
}

inline nlohmann::json oracleRuns() {
    return readJsonFile("curves.json").at("runs");
}

inline QStringList oracleMethodOptions(const nlohmann::json& run) {
    QStringList options{"--method", QString::fromStdString(run.at("method").get<std::string>())};
    if (!run.at("ratio").is_null())
        options << "--ratio" << numberText(run.at("ratio"));
    if (!run.at("error_feedback").get<bool>())
        options << QStringList{"--memory", "none"};
    if (run.at("method") == "dgc")
        options << QStringList{"--dgc-sample", "1", "--dgc-momentum",
                               numberText(run.at("momentum"))};
    return options;
}

inline QStringList oracleOptions(const nlohmann::json& run) {
    QStringList options = QString("train --corpus TRAIN --valid VALID --test VALID --vocabulary 0 "
                                  "--hidden 12 --layers 2 --bptt 7 --batch 8 --steps 80 "
                                  "--epochs 1000 --patience 1000 --init INIT --eval-batch 4 "
                                  "--precision f64")
                              .split(' ');
    options.replaceInStrings("TRAIN", dataFile("tiny.train.txt"));
    options.replaceInStrings("VALID", dataFile("tiny.valid.txt"));
    options.replaceInStrings("INIT", dataFile("init.safetensors"));
    options << "--lr" << numberText(run.at("lr")) << "--clip" << numberText(run.at("clip"))
            << "--workers" << QString::number(run.at("workers").get<int>());
    return options + oracleMethodOptions(run);
}

} // namespace gradlab::tests
