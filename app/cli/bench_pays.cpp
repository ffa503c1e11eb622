// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/bench_pays.h"

#include "engine/metrics/link_model.h"

#include <array>
#include <cmath>
#include <string>

namespace gradlab::app {

using Json = nlohmann::ordered_json;

namespace {

constexpr double kBitsPerByte = 8.0;

/// Compute seconds an epoch and worker on one graphics card, of the study's table: no compression,
/// top-k and DGC with 1 %, QSGD with 64 levels.
struct StudyRow {
    const char* model;
    int workers;
    double none;
    double topk;
    double dgc;
    double qsgd;
};
constexpr std::array kStudy = {
    StudyRow{"small", 1, 3.862, 4.158, 4.375, 4.213},
    StudyRow{"small", 2, 2.197, 2.612, 2.864, 2.449},
    StudyRow{"medium", 1, 9.159, 11.620, 10.204, 10.028},
    StudyRow{"medium", 2, 4.875, 6.799, 5.544, 5.347},
    StudyRow{"medium", 4, 2.521, 6.501, 3.352, 3.137},
    StudyRow{"large", 1, 15.968, 19.723, 17.656, 18.361},
};

/// Null where the study has none.
Json studyShare(const Json& cell) {
    const std::string method = cell["method"];
    for (const StudyRow& row : kStudy) {
        if (cell["model"] != row.model || cell["workers"] != row.workers)
            continue;
        if (method == "topk")
            return row.topk / row.none - 1.0;
        if (method == "dgc")
            return row.dgc / row.none - 1.0;
        if (method == "qsgd")
            return row.qsgd / row.none - 1.0;
    }
    return nullptr;
}

/// What sending costs besides the link: every worker's, and the server's.
double extraSeconds(const Json& cell) {
    const Json& cpu = cell["cpu"];
    return cpu["compress"].get<double>() + cpu["encode"].get<double>() +
           cpu["decode"].get<double>() + cell["aggregate_cpu"].get<double>();
}

double bytesOf(const Json& cell) {
    return cell["bytes_up"].get<double>() + cell["bytes_down"].get<double>();
}

/// "always" below any rate, "never": 0.
Json rateBelow(const Json& cell, const Json& dense) {
    engine::LinkModel link;
    link.workers = cell["workers"].get<std::size_t>();
    const double rate = engine::serverBreakEvenRate(link, bytesOf(dense) - bytesOf(cell),
                                                    extraSeconds(cell) - extraSeconds(dense));
    return std::isinf(rate) ? Json("always") : Json(rate * kBitsPerByte);
}

const Json* denseCell(const Json& cells, const Json& like, const char* values) {
    for (const Json& cell : cells)
        if (cell["method"] == "none" && cell["values"] == values &&
            cell["model"] == like["model"] && cell["workers"] == like["workers"])
            return &cell;
    return nullptr;
}

Json named(const Json& cell) {
    Json row = {{"model", cell["model"]}, {"workers", cell["workers"]}, {"method", cell["method"]}};
    for (const char* key : {"ratio", "levels", "values"})
        if (cell.contains(key))
            row[key] = cell[key];
    return row;
}

} // namespace

void addPays(Json& document) {
    document["pays"] = Json::array();
    document["overhead"] = Json::array();
    const Json& cells = document["train"];
    for (const Json& cell : cells) {
        const Json* f32 = denseCell(cells, cell, "f32");
        const Json* f16 = denseCell(cells, cell, "f16");
        if (cell["method"] == "none" || f32 == nullptr || f16 == nullptr)
            continue;
        Json pays = named(cell);
        pays["extra_seconds"] = extraSeconds(cell) - extraSeconds(*f32);
        pays["bits_per_second_below_f32"] = rateBelow(cell, *f32);
        pays["bits_per_second_below_f16"] = rateBelow(cell, *f16);
        pays["gather_workers_below_f32"] = engine::gatherBreakEvenWorkers(
            (*f32)["bytes_message"].get<double>(), cell["bytes_message"].get<double>());
        pays["gather_workers_below_f16"] = engine::gatherBreakEvenWorkers(
            (*f16)["bytes_message"].get<double>(), cell["bytes_message"].get<double>());
        document["pays"].push_back(pays);
        Json overhead = named(cell);
        overhead["share_of_compute"] = cell["compression_share"];
        overhead["study_share"] = studyShare(cell);
        document["overhead"].push_back(overhead);
    }
}

} // namespace gradlab::app
