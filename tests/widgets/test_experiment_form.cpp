// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/experiment_schema.h"
#include "tests/support/qt_warnings.h"
#include "widgets/experiment_form.h"
#include "widgets/field_editor.h"
#include "widgets/theme.h"

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QGroupBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTest>
#include <QToolButton>
#include <QUndoStack>

#include <algorithm>

using namespace gradlab::widgets;
using namespace gradlab;
using gradlab::tests::QtWarnings;

namespace {

QString path(const engine::FieldSpec& field) {
    return QString::fromStdString(field.path);
}

template <class Inner>
Inner* inner(const ExperimentForm& form, const char* field) {
    return form.editor(QString::fromLatin1(field))->findChild<Inner*>();
}

void choose(const ExperimentForm& form, const char* field, const char* value) {
    auto* box = inner<QComboBox>(form, field);
    box->setCurrentText(QString::fromLatin1(value));
    Q_EMIT box->activated(box->currentIndex());
}

void type(const ExperimentForm& form, const char* field, const char* text) {
    auto* line = inner<QLineEdit>(form, field);
    line->clear();
    QTest::keyClicks(line, QString::fromLatin1(text));
}

bool hasIssueText(const ExperimentForm& form, const QString& text) {
    const auto labels = form.findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) {
        return label->isVisible() && label->text() == text;
    });
}

} // namespace

class TestExperimentForm : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void everyFieldHasAnEditorWithHelp();
    void everyEditorKeepsItsDefault();
    void editsReachTheExperiment();
    void unusedFieldsAreHidden();
    void advancedFieldsUnfold();
    void invalidFieldsSayWhy();
    void unreadableTextSaysWhy();
    void undoMergesAndComesBack();
    void numbersKeepAllDigits();
    void numbersOutOfRangeAreShown();
    void liveFieldsAskForAChange();
    void liveChangeWaitsForItsPartner();
    void undoWhileRunningPublishesThePrevious();
    void runAgainCanBeAskedFor();
    void commandLineShowsWhatDiffers();
    void everythingIsReachableByKeyboard();
    void nothingIsCutInANarrowDock();
    void wheelDoesNotChangeValues();
};

void TestExperimentForm::initTestCase() {
    QStandardPaths::setTestModeEnabled(true);
    QtWarnings::install();
}

void TestExperimentForm::cleanup() {
    const QByteArray warnings = QtWarnings::take();
    QVERIFY2(warnings.isEmpty(), warnings);
}

void TestExperimentForm::everyFieldHasAnEditorWithHelp() {
    const ExperimentForm form;
    for (const engine::FieldSpec& field : engine::experimentSchema()) {
        const FieldEditor* editor = form.editor(path(field));
        QVERIFY2(editor != nullptr, field.path.c_str());
        QVERIFY2(!editor->accessibleName().isEmpty(), field.path.c_str());
        QVERIFY2(!editor->accessibleDescription().isEmpty(), field.path.c_str());
        QVERIFY2(editor->toolTip().contains(QString::fromStdString(field.option)),
                 field.path.c_str());
        QVERIFY2(editor->toolTip().contains(
                     QString::fromStdString(engine::allowedValues(field)).toHtmlEscaped()),
                 field.path.c_str());
        QVERIFY2(editor->focusProxy() != nullptr &&
                     editor->focusProxy()->focusPolicy() == Qt::StrongFocus,
                 field.path.c_str());
    }
    QVERIFY(form.editor(QStringLiteral("no.such.field")) == nullptr);
}

void TestExperimentForm::everyEditorKeepsItsDefault() {
    const ExperimentForm form;
    const engine::Experiment experiment = engine::defaultExperiment();
    for (const engine::FieldSpec& field : engine::experimentSchema())
        QVERIFY2(form.editor(path(field))->value() == engine::getField(experiment, field.path),
                 field.path.c_str());
    QVERIFY(form.isValid());
}

void TestExperimentForm::editsReachTheExperiment() {
    ExperimentForm form;
    QSignalSpy changed(&form, &ExperimentForm::experimentChanged);
    choose(form, "compression.method", "topk");
    inner<QDoubleSpinBox>(form, "training.lr")->setValue(5.0);
    inner<QCheckBox>(form, "model.tied")->click();
    type(form, "cluster.link.bandwidth", "10Gbit");
    QCOMPARE(form.experiment().compression.method, std::string("topk"));
    QVERIFY(form.experiment().training.lr == 5.0);
    QVERIFY(!form.experiment().model.tied);
    QVERIFY(form.experiment().cluster.link.bandwidth == 10e9);
    QVERIFY(changed.count() >= 4);
}

void TestExperimentForm::unusedFieldsAreHidden() {
    ExperimentForm form;
    form.show();
    const auto visible = [&](const char* field) {
        return form.editor(QString::fromLatin1(field))->isVisible();
    };
    QVERIFY(!visible("compression.ratio"));
    choose(form, "compression.method", "topk");
    QVERIFY(visible("compression.ratio"));
    choose(form, "compression.method", "qsgd");
    QVERIFY(!visible("compression.ratio"));
    QVERIFY(visible("compression.levels"));
}

