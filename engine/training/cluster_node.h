// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A worker process's part of a run: one replica and one worker, driven by the coordinator's orders.
// It reads no text and no experiment file: everything comes in a snapshot. Leaves out: the orders
// themselves and their sockets (transport/zmq).
//
// A snapshot is a safetensors document in memory: metadata names rank, experiment, step and
// vocabulary; tensors are any of
//   tokens (rows × columns)            the worker's columns of the training text
//   parameters under PyTorch's names, optimizer.velocity                      the replica
//   worker.h, worker.c, worker.residual, …, and metadata worker.memory        the worker
#pragma once

#include "engine/compression/gradient_compressor.h"
#include "engine/core/byte_buffer.h"
#include "engine/core/export.h"
#include "engine/core/precision.h"
#include "engine/training/gradient_exchange.h"
#include "engine/training/gradient_inspector.h"

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

namespace gradlab::engine {

/// One thread drives it.
class GRADLAB_ENGINE_EXPORT ClusterNode {
public:
    /// From a joiner's snapshot. `exchange` makes this process's end of the exchange; `threads` =
    /// cores that it may use.
    /// @throws ProtocolError for a snapshot that does not fit together, ExperimentError if this
    /// machine cannot train in the run's precision
    [[nodiscard]] static std::unique_ptr<ClusterNode>
    create(ByteView snapshot, const ExchangeFactory& exchange, std::size_t threads);
    /// The same on a machine of that ability; for tests of a refusal.
    [[nodiscard]] static std::unique_ptr<ClusterNode> createOn(Bf16Ability ability,
                                                               ByteView snapshot,
                                                               const ExchangeFactory& exchange,
                                                               std::size_t threads);
    virtual ~ClusterNode();

    /// Computes the gradient, exchanges, checks the mean, commits, updates. Returns when the
    /// update is done. @throws NumericError, Cancelled (nothing of the step is committed then),
    /// TransportError
    virtual void step(std::uint64_t step, std::stop_token stop) = 0;
    /// The last step's account, an engine document that the trainer reads; with the parameters'
    /// hash if asked.
    [[nodiscard]] virtual std::string report(bool withHash) const = 0;
    /// The exchange's own account of that step, for the transport to put beside report().
    [[nodiscard]] virtual const ExchangeOutcome& outcome() const = 0;

    /// Experiment document with new parameters, between steps. @throws ExperimentError
    virtual void configure(const std::string& experiment, MemoryChange change) = 0;
    /// The worker's memory and hidden state, or the replica's parameters and optimizer.
    [[nodiscard]] virtual ByteBuffer snapshot(bool replica) = 0;
    /// The next step is looked into, and `focus` made finer.
    virtual void inspectNext(const std::optional<InspectionRequest>& /*focus*/) {}
    /// What the last step's inspection found, once, as a document for readInspection(); empty if
    /// nobody asked.
    [[nodiscard]] virtual ByteBuffer inspection() { return {}; }
    /// Takes whatever the snapshot holds of worker and replica, between steps. @throws
    /// ProtocolError
    virtual void load(ByteView snapshot) = 0;

    [[nodiscard]] virtual std::uint32_t rank() const = 0;
    [[nodiscard]] virtual std::uint64_t parameterHash() const = 0;
    /// Counts up while the node computes; read from any thread, for heartbeats.
    [[nodiscard]] virtual std::uint64_t progress() const = 0;
};

} // namespace gradlab::engine
