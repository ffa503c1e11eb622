// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Everything goes through QXmlStreamWriter, which escapes it. Elements that HTML does not let be
// empty never are.
#include "app/html_report.h"

#include <QCoreApplication>
#include <QLocale>
#include <QXmlStreamReader>
#include <QXmlStreamWriter>

namespace gradlab::app {
namespace {

constexpr const char* kStyle =
    "body{font:15px/1.45 system-ui,sans-serif;color:#1c1f23;background:#fff;margin:2em auto;"
    "max-width:72em;padding:0 1em}"
    "h1{font-size:1.6em}h2{font-size:1.25em;margin-top:2em}h3{font-size:1.05em}"
    "table{border-collapse:collapse;font-size:.9em}"
    "th,td{border:1px solid #c9ced4;padding:.3em .6em;text-align:left;vertical-align:top}"
    "th{background:#f1f3f5}tbody th{white-space:nowrap}td.n{text-align:right;white-space:nowrap}"
    ".wide{overflow-x:auto}.muted{color:#5a6068}"
    "figure{margin:1.5em 0}svg{max-width:100%;height:auto;border:1px solid #e4e7ea}"
    "pre,code{font:13px/1.4 ui-monospace,monospace}"
    "pre{background:#f6f8fa;border:1px solid #e4e7ea;padding:.6em;overflow-x:auto;"
    "white-space:pre-wrap;overflow-wrap:anywhere}"
    "summary{cursor:pointer}"
    "@media print{details{display:block}}";

class Page {
    Q_DECLARE_TR_FUNCTIONS(HtmlReport)

public:
    explicit Page(const Report& report) : report_(report), xml_(&bytes_) {}

    QByteArray write() {
        xml_.writeDTD(QStringLiteral("<!DOCTYPE html>"));
        open("html", {{"lang", QLocale().bcp47Name()}});
        head();
        open("body");
        introduction();
        overview();
        charts();
        for (std::size_t i = 0; i < report_.runs.size(); ++i)
            details(report_.runs[i], i + 1);
        close();
        close();
        return bytes_;
    }

private:
    using Attributes = std::initializer_list<std::pair<const char*, QString>>;

    void open(const char* name, Attributes attributes = {}) {
        xml_.writeStartElement(QLatin1String(name));
        for (const auto& [key, value] : attributes)
            xml_.writeAttribute(QLatin1String(key), value);
    }
    void close() { xml_.writeEndElement(); }
    void leaf(const char* name, const QString& text, Attributes attributes = {}) {
        open(name, attributes);
        xml_.writeCharacters(text.isEmpty() ? QStringLiteral("–") : clean(text));
        close();
    }
    /// Without what XML cannot hold at all.
    static QString clean(QString text) {
        for (QChar& character : text)
            if (character < u' ' && character != u'\n' && character != u'\t')
                character = QChar::ReplacementCharacter;
        return text;
    }

    void head() {
        open("head");
        open("meta", {{"charset", QStringLiteral("utf-8")}});
        close();
        open("meta", {{"name", QStringLiteral("viewport")},
                      {"content", QStringLiteral("width=device-width, initial-scale=1")}});
        close();
        leaf("title", report_.title);
        leaf("style", QString::fromLatin1(kStyle));
        close();
    }

    void introduction() {
        leaf("h1", report_.title);
        leaf("p",
             tr("%1 · made by %2 on %3")
                 .arg(QLocale().toString(report_.made, QLocale::LongFormat), report_.program,
                      report_.machine),
             {{"class", QStringLiteral("muted")}});
    }

    /// A row a run: what came of it, then what it does differently.
    void overview() {
        leaf("h2", tr("Runs"));
        open("div", {{"class", QStringLiteral("wide")}});
        open("table");
        open("thead");
        open("tr");
        leaf("th", tr("Run"), {{"scope", QStringLiteral("col")}});
        for (const QString& title : report_.results + report_.settings)
            leaf("th", title, {{"scope", QStringLiteral("col")}});
        close();
        close();
        open("tbody");
        for (const ReportRun& run : report_.runs)
            row(run);
        close();
        close();
        close();
        leaf("p",
             tr("After the results: the settings that differ between these runs. The rest of a "
                "run's "
                "settings is in its experiment below."),
             {{"class", QStringLiteral("muted")}});
    }

