// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// No dialog holds a run up, and none nests an event loop: every command that opens one is given
// while a run is on, found by its "…" or by name, so that a new one is tested too.
#include "app/main_window.h"
#include "app/run_collection.h"
#include "tests/support/small_run.h"
#include "tests/support/window_settings.h"
#include "widgets/field_editor.h"

#include <QAction>
#include <QApplication>
#include <QDialog>
#include <QDirIterator>
#include <QDockWidget>
#include <QMenu>
#include <QMenuBar>
#include <QRegularExpression>
#include <QTest>
#include <QToolButton>

using namespace gradlab;
using engine::RunState;

namespace {

constexpr int kPatienceMs = 20000;

void collect(const QMenu& menu, QList<QAction*>& actions) {
    for (QAction* action : menu.actions()) {
        if (action->menu() != nullptr)
            collect(*action->menu(), actions);
        else if (!action->isSeparator())
            actions.push_back(action);
    }
}

QList<QAction*> menuActions(const QMainWindow& window) {
    QList<QAction*> actions;
    for (const QAction* title : window.menuBar()->actions())
        if (title->menu() != nullptr)
            collect(*title->menu(), actions);
    return actions;
}

QDialog* openDialog(const QWidget& window) {
    for (QDialog* dialog : window.findChildren<QDialog*>())
        if (dialog->isVisible())
            return dialog;
    return nullptr;
}

std::unique_ptr<app::MainWindow> runningWindow() {
    app::WindowOptions options;
    options.experiments = tests::smallRace();
    options.quit = true;
    options.width = 1280;
    options.height = 800;
    auto window = std::make_unique<app::MainWindow>(
        app::WindowServices{tests::threadTransports(), tests::loadSmallCorpus}, options);
    window->show();
    window->startOrResume();
    return window;
}

std::uint64_t stepOf(const app::MainWindow& window) {
    return window.runs()->list().front().series->numbers().step;
}

} // namespace

class TestDialogs : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() {
        tests::prepareWindowTests();
        QApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
    }
    void cleanup() { QCOMPARE(tests::QtWarnings::take(), QByteArray()); }

    void aRunGoesOnBesideEveryDialog() {
        const auto window = runningWindow();
        QTRY_VERIFY_WITH_TIMEOUT(stepOf(*window) > 3, kPatienceMs);
        int opened = 0;
        for (QAction* action : menuActions(*window)) {
            const QString name = action->text().remove(u'&');
            const bool dialogs = name.endsWith(u'…') || name.startsWith(QStringLiteral("About")) ||
                                 name.contains(QStringLiteral("First Look"));
            if (!dialogs || !action->isEnabled())
                continue;
            action->trigger(); // comes back at once, or the next lines wait for ever
            QDialog* dialog = openDialog(*window);
            if (dialog == nullptr)
                continue; // "Run Again with…" opens the form
            ++opened;
            const std::uint64_t before = stepOf(*window);
            QTRY_VERIFY2_WITH_TIMEOUT(stepOf(*window) > before + 3, qPrintable(name), kPatienceMs);
            QVERIFY2(dialog->isVisible(), qPrintable(name));
            QVERIFY2(window->session()->state() == RunState::Running, qPrintable(name));
            dialog->close();
            QTRY_VERIFY2(openDialog(*window) == nullptr, qPrintable(name));
        }
        QVERIFY2(opened >= 7, QByteArray::number(opened));
        window->session()->stop();
        QTRY_VERIFY(window->session()->state() == RunState::Finished);
    }

    void aFileForAFieldIsChosenWithoutWaiting() {
        const auto window = runningWindow();
        QTRY_VERIFY_WITH_TIMEOUT(stepOf(*window) > 3, kPatienceMs);
        window->findChild<QDockWidget*>(QStringLiteral("experimentDock"))->show();
        int opened = 0;
        for (widgets::FieldEditor* editor : window->findChildren<widgets::FieldEditor*>()) {
            auto* browse = editor->findChild<QToolButton*>();
            if (browse == nullptr)
                continue;
            ++opened;
            editor->setEnabled(true); // which paths are live is another matter
            browse->click();
            QDialog* dialog = openDialog(*window);
            QVERIFY(dialog != nullptr);
            const std::uint64_t before = stepOf(*window);
            QTRY_VERIFY_WITH_TIMEOUT(stepOf(*window) > before + 3, kPatienceMs);
            dialog->close();
            QTRY_VERIFY(openDialog(*window) == nullptr);
            if (opened == 2)
                break; // they are all of one class
        }
        QVERIFY(opened > 0);
        window->session()->stop();
        QTRY_VERIFY(window->session()->state() == RunState::Finished);
    }

    void noSourceNestsAnEventLoop() {
        const QRegularExpression nested(QStringLiteral(
            "QFileDialog::get[A-Z]|QInputDialog::get|QColorDialog::get|QFontDialog::get|"
            "QMessageBox::(question|about|aboutQt|information|warning|critical)\\(|"
            "(->|\\.)exec\\(|QEventLoop|processEvents"));
        int files = 0;
        for (const char* folder : {"app", "widgets"}) {
            QDirIterator it(QStringLiteral(GRADLAB_SOURCE_DIR "/%1").arg(QLatin1String(folder)),
                            {QStringLiteral("*.cpp"), QStringLiteral("*.h")}, QDir::Files,
                            QDirIterator::Subdirectories);
            while (it.hasNext()) {
                QFile file(it.next());
                QVERIFY(file.open(QIODevice::ReadOnly));
                const auto found = nested.match(QString::fromUtf8(file.readAll()));
                QVERIFY2(!found.hasMatch(), qPrintable(file.fileName() + u' ' + found.captured()));
                ++files;
            }
        }
        QVERIFY(files > 50);
    }
};

QTEST_MAIN(TestDialogs)
#include "test_dialogs.moc"
