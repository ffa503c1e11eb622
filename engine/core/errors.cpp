// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/core/errors.h"

#include <utility>

namespace gradlab::engine {

Error::~Error() = default;

ExperimentError::ExperimentError(std::string field, const std::string& message)
    : Error(message), field_(std::move(field)) {}
ExperimentError::~ExperimentError() = default;

DataError::~DataError() = default;
TransportError::~TransportError() = default;
ProtocolError::~ProtocolError() = default;

NumericError::NumericError(std::uint64_t step, std::string tensor, const std::string& what)
    : Error(what), step_(step), tensor_(std::move(tensor)) {}
NumericError::~NumericError() = default;

Cancelled::Cancelled() : Error("stopped before the step was complete") {}
Cancelled::~Cancelled() = default;

} // namespace gradlab::engine
