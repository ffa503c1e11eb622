// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// From measured training cells: on which networks each method pays, and what it costs beside the
// study's figures.
#pragma once

#include <nlohmann/json.hpp>

namespace gradlab::app {

/// Adds "pays" and "overhead" to a document that has "train". Server topology without overlap; CPU
/// time of the method, beyond that of sending everything, against the bytes that it saves, up and
/// down, as 32-bit and as 16-bit numbers.
void addPays(nlohmann::ordered_json& document);

} // namespace gradlab::app
