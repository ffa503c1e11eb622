// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The window's life: made from options, closed without holding up the GUI.
#include "app/main_window.h"

#include "app/chart_board.h"
#include "app/experiment_panel.h"
#include "app/gradient_panel.h"
#include "app/live_tuning.h"
#include "app/memory_question.h"
#include "app/prediction_tool.h"
#include "app/run_collection.h"
#include "app/run_panel.h"
#include "app/tuning_bar.h"
#include "app/worker_panel.h"
#include "widgets/message_banner.h"
#include "widgets/run_table_model.h"
#include "widgets/status_progress.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QLabel>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QTimer>

namespace gradlab::app {
namespace {

constexpr int kPatienceMs = 1500;

} // namespace

MainWindow::MainWindow(WindowServices services, const WindowOptions& options, QWidget* parent)
    : QMainWindow(parent), session_(new TrainingSession(std::move(services.transports),
                                                        std::move(services.loader), this)),
      runs_(new RunCollection(this)), board_(new ChartBoard(this)),
      panel_(new ExperimentPanel(this)),
      document_(new ExperimentDocument(!options.isScripted(), this)), tuning_(new TuningBar(this)),
      live_(new LiveTuning(*runs_, this)), question_(new MemoryQuestion(this)),
      prediction_(new PredictionTool(board_->perplexityChart(), this)),
      workers_(new WorkerPanel(this)), gradient_(new GradientPanel(this)),
      banner_(new widgets::MessageBanner(this)), queue_(new RunQueue(this)),
      table_(new RunPanel(runs_, this)), progress_(new widgets::StatusProgress(this)),
      axisLabel_(new QLabel(this)), script_(options.script), workerScript_(options.actions),
      runFolder_(options.out) {
    setObjectName(QStringLiteral("mainWindow"));
    setAcceptDrops(true);
    setAskBeforeClosing(!options.isScripted());
    keepSettings_ = !options.isScripted();
    fixedSize_ = options.width > 0;
    buildLayout();
    buildQueueActions();
    buildQueue();
    buildRunActions();
    buildViewActions();
    buildFileActions();
    buildToolBar();
    buildMenus();
    connectSession();
    connectParts();
    connectQueue();
    resize(1280, 800);
    if (!keepSettings_ || !restoreSettings())
        sizeDocks();
    if (fixedSize_)
        resize(options.width, options.height);
    if (!options.experiments.empty())
        panel_->setExperiments(options.experiments);
    connectDocument(QString::fromStdString(options.experimentFile));
    board_->setXAxis(xAxisFromName(options.xAxis));
    applyTheme();
    updateActions();
    for (const std::filesystem::path& folder : options.runFolders)
        openPath(QString::fromStdString(folder.string()));
    if (!options.runFolders.empty())
        panelDock_->hide();
    if (!options.gradient.empty())
        showGradient(QString::fromStdString(options.gradient));
    if (const auto copy = document_->takeRecovered())
        offerRecovered(*copy);
    qApp->installEventFilter(this);
}

MainWindow::~MainWindow() {
    // The session first: it joins the run's threads and says nothing more to the other parts.
    disconnect(session_, nullptr, this, nullptr);
    disconnect(live_, nullptr, nullptr, nullptr);
    delete session_;
}

QPixmap MainWindow::picture() {
    board_->refreshAll();
    table_->model()->refresh();
    return grab();
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (!session_->isActive()) {
        if (keepSettings_)
            saveSettings();
        event->accept();
        return;
    }
    event->ignore();
    if (closing_)
        return;
    if (askBeforeClosing_) {
        askToClose();
        return;
    }
    closing_ = true;
    progress_->setIdle(tr("Stopping…"));
    session_->stop();
    // A long evaluation or a slow disk may hold the run's thread up; the person has left.
    QTimer::singleShot(kPatienceMs, this, &MainWindow::hide);
}

/// Asks without a nested event loop: charts go on, the answer closes.
void MainWindow::askToClose() {
    auto* question = new QMessageBox(QMessageBox::Question, tr("Close"),
                                     tr("A run is on. Stop it and close the window?"),
                                     QMessageBox::NoButton, this);
    question->setAttribute(Qt::WA_DeleteOnClose);
    QAbstractButton* stop = question->addButton(tr("Stop and close"), QMessageBox::AcceptRole);
    question->addButton(QMessageBox::Cancel);
    connect(question, &QMessageBox::buttonClicked, this, [this, stop](QAbstractButton* button) {
        if (button != stop)
            return;
        askBeforeClosing_ = false;
        close();
    });
    question->open();
}

void MainWindow::changeEvent(QEvent* event) {
    QMainWindow::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && actions_.start != nullptr)
        applyTheme();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    const QList<QUrl> urls = event->mimeData()->urls();
    if (!urls.isEmpty() && urls.front().isLocalFile())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    for (const QUrl& url : event->mimeData()->urls())
        if (url.isLocalFile())
            openPath(url.toLocalFile());
    event->acceptProposedAction();
}

/// Space is pause only where no widget wants it: a focused button or box keeps it.
bool MainWindow::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const auto* widget = qobject_cast<QWidget*>(watched);
        const bool wanted = widget != nullptr &&
                            (widget->inherits("QAbstractButton") || widget->inherits("QComboBox") ||
                             widget->inherits("QAbstractItemView"));
        if (wanted && key->key() == Qt::Key_Space && key->modifiers() == Qt::NoModifier) {
            event->accept();
            return true;
        }
    }
    return QMainWindow::eventFilter(watched, event);
}

widgets::XAxis xAxisFromName(const std::string& name) noexcept {
    if (name == "bytes")
        return widgets::XAxis::Bytes;
    if (name == "simulated")
        return widgets::XAxis::SimulatedTime;
    if (name == "wall")
        return widgets::XAxis::WallTime;
    if (name == "epoch")
        return widgets::XAxis::Epoch;
    if (name == "tokens")
        return widgets::XAxis::Tokens;
    return widgets::XAxis::Step;
}

} // namespace gradlab::app
