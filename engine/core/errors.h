// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The errors that a caller can do something about. Each message is one line that says what is
// wrong, where, and what to do. A bug is a CheckFailure (check.h), never one of these.
#pragma once

#include "engine/core/export.h"

#include <cstdint>
#include <stdexcept>
#include <string>

namespace gradlab::engine {

/// Base of every recoverable error; what() is one line without program name and without a full
/// stop.
class GRADLAB_ENGINE_EXPORT Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
    ~Error() override;
};

/// A bad option or experiment: names the field, the value and what is allowed. Exit code 2.
class GRADLAB_ENGINE_EXPORT ExperimentError : public Error {
public:
    /// `field` is the experiment file's dotted path ("training.lr"), or empty when none is to
    /// blame.
    ExperimentError(std::string field, const std::string& message);
    ~ExperimentError() override;
    [[nodiscard]] const std::string& field() const noexcept { return field_; }

private:
    std::string field_;
};

/// A bad or unreadable file: names the file, and line or byte. Exit code 3.
class GRADLAB_ENGINE_EXPORT DataError : public Error {
public:
    using Error::Error;
    ~DataError() override;
};

/// Workers lost beyond what on_loss allows, or no coordinator. Exit code 4.
class GRADLAB_ENGINE_EXPORT TransportError : public Error {
public:
    using Error::Error;
    ~TransportError() override;
};

/// Bytes from a peer or a file that break the wire format. The frame is dropped, its sender named.
class GRADLAB_ENGINE_EXPORT ProtocolError : public Error {
public:
    using Error::Error;
    ~ProtocolError() override;
};

/// A number left the finite range: names step and tensor. Exit code 5. Nothing of the step is
/// committed.
class GRADLAB_ENGINE_EXPORT NumericError : public Error {
public:
    NumericError(std::uint64_t step, std::string tensor, const std::string& what);
    ~NumericError() override;
    [[nodiscard]] std::uint64_t step() const noexcept { return step_; }
    [[nodiscard]] const std::string& tensor() const noexcept { return tensor_; }

private:
    std::uint64_t step_ = 0;
    std::string tensor_;
};

/// The step was given up because a stop was requested; nothing of it is committed.
class GRADLAB_ENGINE_EXPORT Cancelled : public Error {
public:
    Cancelled();
    ~Cancelled() override;
};

} // namespace gradlab::engine
