// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// From input to paint while a run has every core: the real window with a run of 8 workers, and a
// person who never rests. Ten times a second something is due – a key, the wheel, the mouse, a
// knob, a column to sort by – and the time counts from when it was due, so a window that hangs is
// late for it, until what must look different has been painted.
//   window_latency [SECONDS [WORKERS]]     600 s, 8 workers
// Prints a line for each kind of input (milliseconds: median, the 99th of 100, the longest).
// Bound: 50 ms for the 99th of all. Ends with 1 if it does not hold, with 2 if the run ended.
#include "app/chart_board.h"
#include "app/main_window.h"
#include "app/run_collection.h"
#include "app/run_panel.h"
#include "app/tuning_bar.h"
#include "app/window_services.h"
#include "engine/training/experiment_schema.h"
#include "widgets/field_editor.h"
#include "widgets/message_banner.h"
#include "widgets/plot_widget.h"

#include <QApplication>
#include <QDoubleSpinBox>
#include <QElapsedTimer>
#include <QHeaderView>
#include <QLineEdit>
#include <QSpinBox>
#include <QTableView>
#include <QTest>
#include <QTimer>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

using namespace gradlab;

namespace {

constexpr int kEveryMs = 100;
constexpr double kBoundMs = 50.0;
constexpr double kNeverMs = 2000.0; ///< counted as that, and the next input goes on

struct Input {
    const char* name;
    std::function<QWidget*()> act; ///< @return what must be painted anew
};

class Person : public QObject {
    Q_OBJECT

public:
    Person(app::MainWindow& window, std::vector<Input> inputs, qint64 seconds)
        : inputs_(std::move(inputs)), end_(seconds * 1000) {
        qApp->installEventFilter(this);
        connect(&timer_, &QTimer::timeout, this, [this, &window] { next(window); });
        timer_.setTimerType(Qt::PreciseTimer);
        clock_.start();
        timer_.start(1); // finer than the beat, so that it is met
    }

    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() == QEvent::Paint && watched == target_ && !painting_ && isCurrent()) {
            painting_ = true; // this event comes after what is being painted now
            QMetaObject::invokeMethod(this, &Person::painted, Qt::QueuedConnection);
        }
        return false;
    }

    [[nodiscard]] const std::map<std::string, std::vector<double>>& times() const { return times_; }

    [[nodiscard]] bool runEnded() const noexcept { return runEnded_; }

private:
    /// A chart that still waits for its turn shows the state before.
    [[nodiscard]] bool isCurrent() const {
        const auto* chart = qobject_cast<widgets::RunChart*>(target_->parentWidget());
        return chart == nullptr || !chart->isOutdated();
    }
    void next(const app::MainWindow& window) {
        const double now = milliseconds();
        if (target_ != nullptr && now - due_ < kNeverMs)
            return; // still waiting
        if (target_ != nullptr)
            finish(kNeverMs);
        if (now < due_)
            return; // the timer was early
        runEnded_ = !window.session()->isActive();
        if (clock_.elapsed() >= end_ || runEnded_) {
            timer_.stop();
            QCoreApplication::exit(0); // quit() would close the window first
            return;
        }
        const Input& input = inputs_[at_++ % inputs_.size()];
        name_ = input.name;
        painting_ = false;
        // Painted by what the input did, or nothing has changed and the present state is.
        target_ = input.act();
        if (target_ != nullptr)
            target_->update();
    }
    void painted() {
        if (target_ != nullptr)
            finish(milliseconds() - due_);
    }
    /// The next input is due with the next beat, whether or not the window is free by then.
    void finish(double took) {
        times_[name_].push_back(took);
        target_ = nullptr;
        due_ = (std::floor(milliseconds() / kEveryMs) + 1.0) * kEveryMs;
    }
    [[nodiscard]] double milliseconds() const {
        return static_cast<double>(clock_.nsecsElapsed()) * 1e-6;
    }

    std::vector<Input> inputs_;
    qint64 end_;
    QTimer timer_;
    QElapsedTimer clock_;
    std::map<std::string, std::vector<double>> times_;
    std::string name_;
    QWidget* target_ = nullptr;
    std::size_t at_ = 0;
    double due_ = kEveryMs; ///< milliseconds
    bool painting_ = false;
    bool runEnded_ = false;
};

engine::Experiment experiment(int workers) {
    engine::Experiment experiment = engine::defaultExperiment();
    experiment.name = "Top-k 1 %";
    experiment.training.batch = 64;
    experiment.training.lr = 1.0;
    experiment.training.steps = 0;
    experiment.training.epochs = 1'000'000;
    experiment.training.patience = 1'000'000;
    experiment.training.evalEvery = 200;
    experiment.cluster.workers = workers;
    engine::setField(experiment, "compression.method", std::string("topk"));
    engine::setField(experiment, "compression.ratio", 0.01);
    return experiment;
}

