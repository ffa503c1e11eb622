// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The form's experiments as a document, alone and in the window: what is unsaved is seen, nothing
// is lost, what was opened is found again.
#include "app/experiment_document.h"
#include "app/experiment_panel.h"
#include "app/main_window.h"
#include "engine/training/experiment_schema.h"
#include "tests/support/small_run.h"
#include "tests/support/window_settings.h"
#include "widgets/experiment_form.h"
#include "widgets/field_editor.h"
#include "widgets/message_banner.h"

#include <QAction>
#include <QDir>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QSettings>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QUrl>

using namespace gradlab;
using app::ExperimentDocument;

namespace {

QDir copies() {
    return {QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) +
            QStringLiteral("/recovery")};
}

/// The copies look like those of a process that is gone.
void endTheirProcess() {
    for (const QString& name : copies().entryList({QStringLiteral("*.json")}))
        QVERIFY(copies().rename(name, QStringLiteral("2147483647.json")));
}

/// As a person starts it: it remembers, and asks.
std::unique_ptr<app::MainWindow> makeWindow(const QString& file = {}) {
    app::WindowOptions options;
    options.experiments = file.isEmpty() ? std::vector{engine::defaultExperiment()}
                                         : engine::readExperiments(file.toStdString());
    options.experimentFile = file.toStdString();
    auto window = std::make_unique<app::MainWindow>(
        app::WindowServices{tests::threadTransports(), tests::loadSmallCorpus}, options);
    window->show();
    return window;
}

QString writeExperiment(const QTemporaryDir& folder, const char* name, double lr) {
    engine::Experiment experiment = engine::defaultExperiment();
    experiment.training.lr = lr;
    QString path = folder.filePath(QLatin1String(name));
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) ||
        file.write(QByteArray::fromStdString(engine::toJson(experiment))) <= 0)
        qFatal("cannot write a test's file");
    return path;
}

void setRate(app::MainWindow& window, double lr) {
    engine::Experiment changed = window.panel()->experiments().front();
    changed.training.lr = lr;
    window.panel()->setExperiments({changed});
}

double rateIn(const QString& path) {
    return engine::readExperiments(path.toStdString()).front().training.lr;
}

QAction* actionOf(app::MainWindow& window, const QKeySequence& keys) {
    for (QAction* action : window.actions())
        if (action->shortcuts().contains(keys))
            return action;
    return nullptr;
}

QMenu* recentMenu(app::MainWindow& window) {
    for (auto* menu : window.findChildren<QMenu*>())
        if (menu->title().contains(QStringLiteral("Recent")))
            return menu;
    return nullptr;
}

} // namespace

