// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Charts as PNG, SVG, PDF and on the clipboard: the same lines as on the screen, to the pixel.
#include "tests/support/qt_warnings.h"
#include "tests/widgets/chart_pictures.h"
#include "tests/widgets/synthetic_runs.h"
#include "widgets/chart_picture.h"
#include "widgets/pareto_chart.h"

#include <QBuffer>
#include <QImageReader>
#include <QMimeData>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QXmlStreamReader>

#include <cmath>
#include <limits>

using namespace gradlab::tests;

namespace {

constexpr QSize kSize(760, 480);

struct Polyline {
    QColor colour;
    QList<QPointF> points;
};

/// Every polyline with the colour of the group that it is in; grid and leaders have two points.
std::vector<Polyline> polylinesOf(const QByteArray& svg) {
    std::vector<Polyline> lines;
    std::vector<QColor> colours{QColor()};
    QXmlStreamReader xml(svg);
    while (!xml.atEnd()) {
        xml.readNext();
        if (xml.isEndElement())
            colours.pop_back();
        if (!xml.isStartElement())
            continue;
        const QString stroke = xml.attributes().value(QLatin1String("stroke")).toString();
        colours.push_back(stroke.isEmpty() || stroke == QLatin1String("none") ? colours.back()
                                                                              : QColor(stroke));
        if (xml.name() != QLatin1String("polyline"))
            continue;
        Polyline line{colours.back(), {}};
        const auto pairs = xml.attributes()
                               .value(QLatin1String("points"))
                               .toString()
                               .split(QLatin1Char(' '), Qt::SkipEmptyParts);
        for (const QString& pair : pairs)
            line.points << QPointF(pair.section(QLatin1Char(','), 0, 0).toDouble(),
                                   pair.section(QLatin1Char(','), 1, 1).toDouble());
        if (line.points.size() > 2)
            lines.push_back(std::move(line));
    }
    return xml.hasError() ? std::vector<Polyline>() : lines;
}

QRectF extentOf(const std::vector<Polyline>& lines, const QColor& colour) {
    QRectF extent;
    for (const Polyline& line : lines)
        if (line.colour.rgb() == colour.rgb())
            for (const QPointF& point : line.points)
                extent = extent.united(QRectF(point, QSizeF(1e-6, 1e-6)));
    return extent;
}

} // namespace

class TestChartPicture : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QtWarnings::install(); }
    void init();
    void cleanup();
    void everyChartHasEveryFormat_data();
    void everyChartHasEveryFormat();
    void svgLinesAreTheData();
    void aHostileNameIsText();
    void zoomedLinesEndAtTheBorder();
    void pdfHoldsItsText();
    void pngIsTwiceTheSize();
    void clipboardHasPictureAndSvg();
    void theScreenIsLeftAlone();

private:
    std::unique_ptr<SyntheticRace> race_;
    const Theme theme_ = Theme::make(false, false);
};

void TestChartPicture::init() {
    race_ = std::make_unique<SyntheticRace>(3);
    race_->advance(600);
}

void TestChartPicture::cleanup() {
    const QByteArray warnings = QtWarnings::take();
    QVERIFY2(warnings.isEmpty(), warnings);
}

void TestChartPicture::everyChartHasEveryFormat_data() {
    QTest::addColumn<int>("chart");
    for (int chart = 0; chart < 5; ++chart)
        QTest::addRow("chart %d", chart) << chart;
}

void TestChartPicture::everyChartHasEveryFormat() {
    QFETCH(int, chart);
    Board board;
    ParetoChart pareto;
    QList<RunChart*> charts = board.charts();
    charts << &pareto;
    RunChart& one = *charts[chart];
    one.setRuns(race_->runs()); // never shown: its twin draws
    const QByteArray png = chartPicture(one, PictureFormat::Png, kSize, theme_);
    QVERIFY(png.startsWith("\x89PNG"));
    QVERIFY(coloursIn(QImage::fromData(png)) > 20);
    const QByteArray svg = chartPicture(one, PictureFormat::Svg, kSize, theme_);
    QVERIFY(svg.contains("<svg") && svg.trimmed().endsWith("</svg>"));
    QVERIFY(svg.contains("<text") && svg.contains("top-k 1 %"));
    QVERIFY(svg.contains(("<title>" + one.title() + "</title>").toUtf8()));
    const QByteArray pdf = chartPicture(one, PictureFormat::Pdf, kSize, theme_);
    QVERIFY(pdf.startsWith("%PDF-1.") && pdf.trimmed().endsWith("%%EOF"));
    QVERIFY(pdf.size() > 4000);
    QVERIFY(!one.title().isEmpty() && !one.objectName().isEmpty() && !one.logFields().isEmpty());
    if (chart != 2) // bars
        QVERIFY(polylinesOf(svg).size() >= 3);
}

