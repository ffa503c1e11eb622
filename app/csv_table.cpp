// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/csv_table.h"

#include "engine/core/atomic_file.h"
#include "engine/metrics/record_fields.h"
#include "engine/metrics/run_log.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <map>
#include <optional>
#include <string_view>
#include <variant>

namespace gradlab::app {
namespace {

constexpr std::size_t kFlushBytes = 1 << 16;
constexpr std::array<const char*, 8> kFirstColumns{
    "run", "kind", "step", "epoch", "tokens", "wall_s", "simulated_s", "bytes_total"};
constexpr std::array<const char*, 2> kLastColumns{"event", "details"};

/// A text that a spreadsheet would take for a formula is marked as text.
std::string quoted(const std::string& text, const CsvStyle& style) {
    const bool formula =
        !text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos;
    std::string safe = formula ? "'" + text : text;
    const std::string special{'"', '\n', '\r', style.separator};
    if (safe.find_first_of(special) == std::string::npos)
        return safe;
    std::string result = "\"";
    for (const char c : safe) {
        if (c == '"')
            result += '"';
        result += c;
    }
    return result + "\"";
}

std::string numberText(double value, const CsvStyle& style) {
    if (std::isnan(value))
        return "nan";
    if (std::isinf(value))
        return value > 0.0 ? "inf" : "-inf";
    std::array<char, 32> buffer{};
    const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    std::string text(buffer.data(), written.ptr);
    std::replace(text.begin(), text.end(), '.', style.decimal);
    return text;
}

/// The cells of one record by the names of the log's table of fields.
class Cells {
public:
    explicit Cells(const CsvStyle& style) : style_(style) {}

    template <class Value>
    void field(const char* name, const Value& value) {
        if constexpr (std::same_as<Value, bool>)
            set(name, value ? "true" : "false");
        else if constexpr (std::integral<Value>)
            set(name, std::to_string(value));
        else if constexpr (std::floating_point<Value>)
            set(name, numberText(value, style_));
        else if constexpr (std::same_as<Value, std::string>)
            set(name, quoted(value, style_));
    }
    template <class Value>
    void field(const char* name, const std::optional<Value>& value) {
        if (value)
            field(name, *value);
    }
    template <class Value>
    void nonEmpty(const char* name, const Value& value) {
        field(name, value);
    }
    void document(const char* /*name*/, const std::string& /*text*/) {}
    template <class Fields>
    void group(const char* name, const Fields& fields) {
        const std::string before = prefix_;
        prefix_ += std::string(name) + ".";
        fields(*this);
        prefix_ = before;
    }
    template <class Fields>
    void inCase(bool written, const Fields& fields) {
        if (written)
            fields(*this);
    }
    [[nodiscard]] const std::string& cell(const std::string& name) const {
        static const std::string kNone;
        const auto found = cells_.find(name);
        return found == cells_.end() ? kNone : found->second;
    }
    void set(const char* name, std::string text) { cells_[prefix_ + name] = std::move(text); }

private:
    const CsvStyle& style_;
    std::string prefix_;
    std::map<std::string, std::string> cells_;
};

class Table {
public:
    Table(const std::vector<std::string>& fields, const CsvStyle& style,
          const std::filesystem::path& to)
        : columns_(kFirstColumns.begin(), kFirstColumns.end()), style_(style), file_(to) {
        for (const std::string& field : fields)
            if (std::find(columns_.begin(), columns_.end(), field) == columns_.end())
                columns_.push_back(field);
        columns_.insert(columns_.end(), kLastColumns.begin(), kLastColumns.end());
        if (style_.byteOrderMark)
            text_ = "\xEF\xBB\xBF";
        line([](const std::string& column) { return column; });
    }

    void begin(const std::string& run) {
        run_ = run;
        bytes_ = 0.0;
        result_.lastSteps.push_back(0);
    }

    void add(const engine::Record& record) {
        std::visit(
            [this](const auto& one) {
                using Kind = std::remove_cvref_t<decltype(one)>;
                if constexpr (std::same_as<Kind, engine::StepRecord> ||
                              std::same_as<Kind, engine::EvalRecord> ||
                              std::same_as<Kind, engine::EventRecord>)
                    row(one);
            },
            record);
    }

    CsvResult commit() {
        file_.write(text_);
        file_.commit();
        return std::move(result_);
    }

private:
    template <class Kind>
    void row(const Kind& record) {
        Cells cells(style_);
        cells.set("run", quoted(run_, style_));
        cells.set("kind", engine::kKindName<Kind>);
        engine::visitFields(cells, record);
        if constexpr (std::same_as<Kind, engine::StepRecord>) {
            result_.lastSteps.back() = record.step;
            bytes_ += record.bytesMessage;
            cells.set("bytes_total", numberText(bytes_, style_));
        }
        line([&](const std::string& column) { return cells.cell(column); });
        ++result_.rows;
    }

    template <class CellOf>
    void line(const CellOf& cellOf) {
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            if (i > 0)
                text_ += style_.separator;
            text_ += cellOf(columns_[i]);
        }
        text_ += "\r\n";
        if (text_.size() < kFlushBytes)
            return;
        file_.write(text_);
        text_.clear();
    }

    std::vector<std::string> columns_;
    CsvStyle style_;
    engine::AtomicFile file_;
    std::string text_; ///< not written yet
    std::string run_;
    double bytes_ = 0.0;
    CsvResult result_;
};

} // namespace

CsvResult writeCsv(const std::vector<CsvRun>& runs, const std::vector<std::string>& fields,
                   const CsvStyle& style, const std::filesystem::path& to,
                   const std::stop_token& stop) {
    Table table(fields, style, to);
    for (const CsvRun& run : runs) {
        table.begin(run.name);
        engine::readRunLog(run.log, [&](const engine::Record& record) {
            table.add(record);
            return !stop.stop_requested();
        });
        if (stop.stop_requested())
            return {};
    }
    return table.commit();
}

} // namespace gradlab::app
