// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/experiment_form.h"

#include "widgets/field_command.h"
#include "widgets/field_editor.h"
#include "widgets/field_text.h"
#include "widgets/form_row.h"
#include "widgets/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QEvent>
#include <QGridLayout>
#include <QGroupBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QToolButton>
#include <QUndoStack>
#include <QVBoxLayout>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace gradlab::widgets {

namespace {

using engine::ExperimentIssue;
using engine::FieldSpec;
using engine::FieldValue;

std::string_view groupOf(const FieldSpec& field) {
    const std::string_view path = field.path;
    const std::size_t dot = path.find('.');
    return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
}

QString groupTitle(std::string_view group) {
    if (group == "corpus")
        return ExperimentForm::tr("Corpus");
    if (group == "model")
        return ExperimentForm::tr("Model");
    if (group == "training")
        return ExperimentForm::tr("Training");
    if (group == "compression")
        return ExperimentForm::tr("Compression");
    if (group == "cluster")
        return ExperimentForm::tr("Cluster");
    return ExperimentForm::tr("General");
}

} // namespace

class ExperimentForm::Impl {
public:
    explicit Impl(ExperimentForm& owner) : owner_(owner) {
        auto* column = new QVBoxLayout(&owner);
        column->setContentsMargins(0, 0, 0, 0);
        addRunningNotice(*column);
        addFields(*column);
        addCommandLine(*column);
    }

    void setExperiment(const engine::Experiment& value) {
        experiment = value;
        stack.clear();
        for (const FormRow& row : rows_)
            showValue(row);
        refresh();
        Q_EMIT owner_.experimentChanged();
    }

    void setRunning(bool value) {
        running = value;
        // Edits from before the run cannot be undone in it.
        stack.clear();
        waiting_.clear();
        notice_->setVisible(value);
        refresh();
    }

    [[nodiscard]] FormRow* rowOf(const QString& path) {
        const std::string wanted = path.toStdString();
        const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const FormRow& row) {
            return row.field().path == wanted;
        });
        return found == rows_.end() ? nullptr : &*found;
    }

    void showField(const QString& path) {
        FormRow* row = rowOf(path);
        if (row == nullptr)
            return;
        if (row->field().advanced)
            for (const Group& group : groups_)
                if (group.name == groupOf(row->field()))
                    group.more->setChecked(true);
        scroll_->ensureWidgetVisible(row->editor());
        row->editor()->setFocus(Qt::OtherFocusReason);
    }

    void retheme() {
        theme_ = Theme::fromPalette(owner_.palette(), false);
        refresh();
    }

    engine::Experiment experiment = engine::defaultExperiment();
    std::vector<ExperimentIssue> issues;
    QUndoStack stack;
    bool running = false;

private:
    struct Group {
        std::string_view name;
        QGroupBox* box = nullptr;
        QGridLayout* grid = nullptr;
        QToolButton* more = nullptr; ///< shows the group's advanced fields
    };

    void addRunningNotice(QVBoxLayout& column);
    void addFields(QVBoxLayout& column);
    void addCommandLine(QVBoxLayout& column);
    Group& groupFor(const FieldSpec& field, QWidget* content, QVBoxLayout& column);
    void addRow(const FieldSpec& field, QWidget* content, QVBoxLayout& column);
    void edit(int number, const FieldValue& value);
    void apply(int number, const FieldValue& value);
    void showValue(const FormRow& row) {
        row.editor()->setValue(engine::getField(experiment, row.field().path));
    }
    void refresh();
    void findIssues();
    void refreshRow(FormRow& row);
    [[nodiscard]] const ExperimentIssue* issueOf(const FieldSpec& field) const;

    ExperimentForm& owner_;
    Theme theme_ = Theme::make(false, false);
    std::vector<FormRow> rows_;
    std::vector<Group> groups_;
    std::set<int> waiting_; ///< live edits that only make sense with another one, not yet made
    QScrollArea* scroll_ = nullptr;
    QWidget* notice_ = nullptr;
    QLineEdit* command_ = nullptr;
};

void ExperimentForm::Impl::addRunningNotice(QVBoxLayout& column) {
    notice_ = new QWidget(&owner_);
    auto* lines = new QVBoxLayout(notice_);
    lines->setContentsMargins(6, 6, 6, 0);
    auto* text = new QLabel(
        ExperimentForm::tr("Running. What can be edited changes at the next step; the rest "
                           "cannot change during a run."),
        notice_);
    text->setWordWrap(true);
    auto* again = new QPushButton(ExperimentForm::tr("Run again with…"), notice_);
    again->setObjectName(QStringLiteral("runAgain"));
    again->setToolTip(
        ExperimentForm::tr("Set up a new run from this experiment, with other values"));
    lines->addWidget(text);
    lines->addWidget(again, 0, Qt::AlignLeft);
    QObject::connect(again, &QPushButton::clicked, &owner_, &ExperimentForm::runAgainRequested);
    notice_->hide();
    column.addWidget(notice_);
}

