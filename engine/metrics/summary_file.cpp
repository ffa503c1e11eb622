// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/metrics/summary_file.h"

#include "engine/core/atomic_file.h"
#include "engine/metrics/record_json.h"

#include <nlohmann/json.hpp>

#include <string_view>
#include <utility>

namespace gradlab::engine {

namespace {

using Json = nlohmann::ordered_json;

Json ratio(double dense, double sent) {
    return sent > 0.0 ? Json(dense / sent) : Json();
}

} // namespace

std::string summaryJson(const StartRecord& start, const EndRecord& end) {
    Json summary;
    summary["schema"] = 1;
    summary["version"] = start.version;
    // The log's end record has the contract's names; the summary says the same and a little more.
    const Json endObject = Json::parse(toJsonLine(end));
    for (const auto& [key, value] : endObject.items()) {
        if (key != "kind")
            summary[key] = value;
    }
    summary["compression_ratio"] = ratio(end.bytesDense, end.bytesMessage);
    summary["compression_ratio_16bit"] = ratio(end.bytesDense / 2.0, end.bytesMessage);
    summary["compression_ratio_paper"] = ratio(end.bytesDense, end.bytesPaper);
    summary["parameters"] = start.parameters;
    summary["vocabulary"] = start.vocabulary;
    summary["corpus_hash"] = start.corpusHash;
    if (start.entropyFloor)
        summary["entropy_floor"] = *start.entropyFloor;
    summary["unigram_perplexity"] = start.unigramPerplexity;
    summary["host"] = start.host;
    summary["cpu"] = start.cpu;
    summary["isa"] = start.isa;
    const Json experiment = Json::parse(start.experimentJson, nullptr, false);
    if (!experiment.is_discarded())
        summary["experiment"] = experiment;
    return summary.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

SummaryFile::SummaryFile(std::filesystem::path path) : path_(std::move(path)) {}

SummaryFile::~SummaryFile() = default;

void SummaryFile::record(const Record& record) {
    if (const auto* start = std::get_if<StartRecord>(&record))
        start_ = *start;
    const auto* end = std::get_if<EndRecord>(&record);
    if (end == nullptr)
        return;
    AtomicFile file(path_);
    file.write(std::string_view(summaryJson(start_, *end)));
    file.commit();
}

} // namespace gradlab::engine
