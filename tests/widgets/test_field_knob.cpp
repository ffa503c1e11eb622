// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Slider and exact entry of one field: they follow each other; a drag is one gesture with few
// edits.
#include "engine/training/experiment_schema.h"
#include "tests/support/qt_warnings.h"
#include "widgets/field_editor.h"
#include "widgets/field_knob.h"
#include "widgets/slider_scale.h"

#include <QLineEdit>
#include <QSlider>
#include <QTest>

using namespace gradlab;
using namespace gradlab::widgets;

namespace {

const engine::FieldSpec& field(const char* path) {
    return *engine::findField(path);
}

/// Everything that a knob said.
struct Said {
    explicit Said(FieldKnob& knob) {
        QObject::connect(&knob, &FieldKnob::edited, &knob,
                         [this](const engine::FieldValue& value, int gesture) {
                             values.push_back(value);
                             gestures.push_back(gesture);
                         });
    }
    std::vector<engine::FieldValue> values;
    std::vector<int> gestures;
};

} // namespace

class TestFieldKnob : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { tests::QtWarnings::install(); }
    void cleanup() { QCOMPARE(tests::QtWarnings::take(), QByteArray()); }

    void everySliderHasItsRange_data() {
        QTest::addColumn<QString>("path");
        for (const char* path :
             {"training.lr", "training.clip", "model.dropout", "compression.ratio",
              "compression.levels", "cluster.link.bandwidth", "cluster.link.latency"})
            QTest::newRow(path) << QString::fromLatin1(path);
    }
    void everySliderHasItsRange() {
        QFETCH(QString, path);
        const engine::FieldSpec& spec = field(qPrintable(path));
        QVERIFY(spec.live && spec.slider);
        const SliderScale scale(spec);
        QVERIFY(scale.last() > 50);
        engine::Experiment experiment = engine::defaultExperiment();
        for (int position = 0; position <= scale.last(); ++position) {
            const double value = scale.valueAt(position);
            QCOMPARE(scale.positionOf(value), position);
            QVERIFY(position == 0 || value > scale.valueAt(position - 1));
            const bool whole = spec.type == engine::FieldType::Integer;
            engine::setField(experiment, spec.path,
                             whole ? engine::FieldValue(static_cast<std::int64_t>(value))
                                   : engine::FieldValue(value));
            for (const engine::ExperimentIssue& issue : engine::validate(experiment))
                QVERIFY2(issue.severity != engine::ExperimentIssue::Severity::Error,
                         issue.message.c_str());
        }
        QCOMPARE(scale.positionOf(1e300), scale.last());
    }

    void logarithmicFieldsMoveByRatio() {
        const SliderScale lr(field("training.lr"));
        QCOMPARE(lr.valueAt(0), 0.0); // it may be off
        QCOMPARE(lr.valueAt(1), 0.001);
        QCOMPARE(lr.positionOf(10.0) - lr.positionOf(1.0), 24);
        QCOMPARE(lr.positionOf(0.1) - lr.positionOf(0.01), 24);
        const SliderScale ratio(field("compression.ratio"));
        QCOMPARE(ratio.valueAt(0), 0.0001);
        const SliderScale dropout(field("model.dropout"));
        QCOMPARE(dropout.valueAt(dropout.positionOf(0.5)), 0.5);
    }

    void sliderAndEntryFollowEachOther() {
        FieldKnob knob(field("training.lr"));
        Said said(knob);
        knob.setValue(20.0);
        QVERIFY(said.values.empty()); // shown, not edited
        const SliderScale scale(knob.field());
        QCOMPARE(knob.slider()->value(), scale.positionOf(20.0));
        knob.slider()->setFocus();
        QTest::keyClick(knob.slider(), Qt::Key_Left);
        QCOMPARE(said.values.size(), std::size_t{1});
        QCOMPARE(std::get<double>(said.values[0]), 18.0);
        QCOMPARE(std::get<double>(knob.editor()->value()), 18.0);
        Q_EMIT knob.editor()->edited(0.37);
        QCOMPARE(knob.slider()->value(), scale.positionOf(0.37));
        QCOMPARE(std::get<double>(said.values.back()), 0.37); // exact, not the slider's
    }

    void aDragIsOneGestureOfFewEdits() {
        FieldKnob knob(field("compression.ratio"));
        knob.resize(200, 80);
        knob.setValue(0.01);
        Said said(knob);
        QSlider* slider = knob.slider();
        slider->setSliderDown(true);
        for (int position = 0; position < 60; ++position)
            slider->setSliderPosition(position);
        QVERIFY(said.values.size() <= 2); // one at once, more as time goes by
        knob.setValue(0.5); // the run's answer to an earlier one does not move it in the hand
        QCOMPARE(slider->sliderPosition(), 59);
        slider->setSliderDown(false);
        QVERIFY(said.values.size() <= 3);
        const SliderScale scale(knob.field());
        QCOMPARE(std::get<double>(said.values.back()), scale.valueAt(59)); // where it was left
        for (const int gesture : said.gestures)
            QCOMPARE(gesture, said.gestures.front());
        slider->setSliderDown(true);
        slider->setSliderPosition(3);
        slider->setSliderDown(false);
        QVERIFY(said.gestures.back() != said.gestures.front());
    }

    void aRateIsTakenWhenItIsTyped() {
        FieldKnob knob(field("cluster.link.bandwidth"));
        knob.show();
        QVERIFY(QTest::qWaitForWindowActive(&knob));
        knob.setValue(1e8);
        Said said(knob);
        auto* line = knob.editor()->findChild<QLineEdit*>();
        line->setFocus();
        line->selectAll();
        QTest::keyClicks(line, QStringLiteral("10Gbit"));
        QVERIFY(said.values.empty()); // "1" and "10" were no wishes
        QTest::keyClick(line, Qt::Key_Return);
        QCOMPARE(said.values.size(), std::size_t{1});
        QCOMPARE(std::get<double>(said.values[0]), 10e9);
        QCOMPARE(knob.slider()->value(), SliderScale(knob.field()).positionOf(10e9));
    }

    void everythingHasNameTipAndKeyboard() {
        for (const engine::FieldSpec& spec : engine::experimentSchema()) {
            if (!spec.live)
                continue;
            const FieldKnob knob(spec);
            QCOMPARE(knob.slider() != nullptr, spec.slider.has_value());
            if (knob.slider() == nullptr)
                continue;
            QVERIFY(knob.slider()->accessibleName().contains(QString::fromStdString(spec.label)));
            QVERIFY(knob.slider()->toolTip().contains(
                QString::fromStdString(spec.help).toHtmlEscaped()));
            QVERIFY(knob.slider()->focusPolicy() & Qt::TabFocus);
        }
    }
};

QTEST_MAIN(TestFieldKnob)
#include "test_field_knob.moc"
