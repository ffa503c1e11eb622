// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Opening and saving: experiments, run folders, pictures, text for the clipboard.
#include "app/action_tips.h"
#include "app/chart_board.h"
#include "app/cli/program_error.h"
#include "app/experiment_panel.h"
#include "app/fork_bar.h"
#include "app/gradient_panel.h"
#include "app/main_window.h"
#include "app/recorded_run.h"
#include "app/run_collection.h"
#include "engine/core/version.h"
#include "engine/metrics/run_folder.h"
#include "engine/training/experiment_schema.h"
#include "widgets/experiment_form.h"
#include "widgets/message_banner.h"
#include "widgets/status_progress.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QDialog>
#include <QDockWidget>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QMessageBox>
#include <QPixmap>
#include <QSaveFile>
#include <QTextBrowser>
#include <QUndoStack>
#include <QVBoxLayout>

namespace gradlab::app {

using Severity = widgets::MessageBanner::Severity;

namespace {

/// As an experiment file has it.
QString textOf(const std::vector<engine::Experiment>& race) {
    return QString::fromStdString(race.size() == 1 ? engine::toJson(race.front())
                                                   : engine::raceToJson(race));
}

} // namespace

void MainWindow::buildFileActions() {
    actions_.open = addCommand(tr("&Open…"), QKeySequence::keyBindings(QKeySequence::Open),
                               tr("Open an experiment or race file"));
    actions_.recent = new QMenu(tr("Open &Recent"), this);
    actions_.recent->setToolTipsVisible(true);
    connect(actions_.recent, &QMenu::aboutToShow, this, &MainWindow::fillRecentMenu);
    actions_.reopen = addCommand(tr("Reopen &Last Session"), {Qt::CTRL | Qt::SHIFT | Qt::Key_O},
                                 tr("The run folders, the experiments and the layout that the "
                                    "last window had when it closed"));
    connect(actions_.reopen, &QAction::triggered, this, &MainWindow::reopenSession);
    actions_.save =
        addCommand(tr("&Save Experiment"), QKeySequence::keyBindings(QKeySequence::Save),
                   tr("Save the experiments of the form in their file"));
    actions_.saveAs = addCommand(tr("Save Experiment &As…"), {Qt::CTRL | Qt::SHIFT | Qt::Key_S},
                                 tr("Save the experiments of the form as another file"));
    actions_.savePicture = addCommand(tr("Save &Picture…"), {Qt::CTRL | Qt::Key_P},
                                      tr("Save the window as a PNG picture"));
    actions_.recordIn = addCommand(tr("&Keep Next Run in Folder…"), {},
                                   tr("Write log, checkpoints and summary of the next start"));
    actions_.copyCommand = addCommand(tr("Copy &Command Line"), {Qt::CTRL | Qt::SHIFT | Qt::Key_C},
                                      tr("The gradlab-cli command of the selected experiment"));
    actions_.quit = addCommand(tr("&Quit"), {Qt::CTRL | Qt::Key_Q}, tr("Leave the program"));
    buildHistory();
    actions_.lesson = addCommand(tr("The &First Look"), {Qt::Key_F1},
                                 tr("What the first race shows, and what to try"));
    actions_.about = addCommand(tr("&About Gradient Lab"), {}, tr("Version and licence"));
    connect(actions_.open, &QAction::triggered, this, &MainWindow::openDialog);
    connect(actions_.save, &QAction::triggered, this, &MainWindow::save);
    connect(actions_.saveAs, &QAction::triggered, this, &MainWindow::saveAs);
    connect(actions_.savePicture, &QAction::triggered, this, &MainWindow::savePicture);
    connect(actions_.recordIn, &QAction::triggered, this, &MainWindow::chooseRunFolder);
    connect(actions_.copyCommand, &QAction::triggered, this, &MainWindow::copyCommandLine);
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
        openExperiments(path);
    } catch (const std::exception&) {
        const ProgramError error = describeProgramError(std::current_exception());
        banner_->showMessage(Severity::Error, QString::fromStdString(error.message));
    }
}

