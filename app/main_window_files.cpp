// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Opening and saving: experiments, run folders, pictures, text for the clipboard.
#include "app/chart_board.h"
#include "app/cli/program_error.h"
#include "app/experiment_panel.h"
#include "app/gradient_panel.h"
#include "app/main_window.h"
#include "app/recorded_run.h"
#include "app/run_collection.h"
#include "engine/core/version.h"
#include "engine/metrics/run_folder.h"
#include "engine/training/experiment_schema.h"
#include "widgets/experiment_form.h"
#include "widgets/message_banner.h"
#include "widgets/run_table_model.h"
#include "widgets/status_progress.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QDialog>
#include <QDockWidget>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <QPixmap>
#include <QSaveFile>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QTextBrowser>
#include <QUndoStack>
#include <QVBoxLayout>

namespace gradlab::app {

using Severity = widgets::MessageBanner::Severity;

void MainWindow::buildFileActions() {
    actions_.open = addCommand(tr("&Open…"), QKeySequence::keyBindings(QKeySequence::Open),
                               tr("Open an experiment or race file"));
    actions_.save =
        addCommand(tr("&Save Experiment…"), QKeySequence::keyBindings(QKeySequence::Save),
                   tr("Save the experiments of the form as a file"));
    actions_.savePicture = addCommand(tr("Save &Picture…"), {Qt::CTRL | Qt::Key_P},
                                      tr("Save the window as a PNG picture"));
    actions_.recordIn = addCommand(tr("&Keep Next Run in Folder…"), {},
                                   tr("Write log, checkpoints and summary of the next start"));
    actions_.copyCommand = addCommand(tr("Copy &Command Line"), {Qt::CTRL | Qt::SHIFT | Qt::Key_C},
                                      tr("The gradlab-cli command of the selected experiment"));
    actions_.copyTable =
        addCommand(tr("Copy &Table"), {}, tr("The runs as tab-separated text, for a spreadsheet"));
    actions_.quit = addCommand(tr("&Quit"), {Qt::CTRL | Qt::Key_Q}, tr("Leave the program"));
    actions_.undo = panel_->form()->undoStack()->createUndoAction(this, tr("&Undo"));
    actions_.undo->setShortcuts(QKeySequence::Undo);
    actions_.redo = panel_->form()->undoStack()->createRedoAction(this, tr("&Redo"));
    actions_.redo->setShortcuts(QKeySequence::Redo);
    actions_.lesson = addCommand(tr("The &First Look"), {Qt::Key_F1},
                                 tr("What the first race shows, and what to try"));
    actions_.about = addCommand(tr("&About Gradient Lab"), {}, QString());
    connect(actions_.open, &QAction::triggered, this, &MainWindow::openDialog);
    connect(actions_.save, &QAction::triggered, this, &MainWindow::saveExperiment);
    connect(actions_.savePicture, &QAction::triggered, this, &MainWindow::savePicture);
    connect(actions_.recordIn, &QAction::triggered, this, &MainWindow::chooseRunFolder);
    connect(actions_.copyCommand, &QAction::triggered, this, &MainWindow::copyCommandLine);
    connect(actions_.copyTable, &QAction::triggered, this, &MainWindow::copyTable);
    connect(actions_.quit, &QAction::triggered, this, &MainWindow::close);
    connect(actions_.lesson, &QAction::triggered, this, &MainWindow::showLesson);
    connect(actions_.about, &QAction::triggered, this, &MainWindow::showAbout);
}

void MainWindow::openPath(const QString& path) {
    try {
        if (QFileInfo(path).isDir()) {
            openRunFolder(path.toStdString());
            return;
        }
        const auto experiments = engine::readExperiments(path.toStdString());
        if (session_->isActive()) {
            banner_->showMessage(Severity::Warning,
                                 tr("A run is on; stop it before opening %1").arg(path));
            return;
        }
        panel_->setExperiments(experiments);
        panelDock_->show();
    } catch (const std::exception&) {
        const ProgramError error = describeProgramError(std::current_exception());
        banner_->showMessage(Severity::Error, QString::fromStdString(error.message));
    }
}

void MainWindow::openRunFolder(const std::filesystem::path& folder) {
    for (const RecordedRun& run : readRunFolder(folder)) {
        const int id = nextOpenedId_--;
        runs_->add(id, run.experiment);
        runs_->append(id, run.records);
        runs_->setState(id, tr("opened"));
        gradient_->setRecorded(
            id, engine::InspectionFile(run.folder / engine::RunFolder::kInspections));
    }
}

void MainWindow::openDialog() {
    auto* dialog =
        new QFileDialog(this, tr("Open"), QString(), tr("Experiments (*.json);;All files (*)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, this, &MainWindow::openPath);
    dialog->open();
}

void MainWindow::saveExperiment() {
    const QString path = QFileDialog::getSaveFileName(
        this, tr("Save experiment"), QStringLiteral("experiment.json"), tr("Experiments (*.json)"));
    if (path.isEmpty())
        return;
    const auto& race = panel_->experiments();
    const std::string text =
        race.size() == 1 ? engine::toJson(race.front()) : engine::raceToJson(race);
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(QByteArray::fromStdString(text)) < 0 ||
        !file.commit())
        banner_->showMessage(Severity::Error,
                             tr("%1 was not saved: %2").arg(path, file.errorString()));
}

void MainWindow::savePicture() {
    const QPixmap shown = picture();
    const QString path = QFileDialog::getSaveFileName(
        this, tr("Save picture"), QStringLiteral("gradlab.png"), tr("Pictures (*.png)"));
    if (!path.isEmpty() && !shown.save(path, "PNG"))
        banner_->showMessage(Severity::Error, tr("%1 was not saved").arg(path));
}

void MainWindow::chooseRunFolder() {
    const QString path =
        QFileDialog::getExistingDirectory(this, tr("Empty folder for the next run"));
    if (path.isEmpty())
        return;
    runFolder_ = path.toStdString();
    progress_->setIdle(tr("The next run is kept in %1").arg(path));
}

void MainWindow::copyCommandLine() {
    QApplication::clipboard()->setText(panel_->form()->commandLine());
}

void MainWindow::copyTable() {
    QModelIndexList rows;
    for (const QModelIndex& row : table_->selectionModel()->selectedRows())
        rows.push_back(tableOrder_->mapToSource(row));
    QApplication::clipboard()->setText(tableModel_->toTsv(rows));
}

void MainWindow::showLesson() {
    QFile file(QStringLiteral(":/lessons/first-look.md"));
    if (!file.open(QIODevice::ReadOnly))
        return;
    auto* dialog = new QDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("The first look"));
    auto* text = new QTextBrowser(dialog);
    text->setMarkdown(QString::fromUtf8(file.readAll()));
    auto* layout = new QVBoxLayout(dialog);
    layout->addWidget(text);
    dialog->resize(640, 640);
    dialog->show();
}

void MainWindow::showAbout() {
    const std::string_view version = engine::version();
    QMessageBox::about(
        this, tr("About Gradient Lab"),
        tr("Gradient Lab %1\n\nSee what gradient compression does to distributed training.\n\n"
           "GPL-3.0-or-later")
            .arg(QString::fromUtf8(version.data(), static_cast<qsizetype>(version.size()))));
}

} // namespace gradlab::app
