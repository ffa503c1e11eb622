// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/seed_report.h"

#include "app/cli/quantity_format.h"
#include "app/cli/text_table.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace gradlab::app {

namespace {

using Json = nlohmann::ordered_json;

std::optional<double> testOf(const engine::EndRecord& end) {
    return end.testPerplexity;
}
std::optional<double> validOf(const engine::EndRecord& end) {
    return end.bestValidPerplexity;
}
std::optional<double> sentOf(const engine::EndRecord& end) {
    return end.bytesUp;
}

std::string spreadText(const Spread& spread) {
    if (spread.count == 0)
        return "–";
    const std::string mean = shortNumber(spread.mean);
    return spread.count == 1 ? mean : mean + " ± " + shortNumber(spread.deviation);
}

std::string differenceText(const Spread& spread) {
    return (spread.count > 0 && spread.mean > 0.0 ? "+" : "") + spreadText(spread);
}

Json spreadJson(const std::vector<std::optional<double>>& values) {
    Json json;
    json["values"] = Json::array();
    for (const std::optional<double>& value : values)
        json["values"].push_back(value ? Json(*value) : Json());
    const Spread spread = spreadOf(values);
    json["mean"] = spread.count > 0 ? Json(spread.mean) : Json();
    json["deviation"] = spread.count > 1 ? Json(spread.deviation) : Json();
    return json;
}

} // namespace

Spread spreadOf(const std::vector<std::optional<double>>& values) {
    std::vector<double> present;
    for (const std::optional<double>& value : values)
        if (value)
            present.push_back(*value);
    return engine::spreadOf(present);
}

void SeedReport::add(std::int64_t seed, std::vector<std::optional<engine::EndRecord>> ends) {
    ends.resize(names_.size());
    seeds_.push_back(seed);
    ends_.push_back(std::move(ends));
}

SeedReport::Values
SeedReport::valuesOf(std::size_t member,
                     std::optional<double> (*take)(const engine::EndRecord&)) const {
    Values values;
    for (const auto& ends : ends_)
        values.push_back(ends[member] ? take(*ends[member]) : std::nullopt);
    return values;
}

SeedReport::Values SeedReport::differences(std::size_t member) const {
    Values values = valuesOf(member, testOf);
    const Values first = valuesOf(0, testOf);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] =
            values[i] && first[i] ? std::optional<double>(*values[i] - *first[i]) : std::nullopt;
    return values;
}

std::string SeedReport::table() const {
    const bool compared = names_.size() > 1;
    std::vector<std::vector<std::string>> rows{
        {std::to_string(seeds_.size()) + (seeds_.size() == 1 ? " seed" : " seeds"), "best valid",
         "test", "sent by a worker", ""}};
    if (compared)
        rows.front().back() = "test, less that of " + names_.front() + " with the same seed";
    for (std::size_t member = 0; member < names_.size(); ++member) {
        const Spread sent = spreadOf(valuesOf(member, sentOf));
        rows.push_back({names_[member], spreadText(spreadOf(valuesOf(member, validOf))),
                        spreadText(spreadOf(valuesOf(member, testOf))),
                        sent.count > 0 ? shortBytes(sent.mean) : "–",
                        member > 0 ? differenceText(spreadOf(differences(member))) : ""});
    }
    return textTable(rows);
}

std::string SeedReport::json(const std::vector<std::int64_t>& seeds) const {
    Json document;
    document["schema"] = 1;
    document["seeds"] = seeds;
    document["done"] = seeds_;
    document["members"] = Json::array();
    for (std::size_t member = 0; member < names_.size(); ++member) {
        Json entry;
        entry["name"] = names_[member];
        entry["best_valid_perplexity"] = spreadJson(valuesOf(member, validOf));
        entry["test_perplexity"] = spreadJson(valuesOf(member, testOf));
        entry["test_difference"] = spreadJson(differences(member));
        entry["bytes_up"] = spreadJson(valuesOf(member, sentOf));
        document["members"].push_back(std::move(entry));
    }
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace gradlab::app
