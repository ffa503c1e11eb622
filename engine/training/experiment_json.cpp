// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Experiments as JSON documents, written and read. Files are hostile: size, depth, duplicate keys,
// types and ranges are checked before anything is used. Leaves out: what only makes sense together
// (validate()).
#include "engine/core/errors.h"
#include "engine/core/json_text.h"
#include "engine/core/version.h"
#include "engine/training/experiment_fields.h"
#include "engine/training/experiment_schema.h"
#include "engine/training/field_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <set>

namespace gradlab::engine {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kLargestDocument = std::size_t{4} << 20U;
constexpr int kDeepest = 16;
constexpr std::size_t kLongestRace = 64;
constexpr std::size_t kLongestName = 200;

// — writing —

std::string valueJson(const FieldSpec& field, const FieldValue& value) {
    if (const auto* text = std::get_if<std::string>(&value))
        return jsonString(*text);
    if (field.type == FieldType::Rate || field.type == FieldType::Duration)
        return jsonString(formatFieldValue(field, value));
    const auto* real = std::get_if<double>(&value);
    if (real != nullptr && !std::isfinite(*real))
        return "null"; // JSON has no such number; reading it back is an error, as it should be
    return formatFieldValue(field, value);
}

/// Writes members in order, opening and closing the groups of their dotted paths.
class ObjectWriter {
public:
    explicit ObjectWriter(std::size_t indent) : indent_(indent) {}

    void member(std::string_view path, const std::string& json) {
        std::vector<std::string> groups;
        for (auto dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
            groups.emplace_back(path.substr(0, dot));
            path.remove_prefix(dot + 1);
        }
        std::size_t common = 0;
        while (common < groups.size() && common < open_.size() && groups[common] == open_[common])
            ++common;
        closeTo(common);
        for (std::size_t i = common; i < groups.size(); ++i) {
            line(jsonString(groups[i]) + ": {");
            open_.push_back(groups[i]);
            first_ = true;
        }
        line(jsonString(path) + ": " + json);
    }

    [[nodiscard]] std::string finish() {
        closeTo(0);
        return "{" + text_ + "\n" + std::string(indent_, ' ') + "}";
    }

private:
    void line(const std::string& text) {
        text_ += first_ ? "\n" : ",\n";
        text_ += std::string(indent_ + 2 * (open_.size() + 1), ' ') + text;
        first_ = false;
    }
    void closeTo(std::size_t depth) {
        while (open_.size() > depth) {
            text_ += '\n';
            text_.append(indent_ + 2 * open_.size(), ' ') += '}';
            open_.pop_back();
            first_ = false;
        }
    }

    std::string text_;
    std::vector<std::string> open_;
    std::size_t indent_;
    bool first_ = true;
};

std::string experimentObject(const Experiment& experiment, std::size_t indent, bool withSchema) {
    ObjectWriter writer(indent);
    if (withSchema)
        writer.member("schema", "1");
    if (!experiment.name.empty())
        writer.member("name", jsonString(experiment.name));
    for (const FieldSpec& field : experimentSchema())
        writer.member(field.path, valueJson(field, getField(experiment, field.path)));
    return writer.finish();
}

// — reading —

std::string gradlabVersion() {
    return "gradlab " + std::string(version());
}

[[noreturn]] void failField(const std::string& path, const std::string& wrong,
                            std::string_view origin, const std::string& advice) {
    throw ExperimentError(path, wrong + ": " + std::string(origin) + "; " + advice);
}

[[noreturn]] void failSyntax(std::string_view text, std::size_t byte, std::string_view origin) {
    const std::string_view before = text.substr(0, std::min(byte > 0 ? byte - 1 : 0, text.size()));
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const auto lineStart = before.rfind('\n');
    const std::size_t column =
        lineStart == std::string_view::npos ? before.size() + 1 : before.size() - lineStart;
    throw DataError("not valid JSON: " + std::string(origin) + ", line " + std::to_string(line) +
                    ", column " + std::to_string(column) +
                    "; check the comma, bracket or quote before it");
}

/// Refuses what a parser would silently accept: a key that stands twice in one object, and deep
/// nesting.
class StrictKeys {
public:
    explicit StrictKeys(std::string_view origin) : origin_(origin) {}