void TestExperimentForm::advancedFieldsUnfold() {
    ExperimentForm form;
    form.show();
    FieldEditor* bptt = form.editor(QStringLiteral("training.bptt"));
    QVERIFY(bptt->field().advanced);
    QVERIFY(!bptt->isVisible());
    form.showField(QStringLiteral("training.bptt"));
    QVERIFY(bptt->isVisible());
}

void TestExperimentForm::invalidFieldsSayWhy() {
    ExperimentForm form;
    form.show();
    inner<QDoubleSpinBox>(form, "training.batch")->setValue(33);
    QVERIFY(!form.isValid());
    const std::string blamed = form.issues().front().field;
    QVERIFY(!blamed.empty());
    QVERIFY(hasIssueText(form, form.firstError()));
    QCOMPARE(form.editor(QString::fromStdString(blamed))->accessibleDescription(),
             form.firstError());
    inner<QDoubleSpinBox>(form, "training.batch")->setValue(32);
    QVERIFY(form.isValid());
}

void TestExperimentForm::unreadableTextSaysWhy() {
    ExperimentForm form;
    form.show();
    QSignalSpy changed(&form, &ExperimentForm::experimentChanged);
    type(form, "cluster.link.latency", "soon");
    QVERIFY(!form.isValid());
    QVERIFY(changed.count() > 0);
    QCOMPARE(form.issues().front().field, std::string("cluster.link.latency"));
    QVERIFY(hasIssueText(form, form.firstError()));
    type(form, "cluster.link.latency", "5ms");
    QVERIFY(form.isValid());
    QVERIFY(form.experiment().cluster.link.latency == 0.005);
}

void TestExperimentForm::undoMergesAndComesBack() {
    ExperimentForm form;
    auto* box = inner<QDoubleSpinBox>(form, "training.lr");
    for (const double lr : {19.0, 18.0, 17.0})
        box->setValue(lr);
    choose(form, "compression.method", "topk");
    QCOMPARE(form.undoStack()->count(), 2);
    form.undoStack()->undo();
    QCOMPARE(form.experiment().compression.method, std::string("none"));
    QCOMPARE(inner<QComboBox>(form, "compression.method")->currentText(), QStringLiteral("none"));
    form.undoStack()->undo();
    QVERIFY(form.experiment().training.lr == 20.0 && box->value() == 20.0);
    form.undoStack()->redo();
    QVERIFY(form.experiment().training.lr == 17.0);
    QVERIFY(!form.undoStack()->isClean());
}

void TestExperimentForm::numbersKeepAllDigits() {
    ExperimentForm form;
    engine::Experiment experiment = engine::defaultExperiment();
    experiment.training.weightDecay = 3e-6;
    experiment.training.lr = 0.1 + 0.2;
    form.setExperiment(experiment);
    QVERIFY(form.editor(QStringLiteral("training.weight_decay"))->value() ==
            engine::FieldValue(3e-6));
    QVERIFY(form.experiment().training.lr == 0.1 + 0.2);
    auto* box = inner<QDoubleSpinBox>(form, "training.weight_decay");
    box->setValue(2.5e-5);
    QVERIFY(form.experiment().training.weightDecay == 2.5e-5);
    QVERIFY(box->text().contains(QStringLiteral("2.5e-05")));
}

void TestExperimentForm::numbersOutOfRangeAreShown() {
    ExperimentForm form;
    engine::Experiment experiment = engine::defaultExperiment();
    experiment.model.dropout = 7.5;
    form.setExperiment(experiment);
    QVERIFY(!form.isValid());
    QVERIFY(inner<QDoubleSpinBox>(form, "model.dropout")->value() == 7.5);
    QCOMPARE(form.issues().front().field, std::string("model.dropout"));
}

void TestExperimentForm::liveFieldsAskForAChange() {
    ExperimentForm form;
    form.show();
    form.setRunning(true);
    QSignalSpy asked(&form, &ExperimentForm::liveChangeRequested);
    for (const engine::FieldSpec& field : engine::experimentSchema()) {
        QVERIFY2(form.editor(path(field))->isEnabled() == field.live, field.path.c_str());
        if (!field.live)
            QVERIFY2(form.editor(path(field))->toolTip().contains(QStringLiteral("during a run")),
                     field.path.c_str());
    }
    inner<QDoubleSpinBox>(form, "training.lr")->setValue(5.0);
    QCOMPARE(asked.count(), 1);
    QCOMPARE(asked[0][0].toString(), QStringLiteral("training.lr"));
    QVERIFY(asked[0][1].value<engine::FieldValue>() == engine::FieldValue(5.0));
    form.setRunning(false);
    inner<QDoubleSpinBox>(form, "training.lr")->setValue(6.0);
    QCOMPARE(asked.count(), 1);
    QVERIFY(form.editor(QStringLiteral("model.hidden"))->isEnabled());
}

