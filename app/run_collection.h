// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The runs of this session, those that ran and those that were opened: their data, names, colours
// and experiments. The views get lists of RunInfo whose series live here.
#pragma once

#include "engine/training/experiment.h"
#include "widgets/run_info.h"

#include <QObject>

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

namespace gradlab::app {

struct CollectedRun {
    widgets::RunInfo info;
    std::unique_ptr<widgets::RunSeries> series;
    engine::Experiment atStart; ///< as it was started
    engine::Experiment current; ///< with the changes made since
    std::filesystem::path log;  ///< with every record; empty: there is none
    double resting = 0.0;       ///< norm of what a memory held when it was switched off to be kept
};

class RunCollection : public QObject {
    Q_OBJECT

public:
    static constexpr std::size_t kFewestSeeds = 3; ///< of one experiment, to be shown together
    using QObject::QObject;

    /// A new run in the next free colour. Its name is made unique: "Dense", then "Dense (2)".
    void add(int id, const engine::Experiment& experiment);
    /// Unknown ids are ignored: records of runs that were removed meanwhile.
    void append(int id, const std::vector<engine::Record>& records);
    void remove(int id);
    void setLog(int id, const std::filesystem::path& log);
    void setVisible(int id, bool visible);
    void rename(int id, const QString& name);
    void setNote(int id, const QString& note);
    /// Index into Theme::runColour.
    void setColour(int id, int colour);
    /// The run that the others are compared with; nothing: none.
    void setBaseline(std::optional<int> id);
    void setState(int id, const QString& state);

    [[nodiscard]] widgets::RunList list() const;
    /// Null if there is none; valid until the next add or remove.
    [[nodiscard]] const CollectedRun* find(int id) const;
    [[nodiscard]] bool isEmpty() const noexcept { return runs_.empty(); }

Q_SIGNALS:
    /// A run came, went, or looks different. Emitted before the series of a removed run goes.
    void listChanged();
    /// A run's experiment was changed at a step boundary.
    void experimentChanged(int id);

private:
    [[nodiscard]] CollectedRun* entry(int id);
    [[nodiscard]] QString freshName(const engine::Experiment& experiment, int id) const;
    [[nodiscard]] QString uniqueName(const QString& wanted, int exceptId) const;
    [[nodiscard]] int freeColour() const;
    void follow(CollectedRun& run, const engine::Record& record);

    std::vector<std::unique_ptr<CollectedRun>> runs_;
};

/// What people call an experiment without a name: "Top-k 0.01".
[[nodiscard]] QString experimentTitle(const engine::Experiment& experiment);
/// Method and memory in short, for the table: "Top-k 0.01, residual".
[[nodiscard]] QString methodText(const engine::Experiment& experiment);

} // namespace gradlab::app
