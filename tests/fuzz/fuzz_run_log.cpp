// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as a line of a run's log: refused with an error, skipped, or a record that survives
// writing.
#include "engine/core/check.h"
#include "engine/core/errors.h"
#include "engine/metrics/record_json.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

using namespace gradlab::engine;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string line(data, data + size);
    try {
        const auto record = parseJsonLine(line);
        if (!record)
            return 0;
        const std::string written = toJsonLine(*record);
        const auto again = parseJsonLine(std::string_view(written).substr(0, written.size() - 1));
        GRADLAB_CHECK(again && again->index() == record->index(), written);
    } catch (const DataError&) {
        // A refused line is a good end.
    }
    return 0;
}
