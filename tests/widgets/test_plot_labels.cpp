// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Lines that end early and close together: the label of one must not be struck through by the
// leader that ties the other's label in the margin to its line.
#include "tests/support/qt_warnings.h"
#include "widgets/plot_layout.h"
#include "widgets/plot_widget.h"

#include <QLineF>
#include <QTest>

using namespace gradlab;

class TestPlotLabels : public QObject {
    Q_OBJECT

    static widgets::PlotLine line(const QString& label, double last, double height) {
        widgets::PlotLine line;
        line.label = label;
        line.colour = Qt::blue;
        for (int i = 0; i <= 50; ++i)
            line.points.push_back({last * i / 50.0, height});
        return line;
    }

private Q_SLOTS:
    void initTestCase() { tests::QtWarnings::install(); }
    void cleanup() { QCOMPARE(tests::QtWarnings::take(), QByteArray()); }

    void aLabelAloneStaysAtItsLine() {
        widgets::PlotWidget plot;
        plot.resize(600, 400);
        plot.setData(
            {line(QStringLiteral("long"), 100.0, 10.0), line(QStringLiteral("short"), 40.0, 50.0)},
            {}, {});
        const widgets::PlotLayout layout = plot.layoutNow();
        QCOMPARE(layout.lineLabels.size(), std::size_t{2});
        for (const auto& label : layout.lineLabels)
            QCOMPARE(label.box.left() < layout.plot.right(), label.text == QStringLiteral("short"));
    }

    void noLeaderStrikesALabel() {
        widgets::PlotWidget plot;
        plot.resize(600, 400);
        std::vector<widgets::PlotLine> lines = {line(QStringLiteral("low"), 100.0, 10.0),
                                                line(QStringLiteral("high"), 100.0, 90.0)};
        for (const double height : {50.0, 50.5, 51.0, 49.5})
            lines.push_back(line(QString::number(height), 40.0, height));
        plot.setData(lines, {}, {});
        const widgets::PlotLayout layout = plot.layoutNow();
        QCOMPARE(layout.lineLabels.size(), lines.size());
        int struck = 0;
        for (const auto& label : layout.lineLabels)
            for (const auto& other : layout.lineLabels) {
                const QLineF leader(other.tip, QPointF(other.box.left(), other.box.center().y()));
                const QLineF middle(QPointF(label.box.center().x(), label.box.top()),
                                    QPointF(label.box.center().x(), label.box.bottom()));
                const bool meets = leader.intersects(middle) == QLineF::BoundedIntersection;
                struck += label.text != other.text && meets ? 1 : 0;
            }
        QCOMPARE(struck, 0);
    }

    /// Wide numbers on a narrow axis: some have room.
    void smallPlotsHaveLabelsBelowThem_data() {
        QTest::addColumn<int>("kind");
        QTest::addColumn<double>("from");
        QTest::addColumn<double>("to");
        QTest::newRow("bytes, 200 steps") << int(widgets::ValueKind::Bytes) << 3.8e3 << 6.9e7;
        QTest::newRow("bytes, 600 steps") << int(widgets::ValueKind::Bytes) << 3.8e3 << 2.1e8;
        QTest::newRow("bytes, many") << int(widgets::ValueKind::Bytes) << 1e6 << 3e12;
        QTest::newRow("time") << int(widgets::ValueKind::Seconds) << 8e-3 << 140.0;
        QTest::newRow("long time") << int(widgets::ValueKind::Seconds) << 0.2 << 3e5;
        QTest::newRow("number") << int(widgets::ValueKind::Number) << 1.0 << 1e6;
    }
    void smallPlotsHaveLabelsBelowThem() {
        QFETCH(int, kind);
        QFETCH(double, from);
        QFETCH(double, to);
        widgets::PlotContent content;
        content.x.title = QStringLiteral("simulated time");
        content.x.kind = static_cast<widgets::ValueKind>(kind);
        content.x.logarithmic = true;
        content.lines = {line(QStringLiteral("Random-k 1 %"), to, 1.0)};
        const widgets::PlotLayout layout =
            widgets::layOutPlot(content, {{from, to}, {0.0, 2.0}},
                                widgets::Theme::fromPalette(QPalette(), false), {250.0, 180.0});
        double right = 0.0;
        int shown = 0;
        for (const widgets::PlotTick& tick : layout.xTicks) {
            if (tick.text.isEmpty())
                continue;
            QVERIFY(++shown == 1 || tick.box.left() > right);
            right = tick.box.right();
        }
        QVERIFY(right < layout.xTitle.box.left());
        QVERIFY2(shown >= 2, QByteArray::number(shown));
    }
};

QTEST_MAIN(TestPlotLabels)
#include "test_plot_labels.moc"
