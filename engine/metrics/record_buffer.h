// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A bounded hand-over of records from a run's thread to whoever draws them. The reader takes
// everything at its own pace; when it lags, the oldest step records go first (the log has them),
// never another kind; of snapshots only the newest wait.
#pragma once

#include "engine/core/export.h"
#include "engine/metrics/record_sink.h"

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace gradlab::engine {

class GRADLAB_ENGINE_EXPORT RecordBuffer final : public RecordSink {
public:
    explicit RecordBuffer(std::size_t capacity = 20000);
    ~RecordBuffer() override;
    void record(const Record& record) override;
    /// Keeps the newest kMostSnapshots.
    void snapshot(const std::shared_ptr<const GradientSnapshot>& snapshot) override;
    /// Everything since the last call, in order; any thread.
    [[nodiscard]] std::vector<Record> take();
    /// Snapshots since the last call, oldest first; any thread.
    [[nodiscard]] std::vector<std::shared_ptr<const GradientSnapshot>> takeSnapshots();
    static constexpr std::size_t kMostSnapshots = 4;
    /// Step records dropped so far because the reader lagged.
    [[nodiscard]] std::size_t dropped() const;

private:
    mutable std::mutex mutex_; ///< guards everything below
    std::deque<Record> records_;
    std::deque<std::shared_ptr<const GradientSnapshot>> snapshots_;
    std::size_t capacity_;
    std::size_t dropped_ = 0;
};

} // namespace gradlab::engine
