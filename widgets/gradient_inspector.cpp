// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/gradient_inspector.h"

#include "widgets/gradient_inspector_table.h"
#include "widgets/gradient_inspector_views.h"
#include "widgets/heat_map_view.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLocale>
#include <QSignalBlocker>
#include <QSlider>
#include <QTabWidget>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace gradlab::widgets {

GradientInspector::GradientInspector(QWidget* parent)
    : QWidget(parent), run_(new QComboBox(this)), worker_(new QComboBox(this)),
      tensor_(new QComboBox(this)), slider_(new QSlider(Qt::Horizontal, this)),
      step_(new QLabel(this)), follow_(new QCheckBox(tr("Newest"), this)),
      histogram_(new HistogramPlot(this)), sentence_(new QLabel(this)), tabs_(new QTabWidget(this)),
      table_(new GradientInspectorTable(this)), tableView_(new QTableView(tabs_)),
      overlap_(new HistogramPlot(tabs_)), overlapWords_(new QLabel(tabs_)),
      levels_(new HistogramPlot(tabs_)), levelWords_(new QLabel(tabs_)),
      map_(new HeatMapView(tabs_)), cost_(new QLabel(this)) {
    setObjectName(QStringLiteral("gradientInspector"));
    setAccessibleName(tr("Gradient"));
    build();
    connect(run_, &QComboBox::activated, this, [this] { Q_EMIT runChosen(run()); });
    const auto focus = [this] {
        showTensor();
        Q_EMIT focusChanged();
    };
    connect(worker_, &QComboBox::currentIndexChanged, this, focus);
    connect(tensor_, &QComboBox::currentIndexChanged, this, focus);
    connect(slider_, &QSlider::valueChanged, this, &GradientInspector::chooseStep);
    connect(follow_, &QCheckBox::toggled, this, [this](bool on) {
        if (on)
            slider_->setValue(slider_->maximum());
    });
    setSteps({});
    setSnapshot(nullptr, QString());
}

void GradientInspector::build() {
    buildChoices();
    buildPlots();
    buildTabs();
    auto* choices = new QHBoxLayout;
    choices->addWidget(run_, 3);
    choices->addWidget(worker_);
    choices->addWidget(tensor_, 3);
    auto* steps = new QHBoxLayout;
    steps->addWidget(step_);
    steps->addWidget(slider_, 1);
    steps->addWidget(follow_);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(4, 2, 4, 2);
    column->setSpacing(3);
    column->addLayout(choices);
    column->addLayout(steps);
    column->addWidget(histogram_, 1);
    column->addWidget(sentence_);
    column->addWidget(tabs_, 1);
    column->addWidget(cost_);
}

void GradientInspector::buildChoices() {
    run_->setAccessibleName(tr("Run"));
    run_->setToolTip(tr("Whose gradient is shown"));
    worker_->setAccessibleName(tr("Worker"));
    worker_->setToolTip(tr("Each worker has its own gradient and memory"));
    tensor_->setAccessibleName(tr("Tensor"));
    tensor_->setToolTip(tr("Which tensor's gradient is shown"));
    slider_->setAccessibleName(tr("Step"));
    slider_->setToolTip(tr("The steps that were looked into"));
    follow_->setChecked(true);
    follow_->setToolTip(tr("Show each new look as it comes"));
    for (QComboBox* box : {run_, tensor_})
        box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    worker_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    run_->setMinimumContentsLength(8);
    tensor_->setMinimumContentsLength(12);
}

void GradientInspector::buildPlots() {
    histogram_->setTitle(tr("What the compressor saw, and what it sent"));
    histogram_->setToolTip(tr("x = gradient + memory (residual: x = γ·g + β·e; DGC: x = v + u). "
                              "Shaded: the elements that went into the message. Energy is ‖x‖², "
                              "the kept share of it ‖C(x)‖²/‖x‖²."));
    overlap_->setTitle(tr("Indices by how many workers chose them"));
    overlap_->setToolTip(tr("Marks: what chance would give if each of N workers drew its share p "
                            "of the n indices: n·C(N,j)·p^j·(1 − p)^(N − j) indices chosen by j "
                            "workers."));
    levels_->setTitle(tr("QSGD's levels"));
    levels_->setToolTip(tr("r = s·|x|/norm is rounded up with probability r − ⌊r⌋, else down. "
                           "Marks: these probabilities, summed over the elements."));
    map_->setToolTip(QString());
    cost_->setToolTip(tr("CPU time of one worker, mean over workers: copying what the compressor "
                         "sees, decoding the message, counting. Not in the step's own times."));
    for (QLabel* label : {sentence_, overlapWords_, levelWords_, cost_}) {
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    }
}

