// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/metrics/inspection_log.h"

#include "engine/core/atomic_file.h"
#include "engine/core/errors.h"
#include "engine/metrics/gradient_snapshot_json.h"

#include <fstream>
#include <string>
#include <system_error>
#include <utility>

namespace gradlab::engine {

namespace {

/// Calls use(line, where it begins) for each complete line; a missing file has none.
template <class Use>
void forEachLine(const std::filesystem::path& path, const Use& use) {
    std::error_code error;
    if (!std::filesystem::exists(path, error))
        return;
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw DataError("cannot read the inspections: " + path.string() +
                        "; check that you may read it");
    std::string line;
    std::uint64_t begin = 0;
    while (std::getline(file, line) && !file.eof()) {
        use(line, begin);
        begin += line.size() + 1;
    }
}

} // namespace

void InspectionLog::append(const GradientSnapshot& snapshot) {
    if (!file_)
        file_.emplace(path_);
    file_->append(toJsonLine(snapshot));
}

InspectionFile::InspectionFile(std::filesystem::path path) : path_(std::move(path)) {
    forEachLine(path_, [this](const std::string& line, std::uint64_t begin) {
        const auto step = snapshotLineStep(line);
        if (!step || (!steps_.empty() && *step <= steps_.back()))
            return;
        steps_.push_back(*step);
        lines_.push_back({begin, line.size()});
    });
}

GradientSnapshot InspectionFile::read(std::size_t index) const {
    const std::string where = path_.string() + ", step " + std::to_string(steps_.at(index));
    std::ifstream file(path_, std::ios::binary);
    std::string line(lines_[index].length, '\0');
    file.seekg(static_cast<std::streamoff>(lines_[index].begin));
    file.read(line.data(), static_cast<std::streamsize>(line.size()));
    if (!file)
        throw DataError("cannot read the inspections: " + where + "; check that it is still there");
    try {
        return parseSnapshotLine(line);
    } catch (const DataError& error) {
        throw DataError(std::string(error.what()) + ": " + where + "; remove the line");
    }
}

void cutInspectionsAfter(const std::filesystem::path& path, std::uint64_t step) {
    if (!std::filesystem::exists(path))
        return;
    AtomicFile file(path);
    forEachLine(path, [&](const std::string& line, std::uint64_t) {
        const auto of = snapshotLineStep(line);
        if (!of || *of > step)
            return;
        file.write(line);
        file.write("\n");
    });
    file.commit();
}

} // namespace gradlab::engine