void ExperimentForm::Impl::addFields(QVBoxLayout& column) {
    scroll_ = new QScrollArea(&owner_);
    scroll_->setWidgetResizable(true);
    scroll_->setFrameShape(QFrame::NoFrame);
    scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* content = new QWidget;
    auto* groups = new QVBoxLayout(content);
    rows_.reserve(engine::experimentSchema().size());
    for (const FieldSpec& field : engine::experimentSchema())
        addRow(field, content, *groups);
    groups->addStretch(1);
    scroll_->setWidget(content);
    column.addWidget(scroll_, 1);
}

ExperimentForm::Impl::Group& ExperimentForm::Impl::groupFor(const FieldSpec& field,
                                                            QWidget* content, QVBoxLayout& column) {
    const std::string_view name = groupOf(field);
    for (Group& group : groups_)
        if (group.name == name)
            return group;
    Group group{name, new QGroupBox(groupTitle(name), content), nullptr, nullptr};
    auto* inside = new QVBoxLayout(group.box);
    group.grid = new QGridLayout;
    group.grid->setColumnStretch(0, 2);
    group.grid->setColumnStretch(1, 3);
    group.grid->setHorizontalSpacing(8);
    group.grid->setVerticalSpacing(3);
    group.more = new QToolButton(group.box);
    group.more->setText(ExperimentForm::tr("More"));
    group.more->setAccessibleName(ExperimentForm::tr("More fields of %1").arg(groupTitle(name)));
    group.more->setToolTip(
        ExperimentForm::tr("Show or hide the fields of %1 that are seldom changed")
            .arg(groupTitle(name).toLower()));
    group.more->setCheckable(true);
    group.more->setAutoRaise(true);
    group.more->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    group.more->setArrowType(Qt::RightArrow);
    inside->addLayout(group.grid);
    inside->addWidget(group.more, 0, Qt::AlignLeft);
    QObject::connect(group.more, &QToolButton::toggled, &owner_,
                     [this, more = group.more](bool on) {
                         more->setArrowType(on ? Qt::DownArrow : Qt::RightArrow);
                         refresh();
                     });
    column.addWidget(group.box);
    groups_.push_back(group);
    return groups_.back();
}

void ExperimentForm::Impl::addRow(const FieldSpec& field, QWidget* content, QVBoxLayout& column) {
    const int number = static_cast<int>(rows_.size());
    Group& group = groupFor(field, content, column);
    rows_.emplace_back(field, *group.grid, group.box);
    showValue(rows_.back());
    const FieldEditor* editor = rows_.back().editor();
    QObject::connect(editor, &FieldEditor::edited, &owner_,
                     [this, number](const FieldValue& value) { edit(number, value); });
    QObject::connect(editor, &FieldEditor::textErrorChanged, &owner_, [this] {
        refresh();
        Q_EMIT owner_.experimentChanged();
    });
}

void ExperimentForm::Impl::addCommandLine(QVBoxLayout& column) {
    auto* row = new QHBoxLayout;
    row->setContentsMargins(6, 0, 6, 4);
    command_ = new QLineEdit(&owner_);
    command_->setReadOnly(true);
    command_->setAccessibleName(ExperimentForm::tr("Command line of this experiment"));
    command_->setToolTip(ExperimentForm::tr("The same experiment without the window"));
    auto* copy = new QToolButton(&owner_);
    copy->setText(ExperimentForm::tr("Copy"));
    copy->setToolTip(ExperimentForm::tr("Copy the command line"));
    copy->setAccessibleName(ExperimentForm::tr("Copy the command line"));
    QObject::connect(copy, &QToolButton::clicked, &owner_,
                     [this] { QApplication::clipboard()->setText(owner_.commandLine()); });
    row->addWidget(command_, 1);
    row->addWidget(copy);
    column.addLayout(row);
}

void ExperimentForm::Impl::edit(int number, const FieldValue& value) {
    const FieldSpec& field = rows_[static_cast<std::size_t>(number)].field();
    const FieldValue before = engine::getField(experiment, field.path);
    if (before == value)
        return;
    stack.push(new FieldCommand(number, fieldLabel(field), before, value,
                                [this, number](const FieldValue& to) { apply(number, to); }));
}

