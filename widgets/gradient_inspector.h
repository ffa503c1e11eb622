// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What compression did to one gradient: histogram of magnitudes with what was sent, table of
// tensors, overlap of the workers' choices, QSGD's levels, a map; for a chosen run, worker, tensor
// and step. Leaves out: where snapshots come from and how many are kept.
#pragma once

#include "engine/metrics/gradient_snapshot.h"
#include "widgets/theme.h"

#include <QString>
#include <QWidget>

#include <cstdint>
#include <memory>
#include <vector>

class QCheckBox;
class QComboBox;
class QLabel;
class QSlider;
class QTableView;
class QTabWidget;

namespace gradlab::widgets {

class GradientInspectorTable;
class HeatMapView;
class HistogramPlot;

class GradientInspector : public QWidget {
    Q_OBJECT

public:
    using Snapshot = std::shared_ptr<const engine::GradientSnapshot>;
    struct Run {
        int id = 0;
        QString name;
        bool operator==(const Run&) const = default;
    };

    explicit GradientInspector(QWidget* parent = nullptr);
    void setTheme(const Theme& theme);
    /// The chosen run stays chosen if it is still there.
    void setRuns(const std::vector<Run>& runs);
    /// Steps of the chosen run that can be looked at, ascending.
    void setSteps(std::vector<std::uint64_t> steps);
    /// Null: nothing to show, `why` instead.
    void setSnapshot(Snapshot snapshot, const QString& why);

    /// 0 without runs.
    [[nodiscard]] int run() const;
    void chooseRun(int id);
    /// tensors, overlap, levels or map; others are ignored.
    void chooseView(const QString& name);
    void chooseTensor(std::uint32_t tensor);
    /// Index into the snapshot's workers, and the rank of that worker.
    [[nodiscard]] std::uint32_t worker() const;
    [[nodiscard]] std::uint32_t rank() const;
    [[nodiscard]] std::uint32_t tensor() const;
    /// Index into the steps; -1 without.
    [[nodiscard]] int stepIndex() const;
    /// Whether the newest step is shown as it comes.
    [[nodiscard]] bool follows() const;
    [[nodiscard]] HistogramPlot* histogram() const noexcept { return histogram_; }
    [[nodiscard]] HistogramPlot* overlap() const noexcept { return overlap_; }
    [[nodiscard]] HistogramPlot* levels() const noexcept { return levels_; }
    [[nodiscard]] HeatMapView* map() const noexcept { return map_; }
    [[nodiscard]] GradientInspectorTable* table() const noexcept { return table_; }
    [[nodiscard]] QTabWidget* tabs() const noexcept { return tabs_; }
    [[nodiscard]] QSlider* slider() const noexcept { return slider_; }
    [[nodiscard]] QString sentence() const;
    [[nodiscard]] QString costText() const;

Q_SIGNALS:
    void runChosen(int id);
    /// Worker or tensor.
    void focusChanged();
    void stepChosen(int index);

private:
    void build();
    void buildChoices();
    void buildPlots();
    void buildTabs();
    [[nodiscard]] QWidget* page(QWidget* plot, QLabel* words);
    void showOverlap();
    void showMap(const engine::TensorSnapshot* tensor);
    void chooseStep(int index);
    void fillChoices();
    void showTensor();
    void showStep();
    [[nodiscard]] const engine::TensorSnapshot* shown() const;

    QComboBox* run_;
    QComboBox* worker_;
    QComboBox* tensor_;
    QSlider* slider_;
    QLabel* step_;
    QCheckBox* follow_;
    HistogramPlot* histogram_;
    QLabel* sentence_;
    QTabWidget* tabs_;
    GradientInspectorTable* table_;
    QTableView* tableView_;
    HistogramPlot* overlap_;
    QLabel* overlapWords_;
    HistogramPlot* levels_;
    QLabel* levelWords_;
    HeatMapView* map_;
    QLabel* cost_;
    std::vector<Run> runs_;
    std::vector<std::uint64_t> steps_;
    Snapshot snapshot_;
    QString why_;
};

} // namespace gradlab::widgets