/// What was changed and not saved is asked about first.
void MainWindow::openExperiments(const QString& path) {
    const auto experiments = engine::readExperiments(path.toStdString());
    if (session_->isActive()) {
        offerToQueue(experiments, path);
        return;
    }
    if (!askBeforeClosing_ || !document_->isModified()) {
        showExperiments(experiments, path);
        return;
    }
    auto* question = new QMessageBox(
        QMessageBox::Question, tr("Open"),
        tr("%1 has changes that are not saved. Save them first?").arg(document_->name()),
        QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
    question->setAttribute(Qt::WA_DeleteOnClose);
    connect(question, &QMessageBox::finished, this, [this, experiments, path](int answer) {
        if (answer == QMessageBox::Save && document_->path().isEmpty())
            saveAs(); // and then open once more
        else if (answer == QMessageBox::Discard ||
                 (answer == QMessageBox::Save && saveTo(document_->path())))
            showExperiments(experiments, path);
    });
    question->open();
}

void MainWindow::showExperiments(const std::vector<engine::Experiment>& experiments,
                                 const QString& path) {
    panel_->forkBar()->clear();
    panel_->setExperiments(experiments);
    document_->setUnchanged(path);
    panelDock_->show();
}

void MainWindow::fillRecentMenu() {
    actions_.recent->clear();
    int number = 0;
    for (const QString& path : document_->recent()) {
        const QFileInfo file(path);
        QAction* action = actions_.recent->addAction(
            QStringLiteral("&%1  %2").arg(++number % 10).arg(file.fileName()));
        action->setToolTip(path);
        action->setEnabled(file.exists());
        connect(action, &QAction::triggered, this, [this, path] { openPath(path); });
    }
    actions_.recent->addSeparator();
    QAction* clear = actions_.recent->addAction(tr("&Clear This List"));
    setTips(*clear, tr("Forget these files; the files stay"));
    clear->setEnabled(number > 0);
    connect(clear, &QAction::triggered, document_, &ExperimentDocument::clearRecent);
}

/// From now on the document follows the form, and the title the document.
void MainWindow::connectDocument(const QString& path) {
    const auto follow = [this] { document_->setContent(textOf(panel_->experiments())); };
    const auto show = [this] {
        setWindowTitle(tr("%1[*] – Gradient Lab").arg(document_->name()));
        setWindowModified(document_->isModified());
    };
    connect(panel_, &ExperimentPanel::experimentsChanged, this, follow);
    connect(document_, &ExperimentDocument::changed, this, show);
    follow();
    document_->setUnchanged(path);
}

void MainWindow::offerRecovered(const ExperimentDocument::Recovered& copy) {
    const QString name = copy.path.isEmpty() ? tr("an experiment") : copy.path;
    const auto restore = [this, copy] {
        if (session_->isActive()) {
            banner_->showMessage(Severity::Warning, tr("A run is on; stop it before restoring"));
            offerRecovered(copy);
            return;
        }
        try {
            panel_->setExperiments(
                engine::parseExperiments(copy.text.toStdString(), "the copy of unsaved changes"));
            panelDock_->show();
        } catch (const std::exception& error) {
            banner_->showMessage(Severity::Error, QString::fromUtf8(error.what()));
        }
    };
    banner_->showOffer(tr("Changes to %1 were not saved before the last window closed.").arg(name),
                       tr("Restore"), restore);
}

void MainWindow::openRunFolder(const std::filesystem::path& folder) {
    for (const RecordedRun& run : readRunFolder(folder)) {
        const int id = nextOpenedId_--;
        runs_->add(id, run.experiment);
        runs_->setLog(id, run.log);
        runs_->append(id, run.records);
        runs_->setState(id, tr("opened"));
        gradient_->setRecorded(
            id, engine::InspectionFile(run.folder / engine::RunFolder::kInspections));
    }
    document_->addRecent(QString::fromStdString(folder.string()));
}

void MainWindow::openDialog() {
    auto* dialog =
        new QFileDialog(this, tr("Open"), QString(), tr("Experiments (*.json);;All files (*)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, this, &MainWindow::openPath);
    dialog->open();
}

void MainWindow::save() {
    if (document_->path().isEmpty())
        saveAs();
    else
        saveTo(document_->path());
}

/// Without a nested event loop: charts go on.
void MainWindow::saveAs() {
    auto* dialog =
        new QFileDialog(this, tr("Save experiment"), document_->path(), tr("Experiments (*.json)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("json"));
    if (document_->path().isEmpty())
        dialog->selectFile(QStringLiteral("experiment.json"));
    connect(dialog, &QFileDialog::fileSelected, this, &MainWindow::saveTo);
    dialog->open();
}

QString MainWindow::experimentsText() const {
    return textOf(panel_->experiments());
}

bool MainWindow::saveTo(const QString& path) {
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) ||
        file.write(textOf(panel_->experiments()).toUtf8()) < 0 || !file.commit()) {
        banner_->showMessage(Severity::Error,
                             tr("%1 was not saved: %2").arg(path, file.errorString()));
        return false;
    }
    document_->setUnchanged(path);
    return true;
}

void MainWindow::savePicture() {
    auto* dialog = new QFileDialog(this, tr("Save picture"), QString(), tr("Pictures (*.png)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("png"));
    dialog->selectFile(QStringLiteral("gradlab.png"));
    // As the window is when the command is given, without the dialog.
    connect(dialog, &QFileDialog::fileSelected, this, [this, shown = picture()](const QString& to) {
        QSaveFile file(to);
        if (!file.open(QIODevice::WriteOnly) || !shown.save(&file, "PNG") || !file.commit())
            banner_->showMessage(Severity::Error,
                                 tr("%1 was not saved: %2").arg(to, file.errorString()));
    });
    dialog->open();
}

void MainWindow::chooseRunFolder() {
    auto* dialog = new QFileDialog(this, tr("Empty folder for the next run"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::Directory);
    dialog->setOption(QFileDialog::ShowDirsOnly);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& path) {
        runFolder_ = path.toStdString();
        progress_->setIdle(tr("The next run is kept in %1").arg(path));
    });
    dialog->open();
}

void MainWindow::copyCommandLine() {
    QApplication::clipboard()->setText(panel_->form()->commandLine());
}

void MainWindow::showLesson() {
    QFile file(QStringLiteral(":/lessons/first-look.md"));
    if (!file.open(QIODevice::ReadOnly))
        return;
    auto* dialog = new QDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("The first look"));
    auto* text = new QTextBrowser(dialog);
    text->setAccessibleName(tr("The first look"));
    text->setMarkdown(QString::fromUtf8(file.readAll()));
    auto* layout = new QVBoxLayout(dialog);
    layout->addWidget(text);
    dialog->resize(640, 640);
    dialog->show();
}

void MainWindow::showAbout() {
    const std::string_view version = engine::version();
    auto* box = new QMessageBox(
        QMessageBox::NoIcon, tr("About Gradient Lab"),
        tr("Gradient Lab %1\n\nSee what gradient compression does to distributed training.\n\n"
           "GPL-3.0-or-later")
            .arg(QString::fromUtf8(version.data(), static_cast<qsizetype>(version.size()))),
        QMessageBox::Close, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->open();
}

} // namespace gradlab::app
