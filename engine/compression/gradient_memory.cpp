// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/gradient_memory.h"

#include "engine/compression/dgc_memory.h"
#include "engine/compression/no_memory.h"
#include "engine/compression/residual_memory.h"
#include "engine/core/errors.h"

namespace gradlab::engine {

template <class T>
std::unique_ptr<GradientMemory<T>> makeMemory(const CompressionSettings& settings, std::size_t size,
                                              const CompressorIdentity& identity) {
    if (settings.memory == "residual")
        return std::make_unique<ResidualMemory<T>>(settings, size);
    if (settings.memory == "dgc")
        return std::make_unique<DgcMemory<T>>(settings, size, identity.workers);
    if (settings.memory == "none")
        return std::make_unique<NoMemory<T>>();
    throw ExperimentError("compression.memory",
                          "unknown memory '" + settings.memory + "'; use none, residual or dgc");
}

template std::unique_ptr<GradientMemory<float>>
makeMemory<float>(const CompressionSettings&, std::size_t, const CompressorIdentity&);
template std::unique_ptr<GradientMemory<double>>
makeMemory<double>(const CompressionSettings&, std::size_t, const CompressorIdentity&);

} // namespace gradlab::engine