    void row(const ReportRun& run) {
        open("tr");
        open("th", {{"scope", QStringLiteral("row")}});
        leaf("span", QStringLiteral("■ "),
             {{"style", QStringLiteral("color:") + run.colour.name()},
              {"aria-hidden", QStringLiteral("true")}});
        xml_.writeCharacters(clean(run.name));
        close();
        for (const QString& value : run.results)
            leaf("td", value, {{"class", QStringLiteral("n")}});
        for (const QString& value : run.settings)
            leaf("td", value);
        close();
    }

    void charts() {
        leaf("h2", tr("Charts"));
        for (const ReportChart& chart : report_.charts) {
            open("figure");
            picture(chart);
            leaf("figcaption", chart.title);
            close();
        }
    }

    /// The drawing again, without what only a file of its own needs: declarations and namespaces.
    void picture(const ReportChart& chart) {
        QXmlStreamReader reader(chart.svg);
        int depth = 0;
        while (!reader.atEnd()) {
            switch (reader.readNext()) {
            case QXmlStreamReader::StartElement:
                pictureElement(reader, chart.title);
                ++depth;
                break;
            case QXmlStreamReader::EndElement:
                close();
                --depth;
                break;
            case QXmlStreamReader::Characters:
                xml_.writeCharacters(reader.text().toString());
                break;
            default:
                break;
            }
        }
        for (; depth > 0; --depth) // it was cut
            close();
    }

    void pictureElement(const QXmlStreamReader& reader, const QString& title) {
        const bool whole = reader.name() == QLatin1String("svg");
        xml_.writeStartElement(reader.name().toString());
        for (const QXmlStreamAttribute& attribute : reader.attributes()) {
            const QStringView name = attribute.name();
            // In millimetres of a page: here it is as wide as there is room.
            const bool ofPage =
                whole && (name == QLatin1String("width") || name == QLatin1String("height") ||
                          name == QLatin1String("baseProfile"));
            if (!ofPage && attribute.namespaceUri().isEmpty())
                xml_.writeAttribute(name.toString(), attribute.value().toString());
        }
        if (whole) {
            xml_.writeAttribute(QStringLiteral("role"), QStringLiteral("img"));
            xml_.writeAttribute(QStringLiteral("aria-label"), clean(title));
        }
    }

    void details(const ReportRun& run, std::size_t number) {
        leaf("h2", tr("%1. %2").arg(number).arg(run.name));
        leaf("p", QStringList{run.method, run.state, run.machine}.join(QStringLiteral(" · ")));
        leaf("h3", tr("Command line"));
        leaf("pre", run.commandLine, {{"class", QStringLiteral("command")}});
        leaf("h3", tr("Events"));
        events(run);
        open("details");
        leaf("summary", tr("experiment.json"));
        leaf("pre", run.experimentJson, {{"class", QStringLiteral("experiment")}});
        close();
    }

    void events(const ReportRun& run) {
        if (run.events.empty())
            leaf("p", run.missing.isEmpty() ? tr("None: nothing was changed and nobody was lost.")
                                            : run.missing);
        if (run.events.empty())
            return;
        open("div", {{"class", QStringLiteral("wide")}});
        open("table", {{"class", QStringLiteral("events")}});
        open("tbody");
        for (const ReportEvent& event : run.events) {
            open("tr");
            leaf("td", QLocale().toString(event.step), {{"class", QStringLiteral("n")}});
            leaf("td", event.kind);
            leaf("td", event.details);
            close();
        }
        close();
        close();
        close();
        if (!run.missing.isEmpty())
            leaf("p", run.missing);
    }

    const Report& report_;
    QByteArray bytes_;
    QXmlStreamWriter xml_;
};

} // namespace

QByteArray toHtml(const Report& report) {
    return Page(report).write();
}

} // namespace gradlab::app
