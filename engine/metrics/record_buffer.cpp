// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/metrics/record_buffer.h"

#include "engine/core/check.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gradlab::engine {

RecordBuffer::RecordBuffer(std::size_t capacity) : capacity_(capacity) {
    GRADLAB_CHECK(capacity > 0, capacity);
}

RecordBuffer::~RecordBuffer() = default;

void RecordBuffer::record(const Record& record) {
    const std::lock_guard lock(mutex_);
    if (records_.size() >= capacity_) {
        // Only steps and workers repeat so often that one may go; a buffer full of other kinds
        // grows.
        const auto oldest = std::find_if(records_.begin(), records_.end(), [](const Record& held) {
            return std::holds_alternative<StepRecord>(held) ||
                   std::holds_alternative<WorkerRecord>(held);
        });
        if (oldest != records_.end()) {
            records_.erase(oldest);
            ++dropped_;
        }
    }
    records_.push_back(record);
}

std::vector<Record> RecordBuffer::take() {
    std::deque<Record> taken;
    {
        const std::lock_guard lock(mutex_);
        taken.swap(records_);
    }
    return {std::make_move_iterator(taken.begin()), std::make_move_iterator(taken.end())};
}

void RecordBuffer::snapshot(const std::shared_ptr<const GradientSnapshot>& snapshot) {
    const std::lock_guard lock(mutex_);
    if (snapshots_.size() == kMostSnapshots)
        snapshots_.pop_front();
    snapshots_.push_back(snapshot);
}

std::vector<std::shared_ptr<const GradientSnapshot>> RecordBuffer::takeSnapshots() {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<const GradientSnapshot>> taken(snapshots_.begin(),
                                                               snapshots_.end());
    snapshots_.clear();
    return taken;
}

std::size_t RecordBuffer::dropped() const {
    const std::lock_guard lock(mutex_);
    return dropped_;
}

} // namespace gradlab::engine