class TestExperimentDocument : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { tests::prepareWindowTests(); }
    void init() {
        QSettings().clear();
        copies().removeRecursively();
    }
    void cleanup() { QCOMPARE(tests::QtWarnings::take(), QByteArray()); }

    void modifiedUntilItIsSavedOrUndone() {
        ExperimentDocument document(false);
        document.setContent(QStringLiteral("a"));
        document.setUnchanged({});
        QVERIFY(!document.isModified());
        document.setContent(QStringLiteral("b"));
        QVERIFY(document.isModified());
        document.setContent(QStringLiteral("a"));
        QVERIFY(!document.isModified());
        document.setContent(QStringLiteral("c"));
        document.setUnchanged(QStringLiteral("/some/where.json"));
        QVERIFY(!document.isModified());
        QCOMPARE(document.name(), QStringLiteral("where.json"));
        QVERIFY(document.recent().isEmpty()); // remembers nothing
        QVERIFY(!copies().exists());
    }

    void recentFilesAreFewAndTheLastComesFirst() {
        ExperimentDocument document(true);
        for (int i = 0; i < ExperimentDocument::kRecentFiles + 3; ++i)
            document.addRecent(QStringLiteral("/files/%1.json").arg(i));
        document.addRecent(QStringLiteral("/files/7.json"));
        QCOMPARE(document.recent().size(), qsizetype{ExperimentDocument::kRecentFiles});
        QCOMPARE(document.recent().front(), QStringLiteral("/files/7.json"));
        QCOMPARE(document.recent().count(QStringLiteral("/files/7.json")), 1);
        QCOMPARE(ExperimentDocument(true).recent(), document.recent());
        document.clearRecent();
        QVERIFY(document.recent().isEmpty());
    }

    void unsavedChangesOutliveTheProgram() {
        {
            ExperimentDocument document(true);
            document.setContent(QStringLiteral("a"));
            document.setUnchanged(QStringLiteral("/x/y.json"));
            document.setContent(QStringLiteral("b")); // and the window closes at once
        }
        QVERIFY2(!ExperimentDocument(true).takeRecovered(), "its process is still there");
        endTheirProcess();
        const auto copy = ExperimentDocument(true).takeRecovered();
        QVERIFY(copy.has_value());
        QCOMPARE(copy->path, QStringLiteral("/x/y.json"));
        QCOMPARE(copy->text, QStringLiteral("b"));
        QVERIFY(!ExperimentDocument(true).takeRecovered()); // once
    }

    void whatIsSavedLeavesNoCopy() {
        ExperimentDocument document(true);
        document.setContent(QStringLiteral("b"));
        QTRY_COMPARE(copies().entryList(QDir::Files).size(), 1);
        document.setUnchanged(QStringLiteral("/x/y.json"));
        QVERIFY(copies().entryList(QDir::Files).isEmpty());
    }

    void aDamagedCopyIsPassedOver() {
        QVERIFY(copies().mkpath(QStringLiteral(".")));
        QFile file(copies().filePath(QStringLiteral("2147483647.json")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("{\"path\": 3, \"tex");
        file.close();
        QVERIFY(!ExperimentDocument(true).takeRecovered());
        QVERIFY(!file.exists());
    }

    void titleAndSaving() {
        const QTemporaryDir folder;
        const QString path = writeExperiment(folder, "one.json", 3.0);
        const auto window = makeWindow(path);
        QVERIFY(window->windowTitle().startsWith(QStringLiteral("one.json[*]")));
        QVERIFY(!window->isWindowModified());
        setRate(*window, 4.0);
        QVERIFY(window->isWindowModified());
        QCOMPARE(rateIn(path), 3.0);
        QAction* save = actionOf(*window, QKeySequence(Qt::CTRL | Qt::Key_S));
        QVERIFY(save != nullptr);
        save->trigger();
        QVERIFY(!window->isWindowModified());
        QCOMPARE(rateIn(path), 4.0);
        // A folder that does not take the file: nothing is lost, and it says so.
        QVERIFY(QFile::remove(path) && QDir().mkdir(path));
        setRate(*window, 5.0);
        save->trigger();
        QVERIFY(window->isWindowModified());
        QCOMPARE(window->banner()->messages().size(), qsizetype{1});
        QVERIFY(window->banner()->messages().front().contains(QStringLiteral("was not saved")));
    }

    void openingAsksAboutUnsavedChanges() {
        const QTemporaryDir folder;
        const QString one = writeExperiment(folder, "one.json", 3.0);
        const QString two = writeExperiment(folder, "two.json", 7.0);
        const auto window = makeWindow(one);
        const auto answer = [&](QMessageBox::StandardButton button) {
            window->openPath(two);
            auto* question = window->findChild<QMessageBox*>();
            QVERIFY(question != nullptr);
            QTest::mouseClick(question->button(button), Qt::LeftButton);
            QTRY_VERIFY(window->findChild<QMessageBox*>() == nullptr);
        };
        const auto rate = [&] { return window->panel()->experiments().front().training.lr; };
        setRate(*window, 4.0);
        answer(QMessageBox::Cancel);
        QCOMPARE(rate(), 4.0);
        answer(QMessageBox::Discard);
        QCOMPARE(rate(), 7.0);
        QCOMPARE(rateIn(one), 3.0);
        QVERIFY(!window->isWindowModified());
        window->openPath(one); // nothing is unsaved: no question
        QCOMPARE(rate(), 3.0);
        setRate(*window, 4.0);
        answer(QMessageBox::Save);
        QCOMPARE(rateIn(one), 4.0);
        QCOMPARE(rate(), 7.0);
    }

    void recentMenuOpens() {
        const QTemporaryDir folder;
        const QString one = writeExperiment(folder, "one.json", 3.0);
        const QString two = writeExperiment(folder, "two.json", 7.0);
        const auto window = makeWindow();
        window->openPath(one);
        window->openPath(two);
        QMenu* menu = recentMenu(*window);
        QVERIFY(menu != nullptr);
        Q_EMIT menu->aboutToShow();
        QVERIFY(menu->actions().at(0)->text().contains(QStringLiteral("two.json")));
        QCOMPARE(menu->actions().at(1)->toolTip(), one);
        menu->actions().at(1)->trigger();
        QCOMPARE(window->document()->path(), one);
        QVERIFY(QFile::remove(two));
        Q_EMIT menu->aboutToShow();
        QVERIFY(menu->actions().at(0)->text().contains(QStringLiteral("one.json")));
        QVERIFY(!menu->actions().at(1)->isEnabled()); // it is gone
    }

    void theNextWindowOffersWhatWasNotSaved() {
        {
            const auto window = makeWindow();
            setRate(*window, 4.5);
            window->close();
        }
        endTheirProcess();
        const auto window = makeWindow();
        QCOMPARE(window->banner()->messages().size(), qsizetype{1});
        auto buttons = window->banner()->findChildren<QToolButton*>();
        const auto restore = std::find_if(buttons.begin(), buttons.end(), [](QToolButton* button) {
            return button->text() == QStringLiteral("Restore");
        });
        QVERIFY(restore != buttons.end());
        QTest::mouseClick(*restore, Qt::LeftButton);
        QCOMPARE(window->panel()->experiments().front().training.lr, 4.5);
        QVERIFY(window->isWindowModified());
        QVERIFY(window->banner()->messages().isEmpty());
    }
};

QTEST_MAIN(TestExperimentDocument)
#include "test_experiment_document.moc"
