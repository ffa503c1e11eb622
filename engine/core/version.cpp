// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/core/version.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

namespace gradlab::engine {

std::string_view version() noexcept {
    return GRADLAB_VERSION;
}

std::string_view isaLevel() noexcept {
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
    return "x86-64-v4";
#elif defined(__AVX2__) && defined(__FMA__) && defined(__BMI2__)
    return "x86-64-v3";
#elif defined(__x86_64__)
    return "baseline";
#elif defined(__aarch64__)
    return "aarch64";
#else
    return "generic";
#endif
}

std::string cpuName() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.rfind("model name", 0) != 0)
            continue;
        const auto colon = line.find(": ");
        if (colon != std::string::npos)
            return line.substr(colon + 2);
    }
    return "unknown";
}

std::string machineName() {
    std::array<char, 256> name{}; // the last byte stays zero
    if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0')
        return "unknown";
    std::string host(name.data());
    std::replace(host.begin(), host.end(), '/', '_');
    return host;
}

} // namespace gradlab::engine