    bool operator()(int depth, Json::parse_event_t event, const Json& parsed) {
        if (depth > kDeepest)
            throw DataError("nested too deeply: " + origin_ + "; an experiment has four levels");
        if (event == Json::parse_event_t::object_start)
            keys_.emplace_back();
        else if (event == Json::parse_event_t::object_end)
            keys_.pop_back();
        else if (event == Json::parse_event_t::key)
            takeKey(parsed.get_ref<const std::string&>());
        return true;
    }

private:
    void takeKey(const std::string& key) {
        if (!keys_.back().insert(key).second)
            failField(key, "the field " + inQuotes(key) + " stands twice", origin_, "keep one");
    }

    std::string origin_;
    std::vector<std::set<std::string>> keys_;
};

Json parseDocument(std::string_view text, std::string_view origin) {
    if (text.size() > kLargestDocument)
        throw DataError("too large for an experiment: " + std::string(origin) + ", " +
                        std::to_string(text.size()) + " bytes; give a file of at most 4 MiB");
    try {
        // The callback is copied by the parser, which only calls its own copy.
        return Json::parse(text.begin(), text.end(), StrictKeys(origin));
    } catch (const Json::parse_error& error) {
        failSyntax(text, error.byte, origin);
    } catch (const Json::out_of_range&) {
        throw DataError("a number beyond every range: " + std::string(origin) +
                        "; give finite numbers");
    }
}

std::optional<FieldValue> numberValue(const FieldSpec& field, const Json& json) {
    if (field.type != FieldType::Integer)
        return FieldValue(json.get<double>());
    if (json.is_number_unsigned()) {
        const auto value = json.get<std::uint64_t>();
        if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            return std::nullopt;
        return FieldValue(static_cast<std::int64_t>(value));
    }
    if (json.is_number_integer())
        return FieldValue(json.get<std::int64_t>());
    const auto real = json.get<double>(); // "1e3" is a whole number too
    if (std::abs(real) > 0x1p53 || real != std::floor(real))
        return std::nullopt;
    return FieldValue(static_cast<std::int64_t>(real));
}

std::optional<FieldValue> jsonValue(const FieldSpec& field, const Json& json) {
    switch (field.type) {
    case FieldType::Boolean:
        return json.is_boolean() ? std::optional<FieldValue>(json.get<bool>()) : std::nullopt;
    case FieldType::Integer:
    case FieldType::Real:
        return json.is_number() ? numberValue(field, json) : std::nullopt;
    case FieldType::Rate:
    case FieldType::Duration: {
        if (json.is_number())
            return numberValue(field, json);
        if (!json.is_string())
            return std::nullopt;
        const auto& text = json.get_ref<const std::string&>();
        const auto parsed =
            field.type == FieldType::Rate ? parseRate(text, field.choices) : parseDuration(text);
        return parsed ? std::optional<FieldValue>(*parsed) : std::nullopt;
    }
    case FieldType::Choice:
    case FieldType::Text:
    case FieldType::Path:
        return json.is_string() ? std::optional<FieldValue>(json.get<std::string>()) : std::nullopt;
    }
    return std::nullopt;
}

/// The value as the file has it, for messages: short and on one line.
std::string shown(const Json& json) {
    if (json.is_string())
        return inQuotes(json.get_ref<const std::string&>());
    if (json.is_object())
        return "an object";
    if (json.is_array())
        return "a list";
    return json.dump();
}

void applyField(Experiment& experiment, const FieldSpec& field, const Json& json,
                std::string_view origin) {
    const auto value = jsonValue(field, json);
    if (!value) {
        const std::string name(lastComponent(field.path));
        throw ExperimentError(field.path, fieldMessage(field, name + " is " + shown(json), origin));
    }
    if (const auto problem = valueProblem(field, *value))
        throw ExperimentError(field.path, fieldMessage(field, *problem, origin));
    setField(experiment, field.path, *value);
}

bool isGroup(std::string_view path) {
    const std::string prefix = std::string(path) + ".";
    return std::any_of(experimentSchema().begin(), experimentSchema().end(),
                       [&](const FieldSpec& field) { return field.path.starts_with(prefix); });
}

void applyName(Experiment& experiment, const Json& json, std::string_view origin) {
    const bool usable = json.is_string() &&
                        json.get_ref<const std::string&>().size() <= kLongestName &&
                        std::none_of(json.get_ref<const std::string&>().begin(),
                                     json.get_ref<const std::string&>().end(),
                                     [](char c) { return static_cast<unsigned char>(c) < 0x20; });
    if (!usable)
        failField("name", "name is " + shown(json), origin,
                  "give a text on one line of at most 200 bytes");
    experiment.name = json.get<std::string>();
}

/// Sets every field of `object`, whose own path is `prefix` ("" or "training.").
void applyObject(Experiment& experiment, const Json& object, const std::string& prefix,
                 std::string_view origin) {
    for (const auto& [key, value] : object.items()) {
        if (prefix.empty() && (key == "schema" || key == "race"))
            continue;
        if (prefix.empty() && key == "name") {
            applyName(experiment, value, origin);
            continue;
        }
        const std::string path = prefix + key;
        const bool plainKey = key.find('.') == std::string::npos;
        const BoundField* field = plainKey ? findBoundField(path) : nullptr;
        if (field != nullptr)
            applyField(experiment, field->spec, value, origin);
        else if (plainKey && isGroup(path) && value.is_object())
            applyObject(experiment, value, path + ".", origin);
        else if (plainKey && isGroup(path))
            failField(path, inQuotes(path) + " is " + shown(value), origin,
                      "give an object with the fields of this group");
        else
            failField(path, "unknown field " + inQuotes(path), origin,
                      gradlabVersion() + " has no such field, see gradlab-cli train --help");
    }
}

void requireSchema(const Json& document, std::string_view origin) {
    if (!document.is_object())
        failField("", "not an experiment", origin, "give one JSON object with \"schema\": 1");
    const auto schema = document.find("schema");
    if (schema == document.end())
        failField("schema", "schema is missing", origin, "add \"schema\": 1");
    if (!schema->is_number_integer() || *schema != 1)
        failField("schema", "schema is " + shown(*schema), origin,
                  gradlabVersion() + " reads schema 1");
}

std::vector<Experiment> parseRace(const Json& document, std::string_view origin) {
    for (const auto& [key, value] : document.items()) {
        if (key != "schema" && key != "race")
            failField(key, "unknown field " + inQuotes(key) + " beside race", origin,
                      "put it into the first experiment of the race");
    }
    const Json& entries = document["race"];
    if (!entries.is_array() || entries.empty() || entries.size() > kLongestRace)
        failField("race", "race is " + shown(entries), origin,
                  "give a list of 1 to " + std::to_string(kLongestRace) + " experiments");
    std::vector<Experiment> race;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const std::string where =
            std::string(origin) + ", experiment " + std::to_string(i + 1) + " of the race";
        if (!entries[i].is_object())
            failField("race", "it is " + shown(entries[i]), where, "give an object");
        if (entries[i].contains("race"))
            failField("race", "a race within a race", where, "list all experiments in one race");
        if (entries[i].contains("schema"))
            requireSchema(entries[i], where);
        Experiment experiment = race.empty() ? defaultExperiment() : race.front();
        experiment.name.clear();
        applyObject(experiment, entries[i], "", where);
        race.push_back(std::move(experiment));
    }
    return race;
}

} // namespace

