// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The window: strip and charts in the middle, the experiments on the left, the session's runs
// below, tuning knobs under the charts. Leaves out: training (TrainingSession), data of runs
// (RunCollection), drawing (widgets). Its parts: _layout builds, _actions and _charts have
// commands, _runs follows the session, _queue has forks and what waits, _tuning changes what runs,
// _files opens and saves, _views has layouts and sessions.
#pragma once

#include "app/experiment_document.h"
#include "app/run_queue.h"
#include "app/training_session.h"
#include "app/window_layout.h"
#include "app/window_options.h"
#include "widgets/series_store.h"

#include <QElapsedTimer>
#include <QMainWindow>

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

class QAction;
class QActionGroup;
class QDockWidget;
class QFileDialog;
class QLabel;
class QMenu;
class QSpinBox;
class QTemporaryDir;
class QToolBar;
class QUndoGroup;

namespace gradlab::widgets {
class MessageBanner;
class StatusProgress;
} // namespace gradlab::widgets

namespace gradlab::app {

class ChartBoard;
class ChartExporter;
class ExperimentPanel;
class GradientPanel;
class LiveTuning;
class MemoryQuestion;
class PredictionTool;
class QueuePanel;
class RunCollection;
class RunPanel;
class RunQueue;
class TuningBar;
class WorkerPanel;

/// What the window needs from the rest of the program.
struct WindowServices {
    engine::TransportFactories transports;
    engine::CorpusLoader loader;
};

class MainWindow : public QMainWindow {
    Q_OBJECT

public:
    MainWindow(WindowServices services, const WindowOptions& options, QWidget* parent = nullptr);
    ~MainWindow() override;

    [[nodiscard]] TrainingSession* session() const noexcept { return session_; }
    [[nodiscard]] RunCollection* runs() const noexcept { return runs_; }
    [[nodiscard]] ChartBoard* board() const noexcept { return board_; }
    [[nodiscard]] ExperimentPanel* panel() const noexcept { return panel_; }
    [[nodiscard]] ExperimentDocument* document() const noexcept { return document_; }
    [[nodiscard]] TuningBar* tuning() const noexcept { return tuning_; }
    [[nodiscard]] LiveTuning* live() const noexcept { return live_; }
    [[nodiscard]] PredictionTool* prediction() const noexcept { return prediction_; }
    [[nodiscard]] MemoryQuestion* question() const noexcept { return question_; }
    [[nodiscard]] WorkerPanel* workers() const noexcept { return workers_; }
    [[nodiscard]] RunPanel* table() const noexcept { return table_; }
    [[nodiscard]] GradientPanel* gradient() const noexcept { return gradient_; }
    [[nodiscard]] ChartExporter* exporter() const noexcept { return exporter_; }
    [[nodiscard]] widgets::MessageBanner* banner() const noexcept { return banner_; }
    [[nodiscard]] RunQueue* queue() const noexcept { return queue_; }
    [[nodiscard]] QueuePanel* queuePanel() const noexcept { return queuePanel_; }
    [[nodiscard]] bool isPresenting() const noexcept { return presenting_; }
    /// Whether closing during a run asks first. Off where nobody could answer.
    void setAskBeforeClosing(bool ask) noexcept { askBeforeClosing_ = ask; }
    /// The window as it is shown, with everything drawn that has arrived.
    [[nodiscard]] QPixmap picture();

