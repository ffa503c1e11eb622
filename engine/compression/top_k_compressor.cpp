// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/top_k_compressor.h"

#include "engine/compression/compression_parameters.h"

namespace gradlab::engine {

MethodInfo topKMethodInfo() {
    MethodInfo info;
    info.name = "topk";
    info.label = "Top-k";
    info.description = "Sends the k elements of largest magnitude of each tensor.";
    info.source = "Stich, Cordonnier, Jaggi 2018, arXiv 1809.07599";
    info.defaultMemory = "residual";
    info.memories = {"none", "residual", "dgc"};
    info.parameters = {ratioParameter()};
    info.sparse = true;
    return info;
}

} // namespace gradlab::engine
