// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// One field's text: rates, durations, numbers, words; what is refused and how it is said.
#include "engine/core/errors.h"
#include "engine/training/experiment_schema.h"
#include "tests/support/sample_records.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <optional>

using namespace gradlab::engine;
using gradlab::tests::CommaLocale;

namespace {

const FieldSpec& fieldOf(const char* path) {
    const FieldSpec* field = findField(path);
    if (field == nullptr)
        throw std::runtime_error(std::string("no field ") + path);
    return *field;
}

double parseReal(const char* path, const QString& text) {
    return std::get<double>(parseFieldValue(fieldOf(path), text.toStdString()));
}

} // namespace

class TestFieldText : public QObject {
    Q_OBJECT

private slots:
    void quantities_data() {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("text");
        QTest::addColumn<double>("value");
        QTest::addColumn<QString>("formatted");
        const QString rate = "cluster.link.bandwidth";
        const QString time = "cluster.link.latency";
        QTest::newRow("100Mbit") << rate << "100Mbit" << 100e6 << "100Mbit";
        QTest::newRow("10Gbit/s") << rate << "10Gbit/s" << 10e9 << "10Gbit";
        QTest::newRow("plain") << rate << "9600" << 9600.0 << "9.6kbit";
        QTest::newRow("fraction") << rate << "1.5Mbit" << 1.5e6 << "1.5Mbit";
        QTest::newRow("case, space") << rate << "2 MBIT" << 2e6 << "2Mbit";
        QTest::newRow("exponent") << rate << "1e7" << 1e7 << "10Mbit";
        QTest::newRow("exponent, unit") << rate << "1e+1kbit" << 1e4 << "10kbit";
        QTest::newRow("odd") << rate << "123456.789" << 123456.789 << "123456.789";
        QTest::newRow("unlimited")
            << rate << "unlimited" << std::numeric_limits<double>::infinity() << "unlimited";
        QTest::newRow("follows") << "cluster.link.server_bandwidth"
                                 << "as-bandwidth" << 0.0 << "as-bandwidth";
        QTest::newRow("1ms") << time << "1ms" << 1e-3 << "1ms";
        QTest::newRow("20us") << time << "20us" << 20e-6 << "20us";
        QTest::newRow("0.5s") << time << "0.5s" << 0.5 << "500ms";
        QTest::newRow("seconds") << time << "2" << 2.0 << "2s";
        QTest::newRow("zero") << time << "0" << 0.0 << "0s";
        QTest::newRow("3ns") << time << "3ns" << 3e-9 << "3ns";
    }
    void quantities() {
        QFETCH(QString, path);
        QFETCH(QString, text);
        QFETCH(double, value);
        QFETCH(QString, formatted);
        const FieldSpec& field = fieldOf(path.toUtf8().constData());
        const FieldValue parsed = parseFieldValue(field, text.toStdString());
        QVERIFY(std::get<double>(parsed) == value); // the same bits
        const std::string written = formatFieldValue(field, parsed);
        QCOMPARE(QString::fromStdString(written), formatted);
        QVERIFY(parseFieldValue(field, written) == parsed);
    }

    void refused_data() {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("text");
        const QString rate = "cluster.link.bandwidth";
        for (const char* text : {"", "fast", "Mbit", "-5Mbit", "0", "nan", "inf", "0x10", "1e400",
                                 "5 parsecs", "100Mbit 7", "1,5Mbit", "as-bandwidth", "1e", "+5"})
            QTest::addRow("rate '%s'", text) << rate << text;
        for (const char* text : {"", "soon", "-1ms", "nan", "61s", "1h"})
            QTest::addRow("time '%s'", text) << "cluster.link.latency" << text;
        for (const char* text : {"nan", "inf", "-1", "1e400", "1,5", "20 ", "", "abc"})
            QTest::addRow("lr '%s'", text) << "training.lr" << text;
        for (const char* text :
             {"1.5", "-1", "99999999999999999999", "4000000001", "1e3", "0x10", " 1", ""})
            QTest::addRow("steps '%s'", text) << "training.steps" << text;
        for (const char* text : {"0", "1.0000001", "-0.5"})
            QTest::addRow("ratio '%s'", text) << "compression.ratio" << text;
        for (const char* text : {"", "TopK", "top-k", "lz4"})
            QTest::addRow("method '%s'", text) << "compression.method" << text;
        for (const char* text : {"", "maybe", "2"})
            QTest::addRow("tied '%s'", text) << "model.tied" << text;
    }
    void refused() {
        QFETCH(QString, path);
        QFETCH(QString, text);
        try {
            (void)parseFieldValue(fieldOf(path.toUtf8().constData()), text.toStdString());
            QFAIL("accepted");
        } catch (const ExperimentError& error) {
            const QString message = error.what();
            QCOMPARE(QString::fromStdString(error.field()), path);
            QVERIFY2(message.contains(path) && message.contains("; give "), error.what());
            QVERIFY2(!message.contains('\n'), error.what());
        }
    }

    void messageSaysEverything() {
        try {
            (void)parseFieldValue(fieldOf("compression.ratio"), "2");
            QFAIL("accepted");
        } catch (const ExperimentError& error) {
            QCOMPARE(QString(error.what()),
                     QString("ratio is 2: compression.ratio (--ratio); give a number in (0, 1]"));
        }
    }

    void hostileTextStaysOnOneLine() {
        using namespace std::string_literals;
        const std::string text = "a\nb\x1b[31m\0c"s + std::string(5000, 'x');
        try {
            (void)parseFieldValue(fieldOf("training.lr"), text);
            QFAIL("accepted");
        } catch (const ExperimentError& error) {
            const std::string message = error.what();
            QVERIFY(message.size() < 300);
            for (const char c : message)
                QVERIFY(static_cast<unsigned char>(c) >= 0x20);
        }
    }

    void everyDefaultReadsBack() {
        for (const FieldSpec& field : experimentSchema()) {
            const std::string text = formatFieldValue(field, field.defaultValue);
            QVERIFY2(parseFieldValue(field, text) == field.defaultValue, field.path.c_str());
        }
    }

    void realsReadBackBitForBit() {
        const FieldSpec& field = fieldOf("training.lr");
        for (const double value : {0.1, 1.0 / 3.0, 1e-300, 5e-324, 123456.789, 20.0, 0.0}) {
            const std::string text = formatFieldValue(field, FieldValue(value));
            QVERIFY2(std::get<double>(parseFieldValue(field, text)) == value, text.c_str());
        }
    }

    void commaLocaleChangesNothing() {
        std::optional<CommaLocale> comma(std::in_place);
        const double lr = parseReal("training.lr", "0.25");
        const std::string text = formatFieldValue(fieldOf("training.lr"), FieldValue(1234.5));
        const std::string rate = formatFieldValue(fieldOf("cluster.link.bandwidth"), 1.5e6);
        comma.reset();
        QVERIFY(lr == 0.25);
        QCOMPARE(QString::fromStdString(text), QString("1234.5"));
        QCOMPARE(QString::fromStdString(rate), QString("1.5Mbit"));
    }
};

QTEST_GUILESS_MAIN(TestFieldText)
#include "test_field_text.moc"
