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
};

QTEST_MAIN(TestPlotLabels)
#include "test_plot_labels.moc"
