// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as a line of inspections.jsonl, and as what a worker process says that it found:
// refused with an error, or a snapshot that survives writing.
#include "engine/core/check.h"
#include "engine/core/errors.h"
#include "engine/metrics/gradient_snapshot_json.h"
#include "engine/training/gradient_inspector.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

using namespace gradlab::engine;

namespace {

void readDocument(ByteView bytes) {
    InspectionPlan plan;
    plan.tensors = {{"a", 2, 5, {}}, {"b", 1, 4, {}}};
    try {
        const ByteBuffer written = writeInspection(readInspection(bytes, plan));
        GRADLAB_CHECK(writeInspection(readInspection(written, plan)) == written, written.size());
    } catch (const ProtocolError&) {
        // As good an end.
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    readDocument({reinterpret_cast<const std::byte*>(data), size});
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
