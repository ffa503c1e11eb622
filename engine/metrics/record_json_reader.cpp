// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Lines back to records, by the table of fields. Lines are hostile: a value of the wrong type is an
// error, never a crash.
#include "engine/core/errors.h"
#include "engine/metrics/record_fields.h"
#include "engine/metrics/record_json.h"

#include <nlohmann/json.hpp>

#include <charconv>
#include <cmath>
#include <limits>

namespace gradlab::engine {

namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void failLine(std::string_view key) {
    throw DataError("bad value of '" + std::string(key) + "'");
}

std::vector<TensorShape> readShapes(const char* key, const Json& list) {
    std::vector<TensorShape> tensors;
    if (!list.is_array())
        failLine(key);
    for (const Json& entry : list) {
        TensorShape tensor;
        if (!entry.is_object() || !entry.contains("name") || !entry["name"].is_string() ||
            !entry.contains("shape") || !entry["shape"].is_array())
            failLine(key);
        tensor.name = entry["name"].get<std::string>();
        for (const Json& size : entry["shape"]) {
            if (!size.is_number_unsigned())
                failLine(key);
            tensor.shape.push_back(size.get<std::uint64_t>());
        }
        tensors.push_back(std::move(tensor));
    }
    return tensors;
}

std::vector<SentPart> readParts(const char* key, const Json& list) {
    std::vector<SentPart> parts;
    if (!list.is_array())
        failLine(key);
    for (const Json& entry : list) {
        if (!entry.is_array() || entry.size() != 2 || !entry[0].is_number() ||
            !entry[1].is_number())
            failLine(key);
        parts.push_back({entry[0].get<double>(), entry[1].get<double>()});
    }
    return parts;
}

/// One object of a line; `prefix` ("t.") is how `nonfinite` names its members.
class Reader {
public:
    Reader(const Json& object, const Json* nonfinite, std::string prefix)
        : object_(object), nonfinite_(nonfinite), prefix_(std::move(prefix)) {}

    void field(const char* key, double& value) const {
        const Json* found = find(key);
        if (found == nullptr)
            return;
        if (found->is_null())
            value = nonfinite(key);
        else if (found->is_number())
            value = found->get<double>();
        else
            failLine(key);
    }
    template <class Value>
    void field(const char* key, std::optional<Value>& value) const {
        if (find(key) == nullptr)
            return;
        value.emplace();
        field(key, *value);
    }
    void field(const char* key, std::uint64_t& value) const {
        const Json* found = find(key);
        if (found == nullptr)
            return;
        if (found->is_number_unsigned())
            value = found->get<std::uint64_t>();
        else if (found->is_string())
            value = fromText(key, found->get_ref<const std::string&>());
        else
            failLine(key);
    }
    void field(const char* key, std::uint32_t& value) const {
        std::uint64_t wide = value;
        field(key, wide);
        if (wide > std::numeric_limits<std::uint32_t>::max())
            failLine(key);
        value = static_cast<std::uint32_t>(wide);
    }
    void field(const char* key, bool& value) const {
        const Json* found = find(key);
        if (found != nullptr && !found->is_boolean())
            failLine(key);
        if (found != nullptr)
            value = found->get<bool>();
    }
    void field(const char* key, std::string& value) const {
        const Json* found = find(key);
        if (found != nullptr && !found->is_string())
            failLine(key);
        if (found != nullptr)
            value = found->get<std::string>();
    }
    void field(const char* key, std::vector<TensorShape>& value) const {
        if (const Json* found = find(key))
            value = readShapes(key, *found);
    }
    void field(const char* key, std::vector<SentPart>& value) const {
        if (const Json* found = find(key))
            value = readParts(key, *found);
    }
    template <class Value>
    void nonEmpty(const char* key, Value& value) const {
        field(key, value);
    }
    void document(const char* key, std::string& text) const {
        if (const Json* found = find(key))
            text = found->is_string() ? found->get<std::string>() : found->dump();
    }
    template <class Fields>
    void group(const char* key, const Fields& fields) const {
        const Json* found = find(key);
        if (found == nullptr)
            return;
        if (!found->is_object())
            failLine(key);
        const Reader inner(*found, nonfinite_, std::string(key) + ".");
        fields(inner);
    }
    template <class Fields>
    void inCase(bool /*written*/, const Fields& fields) const {
        fields(*this);
    }

private:
    [[nodiscard]] const Json* find(const char* key) const {
        const auto found = object_.find(key);
        return found == object_.end() ? nullptr : &*found;
    }
    static std::uint64_t fromText(const char* key, const std::string& text) {
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc{} || end != text.data() + text.size())
            failLine(key);
        return value;
    }
    [[nodiscard]] double nonfinite(const char* key) const {
        const double nan = std::numeric_limits<double>::quiet_NaN();
        if (nonfinite_ == nullptr || !nonfinite_->is_object())
            return nan;
        const auto named = nonfinite_->find(prefix_ + key);
        if (named == nonfinite_->end() || !named->is_string())
            return nan;
        const auto& text = named->get_ref<const std::string&>();
        if (text == "inf")
            return std::numeric_limits<double>::infinity();
        return text == "-inf" ? -std::numeric_limits<double>::infinity() : nan;
    }

    const Json& object_;
    const Json* nonfinite_;
    std::string prefix_;
};

template <class Kind>
void readIf(const std::string& kind, const Reader& reader, std::optional<Record>& found) {
    if (kind != kKindName<Kind>)
        return;
    Kind record;
    visitFields(reader, record);
    found = std::move(record);
}

template <class... Kinds>
std::optional<Record> readKind(const std::string& kind, const Reader& reader,
                               const std::variant<Kinds...>* /*the kinds*/) {
    std::optional<Record> found;
    (readIf<Kinds>(kind, reader, found), ...);
    return found;
}

} // namespace

std::optional<Record> parseJsonLine(std::string_view line) {
    // A record has two levels below the experiment's four; deeper text is not ours.
    constexpr int kDeepest = 12;
    bool tooDeep = false;
    const auto limit = [&](int depth, Json::parse_event_t, Json&) {
        tooDeep = tooDeep || depth > kDeepest;
        return !tooDeep;
    };
    Json json;
    try {
        json = Json::parse(line, limit);
    } catch (const Json::exception&) {
        throw DataError("not a JSON object");
    }
    if (tooDeep || !json.is_object())
        throw DataError("not a JSON object");
    const auto nonfinite = json.find("nonfinite");
    const Reader reader(json, nonfinite == json.end() ? nullptr : &*nonfinite, "");
    std::string kind;
    reader.field("kind", kind);
    if (kind.empty())
        failLine("kind");
    return readKind(kind, reader, static_cast<const Record*>(nullptr));
}

} // namespace gradlab::engine
