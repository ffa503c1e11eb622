// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Logs of runs as one table: a row for each step, evaluation and event of each run, in the log's
// order, every value as the log has it. RFC 4180; a variant for spreadsheets. No Qt, any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace gradlab::app {

struct CsvStyle {
    char separator = ',';
    char decimal = '.';
    bool byteOrderMark = false; ///< by which spreadsheets tell UTF-8
};

struct CsvRun {
    std::string name;
    std::filesystem::path log;
};

struct CsvResult {
    std::uint64_t rows = 0;               ///< below the header
    std::vector<std::uint64_t> lastSteps; ///< of each run
};

/// Columns: run, kind, step, epoch, tokens, wall_s, simulated_s, bytes_total (bytes_message added
/// up), then `fields` by their names in the log, parts of a group as "cpu.forward", then event and
/// details. Empty where a record has no such field.
/// @throws DataError if a log cannot be read or the file not be written; then nothing has changed.
/// After a requested stop nothing is written either, and nothing returned.
CsvResult writeCsv(const std::vector<CsvRun>& runs, const std::vector<std::string>& fields,
                   const CsvStyle& style, const std::filesystem::path& to,
                   const std::stop_token& stop = {});

} // namespace gradlab::app
