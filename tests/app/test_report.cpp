// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The report of a real run with a hostile name: one page that stands alone, parses as XML, and has
// what it promises.
#include "app/chart_board.h"
#include "app/chart_exporter.h"
#include "app/html_report.h"
#include "app/main_window.h"
#include "app/report_data.h"
#include "app/run_collection.h"
#include "engine/training/experiment_schema.h"
#include "tests/support/small_run.h"
#include "tests/support/window_settings.h"
#include "widgets/message_banner.h"

#include <QFile>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QXmlStreamReader>

using namespace gradlab;
using engine::RunState;

namespace {

constexpr const char* kHostile = R"(<b onload="x">&amp; "Top" 'k' </pre></script>)";

/// Elements by name, text by the name and class of its element.
struct Page {
    QMap<QString, int> elements;
    QMultiMap<QString, QString> texts;
    QStringList addresses; ///< of whatever an attribute could fetch
    QString error;
};

Page parse(const QByteArray& bytes) {
    Page page;
    QXmlStreamReader reader(bytes);
    QStringList open;
    while (!reader.atEnd()) {
        const auto token = reader.readNext();
        if (token == QXmlStreamReader::StartElement) {
            const QString name = reader.name().toString();
            ++page.elements[name];
            for (const QXmlStreamAttribute& attribute : reader.attributes()) {
                const QString key = attribute.qualifiedName().toString();
                if (key == u"src" || key.endsWith(u"href") || key.startsWith(u"on"))
                    page.addresses << attribute.value().toString();
            }
            const QString kind = reader.attributes().value(QStringLiteral("class")).toString();
            open << (kind.isEmpty() ? name : name + u'.' + kind);
        } else if (token == QXmlStreamReader::EndElement) {
            open.removeLast();
        } else if (token == QXmlStreamReader::Characters && !open.isEmpty()) {
            page.texts.insert(open.last(), reader.text().toString());
        }
    }
    page.error = reader.hasError() ? reader.errorString() : QString();
    return page;
}

std::unique_ptr<app::MainWindow> finishedRace() {
    app::WindowOptions options;
    options.experiments = tests::smallRace(60);
    options.experiments[1].name = kHostile;
    options.script = {{.step = 20, .member = "Dense", .change = {"training.lr", 0.5}}};
    options.quit = true;
    options.width = 1280;
    options.height = 800;
    auto window = std::make_unique<app::MainWindow>(
        app::WindowServices{tests::threadTransports(), tests::loadSmallCorpus}, options);
    window->show();
    window->startOrResume();
    return window;
}

QByteArray contents(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace

class TestReport : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { tests::prepareWindowTests(); }
    void cleanup() { QCOMPARE(tests::QtWarnings::take(), QByteArray()); }

    void aPageThatStandsAlone() {
        const auto window = finishedRace();
        QTRY_VERIFY_WITH_TIMEOUT(window->session()->state() == RunState::Finished, 60000);
        QTRY_COMPARE(window->runs()->list()[0].series->changes().size(), std::size_t{1});
        const QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("report.html"));
        const QSignalSpy done(window->exporter(), &app::ChartExporter::done);
        window->writeReport(path);
        QTRY_COMPARE_WITH_TIMEOUT(done.size(), 1, 60000);
        const QByteArray bytes = contents(path);
        const Page page = parse(bytes);
        QVERIFY2(page.error.isEmpty(), qPrintable(page.error));
        QVERIFY(bytes.startsWith("<!DOCTYPE html>"));
        for (const char* outside : {"http:", "https:", "//", "@import", "url("})
            QVERIFY2(!bytes.contains(outside) || QByteArray(outside) == "//", outside);
        QCOMPARE(page.addresses, QStringList());
        QCOMPARE(page.elements.value(QStringLiteral("script")), 0);
        QCOMPARE(page.elements.value(QStringLiteral("svg")), 5);
        QVERIFY(page.elements.value(QStringLiteral("polyline")) +
                    page.elements.value(QStringLiteral("path")) >
                5);
        checkTexts(page, *window);
    }

    /// HTML closes no div by "/>".
    void nothingIsEmptyThatMayNotBe() {
        app::Report report;
        report.runs.resize(1);
        report.settings = QStringList{QString()};
        report.runs[0].settings = QStringList{QString()};
        const QByteArray page = app::toHtml(report);
        const QRegularExpression empty(QStringLiteral("<([a-z0-9]+)[^>]*/>"));
        auto found = empty.globalMatch(QString::fromUtf8(page));
        while (found.hasNext())
            QCOMPARE(found.next().captured(1), QStringLiteral("meta"));
        QVERIFY(parse(page).error.isEmpty());
    }

    void whatXmlCannotHoldIsReplaced() {
        app::Report report;
        report.title = QStringLiteral("bell \a and tab\t");
        QVERIFY(parse(app::toHtml(report)).error.isEmpty());
    }

    void aLogThatIsGoneIsSaid() {
        app::RunCollection runs;
        runs.add(1, tests::smallExperiment("Gone"));
        runs.setLog(1, "/no/such/metrics.jsonl");
        app::Report report = app::makeReport(runs, {});
        app::addEvents(report);
        QVERIFY(report.runs.at(0).events.empty());
        QVERIFY(report.runs.at(0).missing.contains(QStringLiteral("/no/such/metrics.jsonl")));
    }

    void aFileThatCannotBeWrittenIsAnError() {
        const auto window = finishedRace();
        QTRY_VERIFY_WITH_TIMEOUT(window->session()->state() == RunState::Finished, 60000);
        window->writeReport(QStringLiteral("/no/such/folder/report.html"));
        QTRY_COMPARE(window->banner()->messages().size(), 1);
        QVERIFY(window->banner()->messages().front().contains(QStringLiteral("/no/such/folder")));
    }

private:
    static void checkTexts(const Page& page, const app::MainWindow& window) {
        const auto all = [&](const char* element) {
            return page.texts.values(QString::fromLatin1(element)).join(u'\n');
        };
        const QString hostile = QString::fromLatin1(kHostile);
        QVERIFY(all("h1").contains(hostile) && all("title").contains(hostile));
        QVERIFY(all("th").contains(hostile));
        QVERIFY(all("th").contains(QStringLiteral("Method")));
        QVERIFY(!all("th").contains(QStringLiteral("Hidden"))); // the same in both
        QVERIFY(all("td").contains(QStringLiteral("parameter_changed")));
        QVERIFY(all("p.muted").contains(QStringLiteral("cores")));
        const QStringList commands = page.texts.values(QStringLiteral("pre.command"));
        QCOMPARE(commands.size(), 2);
        const QStringList experiments = page.texts.values(QStringLiteral("pre.experiment"));
        QCOMPARE(experiments.size(), 2);
        for (const widgets::RunInfo& run : window.runs()->list()) {
            const engine::Experiment& made = window.runs()->find(run.id)->atStart;
            const std::string json = engine::toJson(made);
            QVERIFY(experiments.contains(QString::fromStdString(json)));
            const auto read = engine::parseExperiments(json, "the report");
            QVERIFY(engine::toJson(read.front()) == json);
            QVERIFY(commands.contains(QStringLiteral("gradlab-cli train ") +
                                      QString::fromStdString(engine::commandLineOptions(made))));
        }
    }
};

QTEST_MAIN(TestReport)
#include "test_report.moc"