void TestChartPicture::svgLinesAreTheData() {
    PerplexityChart chart;
    chart.setRuns(race_->runs());
    const auto lines = polylinesOf(chartPicture(chart, PictureFormat::Svg, kSize, theme_));
    const std::unique_ptr<RunChart> twin = chart.twin(kSize, theme_);
    const PlotLayout layout = twin->plots().front()->layoutNow();
    for (std::size_t run = 0; run < 3; ++run) {
        const SeriesStore::Query query{XAxis::Step, 0.0, 1e9, chart.pointsPerLine()};
        double least = std::numeric_limits<double>::infinity();
        double most = 0.0;
        for (const PlotPoint& point :
             race_->series(run).query(Metric::TrainPerplexity, query).points) {
            least = std::min(least, point.y);
            most = std::max(most, point.y);
        }
        const QRectF extent = extentOf(lines, theme_.runColour(static_cast<int>(run)));
        constexpr double kPixel = 0.51; // the generator rounds
        QVERIFY(std::abs(extent.left() - layout.mapX(1.0)) < kPixel);
        QVERIFY(std::abs(extent.right() - layout.mapX(600.0)) < kPixel);
        QVERIFY2(std::abs(extent.top() - layout.mapY(most)) < kPixel,
                 QByteArray::number(extent.top()) + " " + QByteArray::number(layout.mapY(most)));
        QVERIFY(std::abs(extent.bottom() - layout.mapY(least)) < kPixel);
    }
}

void TestChartPicture::aHostileNameIsText() {
    const QString name = QStringLiteral("<b> & \"q\" </svg>");
    SyntheticRace race(1);
    race.advance(20);
    RunList runs = race.runs();
    runs[0].name = name;
    PerplexityChart chart;
    chart.setRuns(runs);
    QXmlStreamReader xml(chartPicture(chart, PictureFormat::Svg, kSize, theme_));
    QStringList texts;
    while (!xml.atEnd())
        if (xml.readNext() == QXmlStreamReader::Characters)
            texts << xml.text().toString();
    QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
    QVERIFY(texts.join(QString()).contains(QStringLiteral("Gradient Lab: ") + name));
}

void TestChartPicture::zoomedLinesEndAtTheBorder() {
    PerplexityChart chart;
    chart.resize(kSize);
    chart.setRuns(race_->runs());
    chart.show();
    chart.refresh();
    PlotWidget* plot = chart.plots().front();
    plot->changeWindow({AxisRange{103.5, 207.5}, AxisRange{20.0, 60.0}});
    const auto lines = polylinesOf(chartPicture(chart, PictureFormat::Svg, kSize, theme_));
    QVERIFY(lines.size() > 3);
    const std::unique_ptr<RunChart> twin = chart.twin(kSize, theme_);
    const PlotLayout layout = twin->plots().front()->layoutNow();
    QVERIFY(layout.ranges == plot->layoutNow().ranges);
    for (const Polyline& line : lines)
        for (const QPointF& point : line.points)
            QVERIFY(layout.plot.adjusted(-0.6, -0.6, 0.6, 0.6).contains(point));
    const QRectF extent = extentOf(lines, theme_.runColour(0));
    QVERIFY(std::abs(extent.left() - layout.plot.left()) < 0.6); // right to the border
}

void TestChartPicture::pdfHoldsItsText() {
    const QString tool = QStandardPaths::findExecutable(QStringLiteral("pdftotext"));
    if (tool.isEmpty())
        QSKIP("pdftotext is not installed");
    PerplexityChart chart;
    chart.setRuns(race_->runs());
    const QTemporaryDir folder;
    QFile file(folder.filePath(QStringLiteral("chart.pdf")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(chartPicture(chart, PictureFormat::Pdf, kSize, theme_));
    file.close();
    QProcess reader;
    reader.start(tool, {file.fileName(), QStringLiteral("-")});
    QVERIFY(reader.waitForFinished());
    const QString text = QString::fromUtf8(reader.readAllStandardOutput());
    QVERIFY2(text.contains(QStringLiteral("Perplexity")) && text.contains(QStringLiteral("top-k")),
             text.toUtf8());
}

void TestChartPicture::pngIsTwiceTheSize() {
    TrafficChart traffic;
    traffic.setRuns(race_->runs());
    const QImage both = chartImage(traffic, {800, 240}, theme_);
    QCOMPARE(both.size(), QSize(1600, 480));
    for (const QRect& half : {QRect(0, 0, 800, 480), QRect(800, 0, 800, 480)})
        for (int run = 0; run < 3; ++run)
            QVERIFY(hasColour(both.copy(half), theme_.runColour(run)));
    const QImage dark = chartImage(traffic, {320, 200}, Theme::make(true, false));
    QVERIFY(dark.pixelColor(1, 399) == Theme::make(true, false).background);
    if (const QString kept = qEnvironmentVariable("GRADLAB_PICTURES"); !kept.isEmpty())
        QVERIFY(both.save(QDir(kept).filePath(QStringLiteral("traffic-2x.png"))));
}

void TestChartPicture::clipboardHasPictureAndSvg() {
    TimeChart chart;
    chart.setRuns(race_->runs());
    const std::unique_ptr<QMimeData> data(chartForClipboard(chart, kSize, theme_));
    QVERIFY(data->hasImage());
    QCOMPARE(qvariant_cast<QImage>(data->imageData()).size(), kSize * 2);
    QVERIFY(data->data(QStringLiteral("image/svg+xml")).contains("<svg"));
}

void TestChartPicture::theScreenIsLeftAlone() {
    PerplexityChart chart;
    chart.resize(500, 300);
    chart.setTheme(Theme::make(true, false));
    chart.setRuns(race_->runs());
    chart.show();
    chart.refresh();
    const QImage before = chart.grab().toImage();
    (void)chartPicture(chart, PictureFormat::Svg, {1600, 900}, theme_);
    QCOMPARE(chart.size(), QSize(500, 300));
    QVERIFY(chart.grab().toImage() == before);
}

QTEST_MAIN(TestChartPicture)
#include "test_chart_picture.moc"
