// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/node_snapshot.h"

#include "engine/core/errors.h"
#include "engine/training/experiment_schema.h"

#include <charconv>
#include <cstring>

namespace gradlab::engine {

namespace {

constexpr const char* kFormat = "gradlab-snapshot-1";
constexpr const char* kTokens = "tokens";

std::uint64_t number(const SafetensorsFile& file, const char* key) {
    const std::string& text = file.metadata(key);
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value);
    if (result.ec != std::errc() || result.ptr != end)
        throw DataError(std::string("not a number: ") + key + " of " + file.name());
    return value;
}

} // namespace

template <class T>
ByteBuffer makeJoinSnapshot(const NodeDescription& node, Replica<T>& replica,
                            const WorkerState<T>& state) {
    SafetensorsWriter writer;
    writer.setMetadata("format", kFormat);
    writer.setMetadata("rank", std::to_string(node.rank));
    writer.setMetadata("vocabulary", std::to_string(node.vocabulary));
    writer.setMetadata("first_column", std::to_string(node.columns.firstColumn));
    writer.setMetadata("experiment", toJson(node.experiment));
    writer.add(kTokens, {node.columns.rows, node.columns.columns},
               std::span<const std::int32_t>(node.columns.ids));
    replica.addTo(writer);
    addWorkerState(writer, kWorkerPrefix, state);
    return writer.bytes();
}

NodeDescription readDescription(const SafetensorsFile& snapshot) {
    NodeDescription node;
    node.rank = static_cast<std::uint32_t>(number(snapshot, "rank"));
    node.vocabulary = number(snapshot, "vocabulary");
    node.experiment =
        resolved(parseExperiments(snapshot.metadata("experiment"), snapshot.name()).front());
    const TensorView& tokens = snapshot.tensor(kTokens);
    if (tokens.shape.size() != 2)
        throw DataError("tokens have " + std::to_string(tokens.shape.size()) +
                        " dimensions: " + snapshot.name());
    node.columns.rows = tokens.shape[0];
    node.columns.columns = tokens.shape[1];
    node.columns.firstColumn = number(snapshot, "first_column");
    node.columns.ids.resize(tokens.elements());
    snapshot.copyTo(kTokens, std::span<std::int32_t>(node.columns.ids));
    for (const std::int32_t id : node.columns.ids)
        if (id < 0 || static_cast<std::size_t>(id) >= node.vocabulary)
            throw DataError("a token outside of the vocabulary: " + snapshot.name());
    return node;
}

template <class T>
ByteBuffer makeStateSnapshot(const WorkerState<T>& state) {
    SafetensorsWriter writer;
    writer.setMetadata("format", kFormat);
    addWorkerState(writer, kWorkerPrefix, state);
    return writer.bytes();
}

template <class T>
ByteBuffer makeReplicaSnapshot(Replica<T>& replica) {
    SafetensorsWriter writer;
    writer.setMetadata("format", kFormat);
    replica.addTo(writer);
    return writer.bytes();
}

SafetensorsFile parseSnapshot(ByteView bytes) {
    AlignedBuffer<std::byte> copy(bytes.size());
    if (!bytes.empty())
        std::memcpy(copy.data(), bytes.data(), bytes.size());
    try {
        SafetensorsFile file = SafetensorsFile::parse(std::move(copy), "a snapshot");
        if (file.metadata("format") != kFormat)
            throw ProtocolError("snapshot refused: not of this program's version");
        return file;
    } catch (const DataError& error) {
        throw ProtocolError(std::string("snapshot refused: ") + error.what());
    }
}

template ByteBuffer makeJoinSnapshot(const NodeDescription&, Replica<float>&,
                                     const WorkerState<float>&);
template ByteBuffer makeJoinSnapshot(const NodeDescription&, Replica<double>&,
                                     const WorkerState<double>&);
template ByteBuffer makeStateSnapshot(const WorkerState<float>&);
template ByteBuffer makeStateSnapshot(const WorkerState<double>&);
template ByteBuffer makeReplicaSnapshot(Replica<float>&);
template ByteBuffer makeReplicaSnapshot(Replica<double>&);

} // namespace gradlab::engine
