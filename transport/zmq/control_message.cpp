// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/zmq/control_message.h"

#include "engine/core/errors.h"
#include "transport/wire_format.h"

#include <nlohmann/json.hpp>

#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <utility>

namespace gradlab::engine {

namespace {

std::int64_t toNs(SteadyTime time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

SteadyTime fromNs(std::int64_t ns) {
    return SteadyTime(std::chrono::nanoseconds(ns));
}

} // namespace

// Found by argument-dependent lookup, hence in the type's namespace.
static void to_json(nlohmann::json& json, const RankTraffic& traffic) {
    json = {{"bytesMessage", traffic.bytesMessage},
            {"bytesUp", traffic.bytesUp},
            {"bytesDown", traffic.bytesDown},
            {"lastHandOverNs", toNs(traffic.lastHandOver)},
            {"arrivedNs", toNs(traffic.arrived)},
            {"transferS", traffic.transferS},
            {"transferHiddenS", traffic.transferHiddenS}};
}

static void from_json(const nlohmann::json& json, RankTraffic& traffic) {
    json.at("bytesMessage").get_to(traffic.bytesMessage);
    json.at("bytesUp").get_to(traffic.bytesUp);
    json.at("bytesDown").get_to(traffic.bytesDown);
    traffic.lastHandOver = fromNs(json.at("lastHandOverNs").get<std::int64_t>());
    traffic.arrived = fromNs(json.at("arrivedNs").get<std::int64_t>());
    json.at("transferS").get_to(traffic.transferS);
    json.at("transferHiddenS").get_to(traffic.transferHiddenS);
}

} // namespace gradlab::engine

namespace gradlab::transport {

// Fields of the documents are those of the structs, by name; but "kind" is the message's own.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Hello, version, isa, cpu, host, bootId, name, pid, cores)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Ready, ringEndpoint, ringKey)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Heartbeat, sentNs, phase, progress, roundTripS)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Done, account, traffic)
static void to_json(nlohmann::json& json, const Failed& failed) {
    json = {{"cause", failed.kind}, {"tensor", failed.tensor}, {"message", failed.message}};
}
static void from_json(const nlohmann::json& json, Failed& failed) {
    json.at("cause").get_to(failed.kind);
    json.at("tensor").get_to(failed.tensor);
    json.at("message").get_to(failed.message);
}
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Loaded, request)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Cut, unreachable)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Bye, reason)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProbeResult, request, downS, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Welcome, member, workers, dataPort, mostDataBytes, threads,
                                   bootId)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StepOrder, contributors, nextEndpoint, nextKey)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Begin, order, wantHash)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Abort, order)
static void to_json(nlohmann::json& json, const Configure& configure) {
    json = {{"experiment", configure.experiment}, {"memory", toString(configure.memory)}};
}
static void from_json(const nlohmann::json& json, Configure& configure) {
    json.at("experiment").get_to(configure.experiment);
    const auto& name = json.at("memory").get_ref<const std::string&>();
    const auto memory = engine::memoryChangeOf(name);
    if (!memory)
        throw engine::ProtocolError("control message refused: unknown change \"" +
                                    name.substr(0, 32) + "\": field memory");
    configure.memory = *memory;
}
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Fetch, request, replica, inspection)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Load, request)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HeartbeatAnswer, echoNs, coordinatorNs)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Refuse, reason, final)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProbeOrder, request, frames, bytes, echo)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Finish, reason)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Inspect, focused, rank, tensor)

namespace {

using nlohmann::json;

constexpr int kMostDepth = 6;

// In the order of ControlMessage's alternatives.
constexpr std::array<const char*, std::variant_size_v<ControlMessage>> kKinds = {
    "hello",   "ready",       "heartbeat", "holds",  "done",
    "failed",  "loaded",      "cut",       "bye",    "probe_result",
    "wait",    "welcome",     "begin",     "abort",  "commit",
    "abandon", "configure",   "fetch",     "load",   "heartbeat_answer",
    "refuse",  "probe_order", "finish",    "inspect"};

template <class T>
json documentOf(const T& message) {
    if constexpr (std::is_empty_v<T>)
        return json::object();
    else
        return json(message);
}

template <class T>
void read(const json& document, T& message) {
    if constexpr (!std::is_empty_v<T>)
        document.get_to(message);
}

template <std::size_t Index = 0>
ControlMessage parse(const std::string& kind, const json& document) {
    if constexpr (Index == std::variant_size_v<ControlMessage>) {
        throw engine::ProtocolError("control message refused: unknown kind \"" +
                                    kind.substr(0, 32) + "\": field kind");
    } else {
        if (kind != kKinds[Index])
            return parse<Index + 1>(kind, document);
        std::variant_alternative_t<Index, ControlMessage> message;
        read(document, message);
        return message;
    }
}

json parseText(engine::ByteView body) {
    const char* text = reinterpret_cast<const char*>(body.data());
    const auto guard = [](int depth, json::parse_event_t, json&) {
        if (depth > kMostDepth)
            throw engine::ProtocolError("control message refused: nested too deep: body");
        return true;
    };
    return json::parse(text, text + body.size(), guard);
}

} // namespace

const char* kindOf(const ControlMessage& message) noexcept {
    return kKinds[message.index()];
}

engine::ByteBuffer encodeControl(FrameHeader header, const ControlMessage& message) {
    json document = std::visit([](const auto& one) { return documentOf(one); }, message);
    document["kind"] = kindOf(message);
    // Names and reasons may hold anything; a document must be UTF-8.
    const std::string text = document.dump(-1, ' ', false, json::error_handler_t::replace);
    header.type = FrameType::Control;
    header.part = 0;
    header.parts = 1;
    header.tensors = 0;
    engine::ByteBuffer frame(engine::kFrameHeaderBytes + text.size());
    std::memcpy(frame.data() + engine::kFrameHeaderBytes, text.data(), text.size());
    encodeFrame(header, frame);
    return frame;
}

ReceivedControl decodeControl(engine::ByteView bytes) {
    const Frame frame = decodeFrame(bytes);
    if (frame.header.type != FrameType::Control)
        throw engine::ProtocolError("control message refused: a frame of type " +
                                    std::to_string(static_cast<int>(frame.header.type)) +
                                    ": header byte 6");
    try {
        const json document = parseText(frame.body);
        return {frame.header, parse(document.at("kind").get<std::string>(), document)};
    } catch (const json::exception& error) {
        throw engine::ProtocolError(std::string("control message refused: ") + error.what() +
                                    ": body");
    }
}

} // namespace gradlab::transport
