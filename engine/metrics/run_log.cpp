// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/metrics/run_log.h"

#include "engine/core/atomic_file.h"
#include "engine/core/errors.h"
#include "engine/metrics/record_json.h"

#include <fstream>
#include <string>
#include <type_traits>
#include <utility>

namespace gradlab::engine {

namespace {

/// Calls `use(line, record)` for each complete line until it returns false; `record` is empty for
/// kinds of later versions.
template <class Use>
void forEachLine(const std::filesystem::path& path, const Use& use) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw DataError("cannot read the log: " + path.string() + "; check that it exists");
    std::string line;
    for (std::uint64_t number = 1; std::getline(file, line); ++number) {
        const bool cut = file.eof(); // no line break: the program ended while writing it
        if (cut || line.empty())
            continue;
        std::optional<Record> record;
        try {
            record = parseJsonLine(line);
        } catch (const DataError& error) {
            throw DataError("not a line of a run's log (" + std::string(error.what()) +
                            "): " + path.string() + ", line " + std::to_string(number) +
                            "; remove the line or give another log");
        }
        if (!use(line, std::move(record)))
            return;
    }
}

/// The step that a record belongs to; 0 for the start.
std::uint64_t stepOf(const Record& record) {
    return std::visit(
        [](const auto& one) -> std::uint64_t {
            using Kind = std::remove_cvref_t<decltype(one)>;
            if constexpr (std::is_same_v<Kind, StartRecord>)
                return 0;
            else if constexpr (std::is_same_v<Kind, EndRecord>)
                return one.steps;
            else
                return one.step;
        },
        record);
}

/// Whether an earlier writer was cut off in the middle of a line.
bool endsInsideLine(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file || file.tellg() <= 0)
        return false;
    file.seekg(-1, std::ios::end);
    return file.get() != '\n';
}

} // namespace

RunLog::RunLog(std::filesystem::path path) : path_(std::move(path)) {}

RunLog::~RunLog() = default;

void RunLog::record(const Record& record) {
    if (!file_) {
        const bool cut = endsInsideLine(path_);
        file_.emplace(path_);
        if (cut)
            file_->append("\n");
    }
    file_->append(toJsonLine(record));
}

std::vector<Record> readRunLog(const std::filesystem::path& path) {
    std::vector<Record> records;
    forEachLine(path, [&](const std::string&, std::optional<Record> record) {
        if (record)
            records.push_back(std::move(*record));
        return true;
    });
    return records;
}

void readRunLog(const std::filesystem::path& path, const std::function<bool(const Record&)>& use) {
    forEachLine(path, [&](const std::string&, const std::optional<Record>& record) {
        return !record || use(*record);
    });
}

void cutRunLogAfter(const std::filesystem::path& path, std::uint64_t step) {
    if (!std::filesystem::exists(path))
        return;
    AtomicFile file(path);
    forEachLine(path, [&](const std::string& line, const std::optional<Record>& record) {
        const bool end = record && std::holds_alternative<EndRecord>(*record);
        if (end || (record && stepOf(*record) > step))
            return true;
        file.write(line);
        file.write("\n");
        return true;
    });
    file.commit();
}

} // namespace gradlab::engine
