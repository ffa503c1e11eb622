// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// gradlab: the window. Reads the command line first, so that --help and errors need no display.
#include "app/autopilot.h"
#include "app/chart_board.h"
#include "app/cli/standard_streams.h"
#include "app/interrupt_notifier.h"
#include "app/main_window.h"
#include "app/run_collection.h"
#include "app/window_options.h"
#include "app/window_services.h"
#include "engine/core/version.h"
#include "widgets/theme.h"

#include <QApplication>
#include <QSettings>

#include <cstdio>
#include <cstring>

namespace {

using namespace gradlab;

/// What the offscreen platform says of every window is nothing to a person; errors are one line.
void writeMessage(QtMsgType type, const QMessageLogContext& context, const QString& text) {
    Q_UNUSED(context)
    const bool harmless = text.contains(QLatin1String("propagateSizeHints")) ||
                          text.contains(QLatin1String("XDG_RUNTIME_DIR"));
    if (type != QtDebugMsg && !harmless)
        std::fprintf(stderr, "gradlab: %s\n", text.toUtf8().constData());
}

bool hasDisplay(int argc, char** argv) {
    for (int i = 1; i < argc; ++i)
        if (std::strcmp(argv[i], "-platform") == 0)
            return true;
    return qEnvironmentVariableIsSet("QT_QPA_PLATFORM") || qEnvironmentVariableIsSet("DISPLAY") ||
           qEnvironmentVariableIsSet("WAYLAND_DISPLAY");
}

void applyTheme(const app::WindowOptions& options) {
    QApplication::setStyle(QStringLiteral("Fusion"));
    QString theme = QString::fromStdString(options.theme);
    if (theme.isEmpty() && !options.isScripted())
        theme = QSettings().value(QStringLiteral("window/theme")).toString();
    if (theme == QLatin1String("light") || theme == QLatin1String("dark"))
        QApplication::setPalette(widgets::themePalette(theme == QLatin1String("dark")));
}

/// Whether a run has a name that begins so.
bool pinBaseline(app::RunCollection& runs, const QString& name) {
    for (const widgets::RunInfo& run : runs.list())
        if (run.name.startsWith(name)) {
            runs.setBaseline(run.id);
            return true;
        }
    return false;
}

int runWindow(int& argc, char** argv, const app::WindowOptions& options) {
    qInstallMessageHandler(writeMessage);
    QApplication application(argc, argv);
    QApplication::setOrganizationName(QStringLiteral("gradlab"));
    QApplication::setApplicationName(QStringLiteral("gradlab"));
    QApplication::setApplicationVersion(QString::fromUtf8(
        engine::version().data(), static_cast<qsizetype>(engine::version().size())));
    QApplication::setDesktopFileName(QStringLiteral("gradlab"));
    applyTheme(options);
    app::MainWindow window(app::programServices(), options);
    app::Autopilot autopilot(window, options);
    const app::InterruptNotifier interrupts;
    QObject::connect(&interrupts, &app::InterruptNotifier::interrupted, &autopilot,
                     &app::Autopilot::interrupt);
    window.show();
    if (!options.layout.empty() &&
        !window.applyNamedLayout(QString::fromStdString(options.layout))) {
        std::fprintf(stderr, "gradlab: no layout has that name: --layout %s; give one of %s\n",
                     options.layout.c_str(),
                     qUtf8Printable(window.layoutNames().join(QStringLiteral(", "))));
        return 2;
    }
    if (!options.baseline.empty() &&
        !pinBaseline(*window.runs(), QString::fromStdString(options.baseline))) {
        std::fprintf(stderr,
                     "gradlab: no opened run has that name: --baseline %s; give the start of one\n",
                     options.baseline.c_str());
        return 2;
    }
    if (options.xAxis != "step") // what was asked for by name comes last
        window.board()->setXAxis(app::xAxisFromName(options.xAxis));
    if (!options.gradient.empty())
        window.showGradient(QString::fromStdString(options.gradient));
    if (options.present)
        window.setPresenting(true);
    autopilot.begin();
    return QApplication::exec();
}

} // namespace

int main(int argc, char** argv) {
    app::openStandardStreams();
    const app::WindowCommand command = app::readCommandLine(argc, argv);
    if (command.exitCode) {
        std::fputs(command.text.c_str(), *command.exitCode == 0 ? stdout : stderr);
        return *command.exitCode;
    }
    if (!hasDisplay(argc, argv)) {
        std::fputs("gradlab: no display: neither DISPLAY nor WAYLAND_DISPLAY is set; use "
                   "gradlab-cli train, or QT_QPA_PLATFORM=offscreen for pictures\n",
                   stderr);
        return 2;
    }
    return runWindow(argc, argv, command.options);
}