QWidget* GradientInspector::page(QWidget* plot, QLabel* words) {
    auto* page = new QWidget(tabs_);
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    column->addWidget(plot, 1);
    column->addWidget(words);
    return page;
}

void GradientInspector::buildTabs() {
    tableView_->setAccessibleName(tr("Tensors of the worker"));
    tableView_->setToolTip(tr("Select a tensor to look into it"));
    tableView_->setTabKeyNavigation(false); // Tab leaves it, arrow keys move in it
    tableView_->setModel(table_);
    tableView_->setSelectionBehavior(QAbstractItemView::SelectRows);
    tableView_->setSelectionMode(QAbstractItemView::SingleSelection);
    tableView_->setAlternatingRowColors(true);
    tableView_->verticalHeader()->hide();
    tableView_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 4);
    tableView_->horizontalHeader()->setHighlightSections(false);
    tableView_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    tabs_->setAccessibleName(tr("Views of the step"));
    tabs_->setDocumentMode(true);
    tabs_->addTab(tableView_, tr("&Tensors"));
    tabs_->addTab(page(overlap_, overlapWords_), tr("&Overlap"));
    tabs_->addTab(page(levels_, levelWords_), tr("&Levels"));
    tabs_->addTab(map_, tr("&Map"));
    const QStringList names = {QStringLiteral("tensors"), QStringLiteral("overlap"),
                               QStringLiteral("levels"), QStringLiteral("map")};
    const QStringList tips = {
        tr("What each tensor costs and loses"), tr("Whether the workers choose the same indices"),
        tr("QSGD's levels against their probabilities"), tr("Where in the matrix it lies")};
    for (int tab = 0; tab < tabs_->count(); ++tab) {
        tabs_->widget(tab)->setObjectName(names[tab]);
        tabs_->setTabToolTip(tab, tips[tab]);
    }
    connect(tableView_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& row) {
                if (row.isValid() && row.row() < tensor_->count())
                    tensor_->setCurrentIndex(row.row());
            });
}

void GradientInspector::setTheme(const Theme& theme) {
    for (HistogramPlot* plot : {histogram_, overlap_, levels_})
        plot->setTheme(theme);
    map_->setTheme(theme);
}

void GradientInspector::setRuns(const std::vector<Run>& runs) {
    if (runs == runs_)
        return;
    const int chosen = run();
    runs_ = runs;
    const QSignalBlocker quiet(run_);
    run_->clear();
    for (const Run& run : runs_)
        run_->addItem(run.name, run.id);
    const int at = run_->findData(chosen);
    run_->setCurrentIndex(at >= 0 ? at : run_->count() - 1);
    run_->setEnabled(run_->count() > 0);
    if (run() != chosen)
        Q_EMIT runChosen(run());
}

void GradientInspector::chooseRun(int id) {
    const int at = run_->findData(id);
    if (at < 0 || at == run_->currentIndex())
        return;
    run_->setCurrentIndex(at);
    Q_EMIT runChosen(id);
}

void GradientInspector::setSteps(std::vector<std::uint64_t> steps) {
    if (steps == steps_ && !steps.empty())
        return;
    const std::uint64_t chosen =
        stepIndex() < 0 ? 0 : steps_[static_cast<std::size_t>(stepIndex())];
    steps_ = std::move(steps);
    const auto last = std::max(0, static_cast<int>(steps_.size()) - 1);
    const auto at = std::lower_bound(steps_.begin(), steps_.end(), chosen) - steps_.begin();
    const QSignalBlocker quiet(slider_);
    slider_->setRange(0, last);
    slider_->setValue(follows() ? last : std::min(last, static_cast<int>(at)));
    slider_->setEnabled(steps_.size() > 1);
    showStep();
}

void GradientInspector::setSnapshot(Snapshot snapshot, const QString& why) {
    snapshot_ = std::move(snapshot);
    why_ = why;
    fillChoices();
    showTensor();
}

int GradientInspector::run() const {
    return run_->currentData().toInt();
}

void GradientInspector::chooseView(const QString& name) {
    for (int tab = 0; tab < tabs_->count(); ++tab)
        if (tabs_->widget(tab)->objectName() == name)
            tabs_->setCurrentIndex(tab);
}

void GradientInspector::chooseTensor(std::uint32_t tensor) {
    if (static_cast<int>(tensor) < tensor_->count())
        tensor_->setCurrentIndex(static_cast<int>(tensor));
}

