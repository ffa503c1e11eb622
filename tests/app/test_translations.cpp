// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Whether a translation would reach all that is to be read: with a translator that puts «» around
// what it is asked for, no words of the window stay without them but names and what files say.
#include "tests/support/furnished_window.h"
#include "tests/support/ink_recorder.h"
#include "tests/support/window_settings.h"
#include "widgets/field_text.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAction>
#include <QApplication>
#include <QGroupBox>
#include <QHeaderView>
#include <QLabel>
#include <QRegularExpression>
#include <QSet>
#include <QTabBar>
#include <QTest>
#include <QTranslator>

using namespace gradlab;
using engine::RunState;

namespace {

class Quoting final : public QTranslator {
public:
    [[nodiscard]] QString translate(const char* context, const char* source,
                                    const char* /*disambiguation*/, int /*n*/) const override {
        // Qt's own texts have translations of their own.
        if (QByteArray(context).startsWith('Q') || *source == '\0')
            return {};
        return u'«' + QString::fromUtf8(source) + u'»';
    }
    [[nodiscard]] bool isEmpty() const override { return false; }
};

/// What is outside of the quotes.
QString bare(const QString& text) {
    QString rest;
    int depth = 0;
    for (const QChar character : text) {
        depth += character == u'«' ? 1 : 0;
        if (depth == 0)
            rest += character;
        depth -= character == u'»' ? 1 : 0;
    }
    return rest;
}

/// Words that files, commands and logs have as they are, in any language.
QSet<QString> knownWords() {
    const QString names = QStringLiteral(
        "gradlab Dense Top KiB MiB QSGD worker localhost " // of programs, runs, units, tests
        "an error warning fact offer Take it "
        "Ctrl Shift Alt Esc Del Up Down Float Close Scroll Left Right " // Qt's own to translate
        "None dense Mbit batch not multiple give "              // what the engine says of the form
        "none method residual loss completed active lost tcp"); // as logs have them
    const QStringList list = names.split(u' ');
    QSet<QString> words(list.begin(), list.end());
    for (const engine::FieldSpec& field : engine::experimentSchema())
        for (const std::string& choice : field.choices)
            words << QString::fromStdString(choice);
    return words;
}

} // namespace

class TestTranslations : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() {
        tests::prepareWindowTests();
        qApp->installTranslator(&quoting_);
        window_ = tests::unfurnishedWindow();
        window_->startOrResume();
        QTRY_VERIFY_WITH_TIMEOUT(window_->session()->state() == RunState::Finished, 60000);
        window_->gradient()->refresh();
        tests::furnish(*window_);
    }
    void cleanupTestCase() { window_.reset(); }

    void theTestSeesWhatIsNotTranslated() {
        QCOMPARE(bare(QStringLiteral("a «b «c» d» e")), QStringLiteral("a  e"));
        QVERIFY(!isTranslated(QStringLiteral("Start «now»")));
        QVERIFY(isTranslated(QStringLiteral("«Start» 12 KiB")));
    }

    void commands() {
        for (const QAction* action : window_->findChildren<QAction*>())
            for (const QString& text : {action->text(), action->statusTip(), action->toolTip()})
                note(text, "an action");
        report();
    }

    void partsOfTheWindow() {
        for (const QWidget* widget : window_->findChildren<QWidget*>()) {
            if (qobject_cast<const widgets::FieldEditor*>(widget->parentWidget()) == nullptr &&
                qobject_cast<const widgets::FieldEditor*>(widget) == nullptr &&
                !widget->toolTip().contains(QStringLiteral("<qt><b>")))
                note(widget->toolTip(), "a tip");
            note(widget->accessibleName(), "an accessible name");
            if (const auto* label = qobject_cast<const QLabel*>(widget))
                note(label->text(), "a label");
            if (const auto* button = qobject_cast<const QAbstractButton*>(widget))
                note(button->text(), "a button");
            if (const auto* group = qobject_cast<const QGroupBox*>(widget))
                note(group->title(), "a group");
            if (const auto* tabs = qobject_cast<const QTabBar*>(widget))
                for (int tab = 0; tab < tabs->count(); ++tab)
                    note(tabs->tabText(tab) + tabs->tabToolTip(tab), "a tab");
            if (const auto* header = qobject_cast<const QHeaderView*>(widget))
                for (int at = 0; header->orientation() == Qt::Horizontal && at < header->count();
                     ++at)
                    note(header->model()->headerData(at, Qt::Horizontal).toString(), "a head");
        }
        report();
    }

    void whatIsPainted() {
        for (int view = 0; view < tests::kGradientViews.size(); ++view) {
            tests::arrange(*window_, view);
            tests::InkRecorder whole(window_->size());
            window_->render(&whole);
            static const QRegularExpression identifier(QStringLiteral("[a-z][._][a-z]|--"));
            for (const tests::Ink& ink : whole.inks()) {
                // A line of several, or around the letter of a key.
                const bool piece = ink.text.count(u'«') != ink.text.count(u'»');
                if (!piece && !ink.text.contains(u'…') && !ink.text.contains(identifier))
                    note(ink.text, "the window");
            }
            QVERIFY2(whole.inks().size() > 50, QByteArray::number(qsizetype(whole.inks().size())));
            for (const widgets::RunChart* chart : window_->board()->charts()) {
                const auto twin = chart->twin(QSize(900, 560), window_->board()->theme());
                tests::InkRecorder recorder(twin->size());
                QPainter painter(&recorder);
                twin->paint(painter);
                painter.end();
                for (const tests::Ink& ink : recorder.inks())
                    if (!ink.text.contains(u'…')) // cut, with its quotes
                        note(ink.text, "a chart");
            }
        }
        report();
    }

    void fieldsOfTheSchema() {
        for (const engine::FieldSpec& field : engine::experimentSchema()) {
            const QString label = u'«' + QString::fromStdString(field.label) + u'»';
            QCOMPARE(widgets::fieldLabel(field), label);
            const widgets::FieldEditor* editor =
                window_->panel()->form()->editor(QString::fromStdString(field.path));
            QCOMPARE(editor->accessibleName(), label);
            QVERIFY(editor->toolTip().contains(
                (u'«' + QString::fromStdString(field.help) + u'»').toHtmlEscaped()));
        }
    }

private:
    [[nodiscard]] bool isTranslated(const QString& text) const {
        static const QRegularExpression word(QStringLiteral("[A-Za-z]{3,}"));
        auto found = word.globalMatch(bare(text));
        while (found.hasNext())
            if (!known_.contains(found.next().captured()))
                return false;
        return true;
    }
    void note(const QString& text, const char* kind) {
        // What the engine found wrong, in the words of the command line.
        if (!isTranslated(text) && !text.contains(QStringLiteral("(--")))
            untranslated_ << QStringLiteral("%1: %2").arg(QLatin1String(kind), text);
    }
    void report() {
        untranslated_.removeDuplicates();
        const QStringList found = std::exchange(untranslated_, {});
        QVERIFY2(found.isEmpty(), qPrintable(found.mid(0, 60).join(u'\n')));
    }

    Quoting quoting_;
    QSet<QString> known_ = knownWords();
    std::unique_ptr<app::MainWindow> window_;
    QStringList untranslated_;
};

QTEST_MAIN(TestTranslations)
#include "test_translations.moc"