std::vector<Input> inputsOf(app::MainWindow& window) {
    auto* plot = window.findChild<widgets::PlotWidget*>(QStringLiteral("perplexity"));
    auto* table = window.table()->table();
    const auto key = [&window](QWidget* shown, Qt::Key code, Qt::KeyboardModifiers modifiers = {}) {
        QTest::keyClick(window.board(), code, modifiers);
        return shown;
    };
    const auto wheel = [plot](int turn) -> QWidget* {
        const QPointF middle(plot->rect().center());
        QWheelEvent event(middle, plot->mapToGlobal(middle), {}, QPoint(0, turn), Qt::NoButton, {},
                          Qt::NoScrollPhase, false);
        QApplication::sendEvent(plot, &event);
        return plot;
    };
    static int move = 0;
    static int knob = 0;
    return {
        {"wheel", [wheel] { return wheel(120); }},
        {"crosshair",
         [plot]() -> QWidget* {
             QTest::mouseMove(plot, plot->rect().center() + QPoint(++move % 90, 0));
             return plot;
         }},
        {"wheel", [wheel] { return wheel(-120); }},
        {"whole chart", [key, plot] { return key(plot, Qt::Key_0, Qt::ControlModifier); }},
        {"knob",
         [&window]() -> QWidget* {
             auto* box = window.tuning()
                             ->editor(QStringLiteral("training.lr"))
                             ->findChild<QDoubleSpinBox*>();
             box->setValue(++knob % 2 == 0 ? 1.0 : 1.2);
             return box->findChild<QLineEdit*>();
         }},
        {"next x axis", [key, plot] { return key(plot, Qt::Key_X); }},
        {"sort",
         [table]() -> QWidget* {
             const int column = 5 + move % 8;
             QTest::mouseClick(
                 table->horizontalHeader()->viewport(), Qt::LeftButton, {},
                 QPoint(table->horizontalHeader()->sectionViewportPosition(column) + 10, 8));
             return table->viewport();
         }},
        {"smoothing",
         [key, plot] {
             return key(plot, move % 2 == 0 ? Qt::Key_BracketRight : Qt::Key_BracketLeft,
                        Qt::ControlModifier);
         }},
        {"y axis", [key, plot] { return key(plot, Qt::Key_L); }},
        {"Pareto front",
         [key, &window] {
             return key(window.findChild<widgets::PlotWidget*>(QStringLiteral("pareto-by-bytes")),
                        Qt::Key_P);
         }},
        {"perplexity", [key, plot] { return key(plot, Qt::Key_P); }},
    };
}

double quantile(const std::vector<double>& sorted, double part) {
    const auto last = static_cast<double>(sorted.size() - 1);
    return sorted[static_cast<std::size_t>(std::ceil(part * last))];
}

double report(const char* name, std::vector<double> times) {
    std::sort(times.begin(), times.end());
    const double most = quantile(times, 0.99);
    std::printf("%-14s %6zu %7.1f %7.1f %7.1f\n", name, times.size(), quantile(times, 0.5), most,
                times.back());
    return most;
}

} // namespace

int main(int argc, char** argv) {
    QApplication application(argc, argv);
    QApplication::setOrganizationName(QStringLiteral("gradlab-bench"));
    const int seconds = argc > 1 ? std::atoi(argv[1]) : 600;
    const int workers = argc > 2 ? std::atoi(argv[2]) : 8;
    app::WindowOptions options;
    options.experiments = {experiment(workers)};
    options.quit = true; // no questions
    options.width = 1280;
    options.height = 800;
    app::MainWindow window(app::programServices(), options);
    window.show();
    window.activateWindow();
    static_cast<void>(QTest::qWaitForWindowActive(&window));
    window.startOrResume();
    window.setTuningShown(true);
    const bool begun = QTest::qWaitFor(
        [&] { return window.runs()->list().front().series->numbers().step > 100; }, 60000);
    if (!begun) {
        std::fputs("window_latency: the run does not begin\n", stderr);
        return 2;
    }
    const Person person(window, inputsOf(window), seconds);
    QApplication::exec();
    std::printf(
        "%d workers, %llu steps\n%-14s %6s %7s %7s %7s  milliseconds\n", workers,
        static_cast<unsigned long long>(window.runs()->list().front().series->numbers().step),
        "input", "count", "median", "99 %", "most");
    std::vector<double> all;
    for (const auto& [name, times] : person.times()) {
        report(name.c_str(), times);
        all.insert(all.end(), times.begin(), times.end());
    }
    const double most = all.empty() ? kNeverMs : report("all", all);
    if (person.runEnded())
        std::fprintf(stderr, "window_latency: the run ended: %s\n",
                     qUtf8Printable(window.banner()->messages().join(QLatin1Char(' '))));
    return person.runEnded() ? 2 : most > kBoundMs ? 1 : 0;
}

#include "window_latency.moc"
