// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/zmq/coordinator_probe.h"

#include <chrono>

namespace gradlab::transport {

void CoordinatorProbe::sent(std::uint64_t request, engine::MemberId member, std::uint32_t frames,
                            Time now) {
    Request& one = requests_[request];
    one.member = member;
    one.echoesToCome = frames;
    one.sent = now;
}

CoordinatorProbe::Request* CoordinatorProbe::find(engine::MemberId member, std::uint64_t request) {
    const auto found = requests_.find(request);
    return found != requests_.end() && found->second.member == member ? &found->second : nullptr;
}

void CoordinatorProbe::echoed(engine::MemberId member, std::uint64_t request, Time now) {
    Request* one = find(member, request);
    if (one == nullptr || one->echoesToCome == 0)
        return;
    if (one->firstEcho == Time{})
        one->firstEcho = now;
    one->lastEcho = now;
    --one->echoesToCome;
}

void CoordinatorProbe::result(engine::MemberId member, const ProbeResult& result, Time now) {
    if (Request* one = find(member, result.request)) {
        one->downS = result.downS;
        one->told = now;
    }
}

std::optional<CoordinatorProbe::Finished> CoordinatorProbe::takeFinished() {
    for (auto entry = requests_.begin(); entry != requests_.end(); ++entry) {
        const Request& one = entry->second;
        if (one.echoesToCome > 0 || !one.downS)
            continue;
        using Seconds = std::chrono::duration<double>;
        const Finished finished{entry->first,
                                {*one.downS, Seconds(one.lastEcho - one.firstEcho).count(),
                                 Seconds(one.firstEcho - one.sent).count(), one.sent, one.told,
                                 one.firstEcho, one.lastEcho}};
        requests_.erase(entry);
        return finished;
    }
    return std::nullopt;
}

std::vector<std::uint64_t> CoordinatorProbe::lose(engine::MemberId member) {
    std::vector<std::uint64_t> lost;
    for (auto entry = requests_.begin(); entry != requests_.end();)
        if (entry->second.member == member) {
            lost.push_back(entry->first);
            entry = requests_.erase(entry);
        } else {
            ++entry;
        }
    return lost;
}

} // namespace gradlab::transport