std::uint32_t GradientInspector::worker() const {
    return static_cast<std::uint32_t>(std::max(0, worker_->currentIndex()));
}

std::uint32_t GradientInspector::rank() const {
    return snapshot_ && worker() < snapshot_->workers.size() ? snapshot_->workers[worker()].rank
                                                             : worker();
}

std::uint32_t GradientInspector::tensor() const {
    return static_cast<std::uint32_t>(std::max(0, tensor_->currentIndex()));
}

int GradientInspector::stepIndex() const {
    return steps_.empty() ? -1 : slider_->value();
}

bool GradientInspector::follows() const {
    return follow_->isChecked();
}

QString GradientInspector::sentence() const {
    return sentence_->text();
}

QString GradientInspector::costText() const {
    return cost_->text();
}

void GradientInspector::chooseStep(int index) {
    if (index != slider_->maximum())
        follow_->setChecked(false);
    showStep();
    Q_EMIT stepChosen(index);
}

void GradientInspector::showStep() {
    const int index = stepIndex();
    step_->setText(index < 0 ? tr("Step –")
                             : tr("Step %1").arg(QLocale().toString(static_cast<qulonglong>(
                                   steps_[static_cast<std::size_t>(index)]))));
}

/// Workers and tensors of the snapshot; what was chosen stays chosen by place and name.
void GradientInspector::fillChoices() {
    const auto refill = [](QComboBox* box, const QStringList& names) {
        QStringList held;
        for (int i = 0; i < box->count(); ++i)
            held.push_back(box->itemText(i));
        if (held == names)
            return;
        const QString chosen = box->currentText();
        const QSignalBlocker quiet(box);
        box->clear();
        box->addItems(names);
        box->setCurrentIndex(std::max(0, box->findText(chosen)));
        box->setEnabled(!names.isEmpty());
    };
    if (!snapshot_)
        return;
    QStringList workers;
    for (const engine::WorkerSnapshot& worker : snapshot_->workers)
        workers.push_back(tr("Worker %1").arg(worker.rank));
    QStringList tensors;
    for (const engine::SnapshotTensor& tensor : snapshot_->tensors)
        tensors.push_back(QString::fromStdString(tensor.name));
    refill(worker_, workers);
    refill(tensor_, tensors);
}

const engine::TensorSnapshot* GradientInspector::shown() const {
    if (!snapshot_ || worker() >= snapshot_->workers.size())
        return nullptr;
    const auto& tensors = snapshot_->workers[worker()].tensors;
    return tensor() < tensors.size() ? &tensors[tensor()] : nullptr;
}

void GradientInspector::showTensor() {
    const engine::TensorSnapshot* tensor = shown();
    histogram_->setEmptyText(why_);
    histogram_->setData(tensor ? magnitudeView(*tensor) : HistogramData{});
    sentence_->setText(tensor ? sentSentence(*tensor) : QString());
    histogram_->setSummary(tensor ? sentence_->text() : why_);
    table_->setSnapshot(snapshot_, worker());
    if (tensor != nullptr)
        tableView_->selectRow(static_cast<int>(this->tensor()));
    showOverlap();
    levels_->setEmptyText(tensor ? tr("This method has no levels.") : why_);
    levels_->setData(tensor ? levelView(tensor->levels) : HistogramData{});
    levelWords_->setText(tensor ? levelSentence(*tensor) : QString());
    levels_->setSummary(levelWords_->text());
    showMap(tensor);
    cost_->setText(snapshot_ ? costSentence(*snapshot_) : QString());
}

void GradientInspector::showOverlap() {
    const bool known = shown() != nullptr;
    const engine::SnapshotTensor choices =
        known ? snapshot_->tensors[tensor()] : engine::SnapshotTensor{};
    overlap_->setEmptyText(known ? tr("The workers choose nothing: they send every element.")
                                 : why_);
    overlap_->setData(overlapView(choices));
    overlapWords_->setText(overlapSentence(choices));
    overlap_->setSummary(overlapWords_->text());
}

void GradientInspector::showMap(const engine::TensorSnapshot* tensor) {
    if (tensor == nullptr) {
        map_->setMap({}, 0, 0, false, why_);
        return;
    }
    const engine::SnapshotTensor& shape = snapshot_->tensors[this->tensor()];
    map_->setMap(tensor->map, shape.rows, shape.columns, snapshot_->memory == "none", QString());
    map_->setSummary(tr("%1, %2 rows and %3 columns: to be sent, sent, stayed")
                         .arg(QString::fromStdString(shape.name))
                         .arg(shape.rows)
                         .arg(shape.columns));
}

} // namespace gradlab::widgets