std::string toJson(const Experiment& experiment) {
    return experimentObject(experiment, 0, true) + "\n";
}

std::string raceToJson(const std::vector<Experiment>& race) {
    std::string text = "{\n  \"schema\": 1,\n  \"race\": [";
    for (std::size_t i = 0; i < race.size(); ++i)
        text += (i > 0 ? ",\n    " : "\n    ") + experimentObject(race[i], 4, false);
    return text + "\n  ]\n}\n";
}

std::vector<Experiment> parseExperiments(std::string_view json, std::string_view origin) {
    const Json document = parseDocument(json, origin);
    requireSchema(document, origin);
    if (document.contains("race"))
        return parseRace(document, origin);
    Experiment experiment = defaultExperiment();
    applyObject(experiment, document, "", origin);
    return {experiment};
}

std::vector<Experiment> readExperiments(const std::filesystem::path& file) {
    const std::string name = file.string();
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(file, error);
    // Asked before it is opened: a pipe would keep the program waiting for a writer.
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
        throw DataError("not a regular file: " + name + "; give an experiment's JSON file");
    std::ifstream stream(file, std::ios::binary);
    if (!stream)
        throw DataError("cannot read the experiment: " + name +
                        "; give a JSON file that exists and that you may read");
    std::string text;
    // One byte more than allowed is enough to know that it is too large.
    text.resize(kLargestDocument + 1);
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(stream.gcount()));
    if (stream.bad())
        throw DataError("cannot read the experiment: " + name + "; check the disk");
    return parseExperiments(text, name);
}

} // namespace gradlab::engine