void ExperimentForm::Impl::apply(int number, const FieldValue& value) {
    const FormRow& row = rows_[static_cast<std::size_t>(number)];
    const FieldSpec& field = row.field();
    engine::setField(experiment, field.path, value);
    showValue(row);
    refresh();
    Q_EMIT owner_.experimentChanged();
    if (running && field.live)
        waiting_.insert(number);
    if (!owner_.isValid())
        return;
    for (const int ready : std::exchange(waiting_, {})) {
        const std::string& path = rows_[static_cast<std::size_t>(ready)].field().path;
        Q_EMIT owner_.liveChangeRequested(QString::fromStdString(path),
                                          engine::getField(experiment, path));
    }
}

void ExperimentForm::Impl::findIssues() {
    issues.clear();
    for (const FormRow& row : rows_)
        if (!row.editor()->textError().isEmpty())
            issues.push_back({ExperimentIssue::Severity::Error, row.field().path,
                              row.editor()->textError().toStdString()});
    for (ExperimentIssue& issue : engine::validate(experiment))
        issues.push_back(std::move(issue));
    std::stable_partition(issues.begin(), issues.end(), [](const ExperimentIssue& issue) {
        return issue.severity == ExperimentIssue::Severity::Error;
    });
}

const ExperimentIssue* ExperimentForm::Impl::issueOf(const FieldSpec& field) const {
    const auto found =
        std::find_if(issues.begin(), issues.end(),
                     [&](const ExperimentIssue& issue) { return issue.field == field.path; });
    return found == issues.end() ? nullptr : &*found;
}

void ExperimentForm::Impl::refreshRow(FormRow& row) {
    const FieldSpec& field = row.field();
    const ExperimentIssue* issue = issueOf(field);
    const auto group = std::find_if(groups_.begin(), groups_.end(), [&](const Group& candidate) {
        return candidate.name == groupOf(field);
    });
    const bool unfolded = !field.advanced || group->more->isChecked() || issue != nullptr;
    row.setShown(unfolded && (issue != nullptr || engine::isFieldUsed(field, experiment)));
    row.setEditable(
        !running || field.live,
        ExperimentForm::tr("Cannot change during a run: run again with another value."));
    row.setIssue(issue, theme_);
}

void ExperimentForm::Impl::refresh() {
    findIssues();
    for (FormRow& row : rows_)
        refreshRow(row);
    for (const Group& group : groups_)
        group.more->setVisible(std::any_of(rows_.begin(), rows_.end(), [&](const FormRow& row) {
            return row.field().advanced && groupOf(row.field()) == group.name &&
                   engine::isFieldUsed(row.field(), experiment);
        }));
    // Never a field cut at its right end; it does not become narrower again, that would flicker.
    const int wide = scroll_->widget()->minimumSizeHint().width() +
                     scroll_->verticalScrollBar()->sizeHint().width();
    scroll_->setMinimumWidth(std::max(scroll_->minimumWidth(), wide));
    command_->setText(owner_.isValid() ? owner_.commandLine() : owner_.firstError());
    command_->setCursorPosition(0);
}

ExperimentForm::ExperimentForm(QWidget* parent) : QWidget(parent) {
    setAccessibleName(tr("Experiment"));
    impl_ = std::make_unique<Impl>(*this);
    impl_->retheme();
}

ExperimentForm::~ExperimentForm() = default;

void ExperimentForm::setExperiment(const engine::Experiment& experiment) {
    impl_->setExperiment(experiment);
}

const engine::Experiment& ExperimentForm::experiment() const noexcept {
    return impl_->experiment;
}

const std::vector<ExperimentIssue>& ExperimentForm::issues() const noexcept {
    return impl_->issues;
}

bool ExperimentForm::isValid() const {
    return firstError().isEmpty();
}

QString ExperimentForm::firstError() const {
    const bool wrong = !impl_->issues.empty() &&
                       impl_->issues.front().severity == ExperimentIssue::Severity::Error;
    return wrong ? QString::fromStdString(impl_->issues.front().message) : QString();
}

QString ExperimentForm::commandLine() const {
    const QString options = QString::fromStdString(engine::commandLineOptions(impl_->experiment));
    return QStringLiteral("gradlab-cli train %1").arg(options).trimmed();
}

QUndoStack* ExperimentForm::undoStack() const noexcept {
    return &impl_->stack;
}

void ExperimentForm::setRunning(bool running) {
    impl_->setRunning(running);
}

bool ExperimentForm::isRunning() const noexcept {
    return impl_->running;
}

FieldEditor* ExperimentForm::editor(const QString& path) const {
    const FormRow* row = impl_->rowOf(path);
    return row == nullptr ? nullptr : row->editor();
}

void ExperimentForm::showField(const QString& path) {
    impl_->showField(path);
}

void ExperimentForm::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange && impl_)
        impl_->retheme();
    QWidget::changeEvent(event);
}

} // namespace gradlab::widgets