    // Commands.
    void startOrResume();
    void togglePause();
    void stepOnce();
    void stopRun();
    void cycleXAxis();
    void setPresenting(bool on);
    void setTuningShown(bool shown);
    /// One page about the runs that are shown; the exporter says when it is there.
    void writeReport(const QString& path);
    /// The Gradient panel with one of its views: tensors, overlap, levels, map.
    void showGradient(const QString& view);
    /// Teach, tune, network, or one that was saved; false if there is none of that name.
    bool applyNamedLayout(const QString& name);
    [[nodiscard]] QStringList layoutNames() const;
    /// What an earlier window showed when it closed.
    void reopenSession();
    /// The form with the experiment of the run's latest checkpoint; the next start goes on there.
    void forkRun(int runId);
    /// The form's experiments as they are wait for the run that is on.
    void addToQueue();
    /// The form's experiments once from each seed, through the queue; started if nothing is on.
    /// @throws ExperimentError for one that training.seed does not take, or given twice
    void repeatOverSeeds(const QString& seeds);
    /// The first run that waits, or goes on with a queue that was held.
    void startQueue();
    /// An experiment file, a race file, or a run folder; what is wrong becomes a banner.
    void openPath(const QString& path);

protected:
    void closeEvent(QCloseEvent* event) override;
    void changeEvent(QEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    // main_window_layout.cpp
    void buildLayout();
    void buildDocks();
    void buildStatusBar();
    void applyTheme();
    void resetLayout();
    void sizeDocks();
    bool restoreSettings();
    void saveSettings();
    [[nodiscard]] QByteArray saveDocks() const;
    bool restoreDocks(const QByteArray& state);
    // main_window_views.cpp
    void buildLayoutActions();
    void fillLayoutMenu();
    void applyTeach();
    void applyTune();
    void applyNetwork();
    [[nodiscard]] WindowLayout currentLayout() const;
    void applyLayout(const WindowLayout& layout);
    void saveLayoutAs();
    void saveLayout(const WindowLayout& layout);
    void saveSession() const;
    // main_window_actions.cpp
    QAction* addCommand(const QString& text, const QList<QKeySequence>& keys,
                        const QString& statusTip);
    void buildRunActions();
    void buildViewActions();
    void buildFileActions();
    void buildXAxisActions();
    void buildThemeActions();
    void buildMenus();
    void buildDockActions();
    void buildToolBar();
    void updateActions();
    void chooseTheme(const QString& name);
    // main_window_charts.cpp
    void buildChartActions();
    void buildZoomActions();
    void buildSmoothing();
    void buildExportActions();
    void followChart();
    void showChartMenu(const QPoint& globalPosition);
    [[nodiscard]] QFileDialog* nameDialog(const QString& title, const QStringList& filters);
    void saveChart();
    void saveChartData();
    void saveReport();
    // main_window_runs.cpp
    void connectSession();
    void connectParts();
    [[nodiscard]] bool prepareRun();
    [[nodiscard]] bool prepare(const RunPlan& plan);
    void followState(engine::RunState state);
    void followRecords(int runId, const std::vector<engine::Record>& records);
    void followProgress(const engine::RunProgress& progress);
    void showRunStates(engine::RunState state);
    void refreshRunList();
    void refreshGradient();
    void showNewestGradient();
    void refreshWorkers();
    void playWorkerScript(std::uint64_t step);
    void runAgain(int runId);
    void removeSelectedRuns();
    void askToClose();
    void leave();
    // main_window_queue.cpp
    void buildQueue();
    void buildQueueActions();
    void connectQueue();
    [[nodiscard]] RunPlan takePlan();
    void followQueue();
    void goOnWithQueue();
    void endQueue();
    void forkSelected();
    void askForSeeds();
    void offerToQueue(const std::vector<engine::Experiment>& experiments, const QString& path);
    // main_window_tuning.cpp
    void connectTuning();
    void buildHistory();
    void chooseHistory();
    void buildPrediction();
    void setPredicting(bool on);
    void checkPrediction();
    void refreshTuning();
    // main_window_files.cpp
    void openDialog();
    void openExperiments(const QString& path);
    void showExperiments(const std::vector<engine::Experiment>& experiments, const QString& path);
    void fillRecentMenu();
    void connectDocument(const QString& path);
    void offerRecovered(const ExperimentDocument::Recovered& copy);
    void save();
    void saveAs();
    bool saveTo(const QString& path);
    [[nodiscard]] QString experimentsText() const;
    void savePicture();
    void chooseRunFolder();
    void copyCommandLine();
    void openRunFolder(const std::filesystem::path& folder);
    void showLesson();
    void showAbout();

    struct Actions {
        QAction* start = nullptr;
        QAction* pause = nullptr;
        QAction* step = nullptr;
        QAction* stop = nullptr;
        QAction* runAgain = nullptr;
        QAction* removeRuns = nullptr;
        QAction* fork = nullptr;
        QAction* enqueue = nullptr;
        QAction* repeat = nullptr;
        QAction* cycleX = nullptr;
        QAction* zoomIn = nullptr;
        QAction* zoomOut = nullptr;
        QAction* showAll = nullptr;
        QAction* linkX = nullptr;
        QAction* logY = nullptr;
        QAction* pareto = nullptr;
        QAction* seedsTogether = nullptr;
        QAction* smoother = nullptr;
        QAction* rougher = nullptr;
        QAction* saveChart = nullptr;
        QAction* saveData = nullptr;
        QAction* saveReport = nullptr;
        QAction* copyChart = nullptr;
        QAction* present = nullptr;
        QAction* tuning = nullptr;
        QAction* predict = nullptr;
        QAction* resetLayout = nullptr;
        QList<QAction*> layouts; ///< the program's
        QMenu* layoutMenu = nullptr;
        QMenu* deleteLayout = nullptr;
        QAction* saveLayout = nullptr;
        QAction* open = nullptr;
        QMenu* recent = nullptr;
        QAction* reopen = nullptr;
        QAction* save = nullptr;
        QAction* saveAs = nullptr;
        QAction* savePicture = nullptr;
        QAction* recordIn = nullptr;
        QAction* copyCommand = nullptr;
        QAction* undo = nullptr;
        QAction* redo = nullptr;
        QAction* quit = nullptr;
        QAction* lesson = nullptr;
        QAction* about = nullptr;
        QActionGroup* xAxes = nullptr;
        QActionGroup* themes = nullptr;
    };

    TrainingSession* session_;
    RunCollection* runs_;
    ChartBoard* board_;
    ExperimentPanel* panel_;
    ExperimentDocument* document_;
    TuningBar* tuning_;
    LiveTuning* live_;
    MemoryQuestion* question_;
    PredictionTool* prediction_;
    QUndoGroup* history_ = nullptr; ///< of the form, and of the run that is on
    WorkerPanel* workers_;
    GradientPanel* gradient_;
    widgets::MessageBanner* banner_;
    RunQueue* queue_;
    QueuePanel* queuePanel_ = nullptr;
    RunPanel* table_;
    QDockWidget* panelDock_ = nullptr;
    QDockWidget* tableDock_ = nullptr;
    QDockWidget* workersDock_ = nullptr;
    QDockWidget* gradientDock_ = nullptr;
    QDockWidget* queueDock_ = nullptr;
    QToolBar* toolBar_ = nullptr;
    widgets::StatusProgress* progress_;
    QLabel* axisLabel_;
    QSpinBox* smoothing_ = nullptr;
    QList<QAction*> ownLayouts_; ///< entries of the layout menu
    ChartExporter* exporter_ = nullptr;
    std::unique_ptr<QTemporaryDir> scratch_; ///< logs of runs that are not kept
    Actions actions_;

    std::vector<std::size_t> clusterMembers_;   ///< of the race, in the worker panel's order
    std::vector<int> raceIds_;                  ///< of the run that is on, or was last
    std::vector<engine::Experiment> raceStart_; ///< its experiments as they were started
    std::optional<std::vector<engine::Experiment>> draft_; ///< the form's, while the queue runs
    std::vector<ScriptedChange> script_;                   ///< for the first start
    std::vector<ScriptedAction> workerScript_;             ///< not done yet
    std::filesystem::path runFolder_; ///< for the next start; empty: nothing is kept
    int nextOpenedId_ = -1;           ///< opened runs count down, session runs up
    bool askBeforeClosing_ = true;
    bool keepSettings_ = true;
    bool fixedSize_ = false; ///< the size was given: presenting does not go full screen
    bool closing_ = false;
    bool presenting_ = false;
    QByteArray stateBeforePresenting_;
    bool tuningBeforePresenting_ = false;
    QElapsedTimer sinceProgress_;
    std::uint64_t stepAtProgress_ = 0;
    double stepsPerSecond_ = 0.0;
};

[[nodiscard]] widgets::XAxis xAxisFromName(const std::string& name) noexcept;

} // namespace gradlab::app
