// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A run's numbers for TensorBoard: events.out.tfevents.<seconds>.<host>.<pid>.<n>, encoded by hand.
//   record = u64le length · u32le masked CRC-32C of it · data · u32le masked CRC-32C of the data
//   data = Event {1: wall time, 2: step, 3: file version, 5: Summary {1: Value {1: tag, 2: float}}}
// Source: TensorFlow's record format and event.proto. Leaves out: text, histograms, pictures.
#pragma once

#include "engine/core/export.h"
#include "engine/metrics/append_file.h"
#include "engine/metrics/record_sink.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace gradlab::engine {

/// Every record of steps and evaluations goes to the system at once. A resumed run gets a new file:
/// TensorBoard expects one writer a file.
class GRADLAB_ENGINE_EXPORT EventFile final : public RecordSink {
public:
    /// The file is made at the first record, in `folder`, which exists by then.
    explicit EventFile(std::filesystem::path folder);
    ~EventFile() override;
    /// @throws DataError when the file cannot be written.
    void record(const Record& record) override;

private:
    using Scalars = std::vector<std::pair<std::string_view, double>>;

    void open();
    void write(std::uint64_t step, const Scalars& scalars);

    std::filesystem::path folder_;
    std::optional<AppendFile> file_;
};

} // namespace gradlab::engine
