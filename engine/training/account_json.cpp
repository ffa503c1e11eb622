// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A worker's account as a document that travels from its process to the trainer.
#include "engine/core/errors.h"
#include "engine/training/step_accounting.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

namespace gradlab::engine {

namespace {

using nlohmann::json;

// JSON has no number for what is not finite.
json real(double value) {
    return std::isfinite(value) ? json(value) : json(nullptr);
}

double real(const json& value) {
    return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

// One list for both directions.
template <class Visit>
void visitTimes(auto& times, Visit visit) {
    visit("forward", times.forward);
    visit("backward", times.backward);
    visit("compress", times.compress);
    visit("encode", times.encode);
    visit("transfer", times.transfer);
    visit("wait", times.wait);
    visit("turn", times.turn);
    visit("decode", times.decode);
    visit("update", times.update);
    visit("transferHidden", times.transferHidden);
}

template <class Visit>
void visitCounts(auto& account, Visit visit) {
    visit("bytesMessage", account.bytesMessage);
    visit("selected", account.stats.selected);
    visit("nonzero", account.stats.nonzero);
    visit("denseFallbacks", account.stats.denseFallbacks);
    visit("adjustPasses", account.stats.adjustPasses);
    visit("rank", account.rank);
}

template <class Visit>
void visitReals(auto& account, Visit visit) {
    visit("loss", account.loss);
    visit("ratio", account.ratio);
    visit("paperBytes", account.stats.paperBytes);
    visit("boundBytes", account.stats.boundBytes);
    visit("squaredNorm", account.stats.squaredNorm);
    visit("squaredKept", account.stats.squaredKept);
    visit("squaredError", account.stats.squaredError);
    visit("squaredResidual", account.stats.squaredResidual);
    visit("cpuAtHandOver", account.cpuAtHandOver);
    visit("commitCpu", account.commitCpu);
    visit("gradNorm", account.sgd.gradNorm);
}

json timesToJson(const StepTimes& times) {
    json document;
    visitTimes(times, [&](const char* name, double value) { document[name] = real(value); });
    return document;
}

void timesFromJson(const json& document, StepTimes& times) {
    visitTimes(times, [&](const char* name, double& value) { value = real(document.at(name)); });
}

} // namespace

std::string accountToJson(const WorkerAccount& account) {
    json document;
    visitCounts(account, [&](const char* name, auto value) { document[name] = value; });
    visitReals(account, [&](const char* name, double value) { document[name] = real(value); });
    document["clipped"] = account.sgd.clipped;
    document["t"] = timesToJson(account.t);
    document["cpu"] = timesToJson(account.cpu);
    json parts = json::array();
    for (const PartReady& part : account.parts)
        parts.push_back({part.seconds, part.bytes, part.wallS});
    document["parts"] = parts;
    if (account.parameterHash)
        document["parameterHash"] = *account.parameterHash;
    return document.dump();
}

WorkerAccount accountFromJson(const std::string& text) {
    try {
        const json document = json::parse(text);
        WorkerAccount account;
        visitCounts(account,
                    [&](const char* name, auto& value) { document.at(name).get_to(value); });
        visitReals(account,
                   [&](const char* name, double& value) { value = real(document.at(name)); });
        document.at("clipped").get_to(account.sgd.clipped);
        timesFromJson(document.at("t"), account.t);
        timesFromJson(document.at("cpu"), account.cpu);
        for (const json& part : document.at("parts"))
            account.parts.push_back({real(part.at(0)), real(part.at(1)), real(part.at(2))});
        if (document.contains("parameterHash"))
            account.parameterHash = document.at("parameterHash").get<std::uint64_t>();
        return account;
    } catch (const json::exception& error) {
        throw ProtocolError(std::string("a worker's account refused: ") + error.what());
    }
}

} // namespace gradlab::engine
