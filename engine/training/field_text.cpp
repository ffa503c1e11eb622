// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// One field's value as text and back, what is allowed in words, and the check of its range.
#include "engine/training/field_text.h"

#include "engine/core/check.h"
#include "engine/core/errors.h"
#include "engine/core/json_text.h"
#include "engine/training/experiment_schema.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace gradlab::engine {

namespace {

constexpr std::size_t kLongestQuote = 60;

std::optional<bool> parseBoolean(std::string_view text) {
    constexpr std::array<std::string_view, 4> kYes = {"true", "on", "yes", "1"};
    constexpr std::array<std::string_view, 4> kNo = {"false", "off", "no", "0"};
    if (std::find(kYes.begin(), kYes.end(), text) != kYes.end())
        return true;
    if (std::find(kNo.begin(), kNo.end(), text) != kNo.end())
        return false;
    return std::nullopt;
}

template <class T>
std::optional<T> parseNumber(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

std::optional<FieldValue> parseByType(const FieldSpec& field, std::string_view text) {
    const auto asValue = [](auto parsed) -> std::optional<FieldValue> {
        if (!parsed)
            return std::nullopt;
        return FieldValue(*parsed);
    };
    switch (field.type) {
    case FieldType::Boolean:
        return asValue(parseBoolean(text));
    case FieldType::Integer:
        return asValue(parseNumber<std::int64_t>(text));
    case FieldType::Real:
        return asValue(parseNumber<double>(text));
    case FieldType::Rate:
        return asValue(parseRate(text, field.choices));
    case FieldType::Duration:
        return asValue(parseDuration(text));
    case FieldType::Choice:
    case FieldType::Text:
    case FieldType::Path:
        return FieldValue(std::string(text));
    }
    failCheck("known field type", __FILE__, __LINE__, field.path);
}

std::string formatNumber(const FieldSpec& field, double value) {
    if (field.type == FieldType::Rate)
        return formatRate(value);
    if (field.type == FieldType::Duration)
        return formatDuration(value);
    return formatReal(value);
}

std::optional<std::string> numberProblem(const FieldSpec& field, double value) {
    const std::string name(field.path.substr(field.path.rfind('.') + 1));
    // Words of a rate stand outside its range: 0 for as-bandwidth, infinity for unlimited.
    const std::string text = formatNumber(field, value);
    if (std::find(field.choices.begin(), field.choices.end(), text) != field.choices.end())
        return std::nullopt;
    if (!std::isfinite(value))
        return name + " is " + text;
    const bool tooSmall =
        field.minimum && (field.minimumExcluded ? value <= *field.minimum : value < *field.minimum);
    const bool tooLarge =
        field.maximum && (field.maximumExcluded ? value >= *field.maximum : value > *field.maximum);
    if (tooSmall || tooLarge)
        return name + " is " + text;
    return std::nullopt;
}

std::string rangeText(const FieldSpec& field) {
    const auto bound = [&](double value) {
        const bool unitless = field.type == FieldType::Integer || field.type == FieldType::Real;
        // Without an exponent: 4000000000 rather than 4e+09.
        return unitless && value == std::floor(value)
                   ? std::to_string(static_cast<std::int64_t>(value))
                   : formatNumber(field, value);
    };
    if (field.minimum && field.maximum) {
        return " in " + std::string(field.minimumExcluded ? "(" : "[") + bound(*field.minimum) +
               ", " + bound(*field.maximum) + (field.maximumExcluded ? ")" : "]");
    }
    if (field.minimum)
        return (field.minimumExcluded ? " above " : " of at least ") + bound(*field.minimum);
    if (field.maximum)
        return (field.maximumExcluded ? " below " : " of at most ") + bound(*field.maximum);
    return {};
}

} // namespace

std::string inQuotes(std::string_view text) {
    std::string safe = "'";
    for (const char c : text.substr(0, kLongestQuote)) {
        const auto byte = static_cast<unsigned char>(c);
        safe += byte < 0x20 || byte == 0x7F ? '?' : c;
    }
    if (text.size() > kLongestQuote)
        safe += "…";
    return safe + "'";
}

std::string fieldMessage(const FieldSpec& field, std::string_view wrong, std::string_view origin) {
    std::string message(wrong);
    message += ": ";
    if (origin.empty())
        message += field.path + " (" + field.option + ")";
    else
        message += std::string(origin) + ", field " + field.path;
    return message + "; give " + allowedValues(field);
}

std::string orList(const std::vector<std::string>& items) {
    std::string list;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i > 0)
            list += i + 1 == items.size() ? " or " : ", ";
        list += items[i];
    }
    return list;
}

std::optional<std::string> valueProblem(const FieldSpec& field, const FieldValue& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) {
        // The bounds are below 2^53, so the conversion cannot hide a violation.
        auto problem = numberProblem(field, static_cast<double>(*whole));
        if (problem)
            *problem = std::string(field.path.substr(field.path.rfind('.') + 1)) + " is " +
                       std::to_string(*whole);
        return problem;
    }
    if (const auto* real = std::get_if<double>(&value))
        return numberProblem(field, *real);
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr)
        return std::nullopt;
    if (field.type == FieldType::Choice &&
        std::find(field.choices.begin(), field.choices.end(), *text) == field.choices.end())
        return std::string(field.path.substr(field.path.rfind('.') + 1)) + " is " + inQuotes(*text);
    if (text->find('\0') != std::string::npos)
        return std::string(field.path.substr(field.path.rfind('.') + 1)) + " holds a zero byte";
    return std::nullopt;
}

FieldValue parseFieldValue(const FieldSpec& field, std::string_view text) {
    const auto value = parseByType(field, text);
    if (!value) {
        const std::string name(field.path.substr(field.path.rfind('.') + 1));
        throw ExperimentError(field.path, fieldMessage(field, name + " is " + inQuotes(text)));
    }
    if (const auto problem = valueProblem(field, *value))
        throw ExperimentError(field.path, fieldMessage(field, *problem));
    return *value;
}

std::string formatFieldValue(const FieldSpec& field, const FieldValue& value) {
    if (const auto* flag = std::get_if<bool>(&value))
        return *flag ? "true" : "false";
    if (const auto* whole = std::get_if<std::int64_t>(&value))
        return std::to_string(*whole);
    if (const auto* real = std::get_if<double>(&value))
        return formatNumber(field, *real);
    return std::get<std::string>(value);
}

std::string allowedValues(const FieldSpec& field) {
    switch (field.type) {
    case FieldType::Boolean:
        return "true or false";
    case FieldType::Integer:
        return "a whole number" + rangeText(field);
    case FieldType::Real:
        return "a number" + rangeText(field);
    case FieldType::Rate: {
        std::vector<std::string> items{"a rate such as 100Mbit or 9600 (bit/s)"};
        items.insert(items.end(), field.choices.begin(), field.choices.end());
        return orList(items);
    }
    case FieldType::Duration:
        return "a time such as 1ms, 20us or 0.5s" + rangeText(field);
    case FieldType::Choice:
        return orList(field.choices);
    case FieldType::Text:
        return "a text";
    case FieldType::Path:
        return "a file or folder";
    }
    failCheck("known field type", __FILE__, __LINE__, field.path);
}

} // namespace gradlab::engine