void TestExperimentForm::liveChangeWaitsForItsPartner() {
    ExperimentForm form;
    form.setRunning(true);
    QSignalSpy asked(&form, &ExperimentForm::liveChangeRequested);
    type(form, "cluster.link.latency", "x");
    inner<QDoubleSpinBox>(form, "training.lr")->setValue(5.0);
    QCOMPARE(asked.count(), 0);
    type(form, "cluster.link.latency", "2ms");
    QVERIFY(asked.count() >= 2);
}

void TestExperimentForm::undoWhileRunningPublishesThePrevious() {
    ExperimentForm form;
    inner<QDoubleSpinBox>(form, "model.hidden")->setValue(100);
    form.setRunning(true);
    QVERIFY(!form.undoStack()->canUndo());
    QSignalSpy asked(&form, &ExperimentForm::liveChangeRequested);
    inner<QDoubleSpinBox>(form, "training.lr")->setValue(5.0);
    form.undoStack()->undo();
    QCOMPARE(asked.count(), 2);
    QVERIFY(asked[1][1].value<engine::FieldValue>() == engine::FieldValue(20.0));
}

void TestExperimentForm::runAgainCanBeAskedFor() {
    ExperimentForm form;
    form.show();
    auto* again = form.findChild<QPushButton*>(QStringLiteral("runAgain"));
    QVERIFY(!again->isVisible());
    form.setRunning(true);
    QVERIFY(again->isVisible());
    QSignalSpy asked(&form, &ExperimentForm::runAgainRequested);
    QTest::mouseClick(again, Qt::LeftButton);
    QCOMPARE(asked.count(), 1);
}

void TestExperimentForm::commandLineShowsWhatDiffers() {
    ExperimentForm form;
    QCOMPARE(form.commandLine(), QStringLiteral("gradlab-cli train"));
    choose(form, "compression.method", "topk");
    QVERIFY(form.commandLine().contains(QStringLiteral("--method topk")));
}

void TestExperimentForm::everythingIsReachableByKeyboard() {
    ExperimentForm form;
    form.show();
    QApplication::setActiveWindow(&form);
    inner<QLineEdit>(form, "corpus.source")->setFocus();
    QSet<QWidget*> reached;
    for (int i = 0; i < 400; ++i) {
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
        reached.insert(QApplication::focusWidget());
    }
    for (const engine::FieldSpec& field : engine::experimentSchema()) {
        const FieldEditor* editor = form.editor(path(field));
        if (editor->isVisible())
            QVERIFY2(reached.contains(editor->focusProxy()), field.path.c_str());
    }
}

void TestExperimentForm::nothingIsCutInANarrowDock() {
    for (const bool dark : {false, true}) {
        QApplication::setPalette(themePalette(dark));
        ExperimentForm form;
        engine::Experiment experiment = engine::defaultExperiment();
        experiment.compression.method = "dgc";
        experiment.training.batch = 33;
        form.setExperiment(experiment);
        for (QToolButton* button : form.findChildren<QToolButton*>())
            if (button->isCheckable())
                button->setChecked(true);
        form.resize(form.minimumSizeHint().width(), 2600);
        form.show();
        const auto* scroll = form.findChild<QScrollArea*>();
        QVERIFY(form.width() <= 400);
        QVERIFY2(scroll->widget()->minimumSizeHint().width() <= scroll->viewport()->width(),
                 QByteArray::number(scroll->widget()->minimumSizeHint().width()) + " in " +
                     QByteArray::number(scroll->viewport()->width()));
        for (const engine::FieldSpec& field : engine::experimentSchema()) {
            const FieldEditor* editor = form.editor(path(field));
            if (editor->isVisible())
                QVERIFY2(editor->width() >= editor->minimumSizeHint().width(), field.path.c_str());
        }
        const QString folder = qEnvironmentVariable("GRADLAB_PICTURES");
        if (!folder.isEmpty() && QDir().mkpath(folder))
            QVERIFY(form.grab().save(QDir(folder).filePath(
                dark ? QStringLiteral("form-dark.png") : QStringLiteral("form-light.png"))));
    }
    QApplication::setPalette(themePalette(false));
}

void TestExperimentForm::wheelDoesNotChangeValues() {
    ExperimentForm form;
    form.resize(400, 300);
    form.show();
    auto* box = inner<QDoubleSpinBox>(form, "training.lr");
    box->clearFocus();
    QWheelEvent wheel(QPointF(5, 5), box->mapToGlobal(QPointF(5, 5)), QPoint(0, -10),
                      QPoint(0, -120), Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QApplication::sendEvent(box, &wheel);
    QVERIFY(form.experiment().training.lr == 20.0);
}

QTEST_MAIN(TestExperimentForm)
#include "test_experiment_form.moc"
