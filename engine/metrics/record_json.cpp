// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Records to lines, by the table of fields. Reading them is record_json_reader.cpp's.
#include "engine/metrics/record_json.h"

#include "engine/core/json_text.h"
#include "engine/metrics/record_fields.h"

#include <nlohmann/json.hpp>

namespace gradlab::engine {

namespace {

std::string partsJson(const std::vector<SentPart>& parts) {
    std::string text = "[";
    for (const SentPart& part : parts) {
        if (text.size() > 1)
            text += ",";
        text += "[" + formatReal(part.readyS) + "," + formatReal(part.bytes) + "]";
    }
    return text + "]";
}

std::string shapesJson(const std::vector<TensorShape>& tensors) {
    std::string text = "[";
    for (const TensorShape& tensor : tensors) {
        if (text.size() > 1)
            text += ",";
        text += "{\"name\":" + jsonString(tensor.name) + ",\"shape\":[";
        for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
            if (i > 0)
                text += ',';
            text += std::to_string(tensor.shape[i]);
        }
        text += "]}";
    }
    return text + "]";
}

/// The experiment's document on one line; a text that is no document stays a text.
std::string compactJson(const std::string& document) {
    const auto parsed = nlohmann::ordered_json::parse(document, nullptr, false);
    return parsed.is_discarded() ? jsonString(document) : parsed.dump();
}

/// A JsonLine as the table of fields wants it.
class Writer {
public:
    template <class Value>
    void field(const char* name, const Value& value) {
        line_.add(name, value);
    }
    template <class Value>
    void field(const char* name, const std::optional<Value>& value) {
        if (value)
            line_.add(name, *value);
    }
    void field(const char* name, const std::vector<TensorShape>& tensors) {
        line_.addJson(name, shapesJson(tensors));
    }
    void nonEmpty(const char* name, const std::string& text) {
        if (!text.empty())
            line_.add(name, text);
    }
    void nonEmpty(const char* name, const std::vector<SentPart>& parts) {
        if (!parts.empty())
            line_.addJson(name, partsJson(parts));
    }
    void document(const char* name, const std::string& text) {
        line_.addJson(name, compactJson(text));
    }
    template <class Fields>
    void group(const char* name, const Fields& fields) {
        line_.begin(name);
        fields(*this);
        line_.end();
    }
    template <class Fields>
    void inCase(bool written, const Fields& fields) {
        if (written)
            fields(*this);
    }
    [[nodiscard]] std::string finish() { return line_.finish(); }

private:
    JsonLine line_;
};

template <class Kind>
std::string toLine(const Kind& record) {
    Writer writer;
    writer.field("kind", std::string_view(kKindName<Kind>));
    visitFields(writer, record);
    return writer.finish();
}

} // namespace

std::string toJsonLine(const Record& record) {
    return std::visit([](const auto& one) { return toLine(one); }, record);
}

} // namespace gradlab::engine
