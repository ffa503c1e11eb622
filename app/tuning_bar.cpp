// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Built from the schema: a new live field appears by itself.
#include "app/tuning_bar.h"

#include "app/live_tuning.h"
#include "app/training_session.h"
#include "engine/training/experiment_schema.h"
#include "widgets/field_editor.h"
#include "widgets/field_knob.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include <algorithm>

namespace gradlab::app {

TuningBar::TuningBar(QWidget* parent)
    : QScrollArea(parent), row_(new QWidget(this)), target_(new QComboBox(row_)) {
    setObjectName(QStringLiteral("tuningBar"));
    setAccessibleName(tr("Tuning"));
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setWidget(row_);
    target_->setAccessibleName(tr("Run to tune"));
    target_->setToolTip(tr("Which run the knobs change: one, or all that are on"));
    target_->setMinimumContentsLength(12);
    connect(target_, &QComboBox::currentIndexChanged, this, &TuningBar::showValues);
    buildKnobs();
    setTargets({});
}

namespace {

QWidget* labelled(const QString& label, QWidget* editor, QWidget* parent) {
    auto* box = new QWidget(parent);
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(1);
    auto* text = new QLabel(label, box);
    text->setBuddy(editor);
    column->addWidget(text);
    column->addWidget(editor);
    box->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
    return box;
}

} // namespace

void TuningBar::buildKnobs() {
    auto* row = new QHBoxLayout(row_);
    row->setContentsMargins(6, 3, 6, 3);
    row->setSpacing(10);
    row->addWidget(labelled(tr("Tune"), target_, row_), 0, Qt::AlignTop);
    for (const engine::FieldSpec& field : engine::experimentSchema()) {
        if (!field.live || (field.advanced && !field.slider))
            continue;
        auto* knob = new widgets::FieldKnob(field, row_);
        knob->setMaximumWidth(150);
        row->addWidget(knob, 0, Qt::AlignTop);
        connect(knob, &widgets::FieldKnob::edited, this,
                [this, path = field.path](const engine::FieldValue& value, int gesture) {
                    Q_EMIT changeRequested({chosenTarget(), path, value, gesture});
                });
        knobs_.push_back(knob);
    }
    row->addStretch();
}

void TuningBar::setTargets(const std::vector<Target>& targets) {
    const int chosen = chosenTarget();
    targets_ = targets;
    {
        const QSignalBlocker blocker(target_);
        target_->clear();
        if (targets_.size() != 1)
            target_->addItem(targets_.empty() ? tr("No run is on") : tr("All runs"),
                             TrainingSession::kAllRuns);
        for (const Target& target : targets_)
            target_->addItem(target.name, target.id);
        target_->setCurrentIndex(std::max(0, target_->findData(chosen)));
    }
    showValues();
}

void TuningBar::chooseTarget(int id) {
    if (const int index = target_->findData(id); index >= 0)
        target_->setCurrentIndex(index);
}

int TuningBar::chosenTarget() const {
    const QVariant id = target_->currentData();
    return id.isValid() ? id.toInt() : TrainingSession::kAllRuns;
}

widgets::FieldKnob* TuningBar::knob(const QString& path) const {
    for (widgets::FieldKnob* knob : knobs_)
        if (QString::fromStdString(knob->field().path) == path)
            return knob;
    return nullptr;
}

widgets::FieldEditor* TuningBar::editor(const QString& path) const {
    const widgets::FieldKnob* found = knob(path);
    return found == nullptr ? nullptr : found->editor();
}

void TuningBar::focusFirst() {
    target_->setFocus(Qt::ShortcutFocusReason);
}

std::vector<const engine::Experiment*> TuningBar::chosenExperiments() const {
    std::vector<const engine::Experiment*> chosen;
    const int id = chosenTarget();
    for (const Target& target : targets_)
        if (id == TrainingSession::kAllRuns || target.id == id)
            chosen.push_back(&target.experiment);
    return chosen;
}

/// Of all runs only what they share: one value stands for all.
bool TuningBar::isShown(const engine::FieldSpec& field,
                        const std::vector<const engine::Experiment*>& chosen) {
    const bool own = field.path.starts_with("compression.");
    return std::all_of(chosen.begin(), chosen.end(), [&](const engine::Experiment* experiment) {
        return !own || (engine::isFieldUsed(field, *experiment) &&
                        engine::getField(*experiment, field.path) ==
                            engine::getField(*chosen.front(), field.path));
    });
}

void TuningBar::showValues() {
    const std::vector<const engine::Experiment*> chosen = chosenExperiments();
    for (widgets::FieldKnob* knob : knobs_) {
        const engine::FieldSpec& field = knob->field();
        const bool shown = isShown(field, chosen);
        knob->setVisible(shown);
        knob->setEnabled(!chosen.empty());
        if (shown && !chosen.empty())
            knob->setValue(engine::getField(*chosen.front(), field.path));
    }
    fitHeight();
}

void TuningBar::resizeEvent(QResizeEvent* event) {
    QScrollArea::resizeEvent(event);
    fitHeight();
}

/// As high as the knobs, and the scroll bar where they do not fit.
void TuningBar::fitHeight() {
    const QSize wanted = row_->sizeHint();
    const bool scrolls = wanted.width() > width();
    setFixedHeight(wanted.height() + (scrolls ? horizontalScrollBar()->sizeHint().height() : 0));
}

void TuningBar::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape)
        Q_EMIT closeRequested();
    else
        QScrollArea::keyPressEvent(event);
}

} // namespace gradlab::app
