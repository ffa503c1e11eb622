// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/dense_compressor.h"

namespace gradlab::engine {

MethodInfo denseMethodInfo() {
    MethodInfo info;
    info.name = "none";
    info.label = "None (dense)";
    info.description = "Sends every element; the baseline that all others are measured against.";
    info.defaultMemory = "none";
    info.memories = {"none", "residual"};
    return info;
}

} // namespace gradlab::engine
