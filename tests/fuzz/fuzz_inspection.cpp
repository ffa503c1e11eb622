// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as a line of inspections.jsonl: refused with an error, or a snapshot that survives
// writing.
#include "engine/core/check.h"
#include "engine/core/errors.h"
#include "engine/metrics/gradient_snapshot_json.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

using namespace gradlab::engine;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string line(data, data + size);
    try {
        const std::string written = toJsonLine(parseSnapshotLine(line));
        const std::string_view body(written.data(), written.size() - 1);
        GRADLAB_CHECK(toJsonLine(parseSnapshotLine(body)) == written, written);
    } catch (const DataError&) {
        // A refused line is a good end.
    }
    return 0;
}
