// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Says above the form that the next start goes on from a run's checkpoint, and from which. Leaves
// out: what a fork may change (engine's run_fork), starting it.
#pragma once

#include "engine/training/experiment.h"
#include "engine/training/run_fork.h"

#include <QWidget>

#include <optional>
#include <vector>

class QComboBox;
class QLabel;

namespace gradlab::app {

/// What a fork goes on from.
struct ForkSource {
    QString run; ///< its name in the table
    std::filesystem::path folder;
    engine::ForkPoint point;
    engine::Experiment origin; ///< as the checkpoint has it
    std::uint64_t completedAt; ///< step at which a limit had ended the run; 0: none had
};

class ForkBar : public QWidget {
    Q_OBJECT

public:
    explicit ForkBar(QWidget* parent = nullptr);

    /// Shows the bar with the latest of `points`, at least one.
    /// @throws DataError if that checkpoint cannot be read; the bar stays as it was
    void offer(const QString& run, const std::filesystem::path& folder,
               const std::vector<engine::ForkPoint>& points, std::uint64_t completedAt);
    /// The next start is no fork.
    void clear();
    [[nodiscard]] const std::optional<ForkSource>& source() const noexcept { return source_; }
    [[nodiscard]] QComboBox* steps() const noexcept { return steps_; }

Q_SIGNALS:
    /// Another checkpoint, another run, or none any more.
    void sourceChanged();
    /// A checkpoint that cannot be read; the one before stays.
    void failed(const QString& text);

private:
    void choose(int index);

    QLabel* text_;
    QComboBox* steps_;
    std::vector<engine::ForkPoint> points_;
    std::optional<ForkSource> source_;
};

/// The experiment that the form begins with: the checkpoint's under a name of its own, with room to
/// go on where it had reached its limit of steps or epochs.
[[nodiscard]] engine::Experiment forkedExperiment(const ForkSource& source);

} // namespace gradlab::app
