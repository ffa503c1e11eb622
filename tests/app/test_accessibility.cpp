// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The window for somebody without a mouse, without eyes for it, or with other eyes: every part of
// the real window is opened and walked. Keys reach what can be used, everything that can be used
// has a name and a tip, every field its meaning and its limits, and text can be read.
#include "app/chart_board.h"
#include "app/experiment_panel.h"
#include "app/gradient_panel.h"
#include "app/main_window.h"
#include "app/run_collection.h"
#include "app/tuning_bar.h"
#include "app/worker_panel.h"
#include "engine/training/experiment_schema.h"
#include "tests/support/furnished_window.h"
#include "tests/support/ink_recorder.h"
#include "tests/support/small_run.h"
#include "tests/support/window_settings.h"
#include "widgets/experiment_form.h"
#include "widgets/field_editor.h"
#include "widgets/gradient_inspector.h"
#include "widgets/message_banner.h"
#include "widgets/plot_widget.h"
#include "widgets/run_strip.h"
#include "widgets/theme.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSlider>
#include <QAbstractSpinBox>
#include <QAccessible>
#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QScrollBar>
#include <QSet>
#include <QSpinBox>
#include <QTabBar>
#include <QTest>
#include <QToolBar>
#include <QToolButton>
#include <QWidgetAction>

#include <functional>
#include <map>

using namespace gradlab;
using engine::RunState;
using tests::arrange;
using tests::kGradientViews;

namespace {

constexpr double kTextContrast = 4.5; // WCAG 2, 1.4.3
constexpr int kMostTabs = 1000;
constexpr double kLargestExact = 9007199254740992.0; // 2^53

bool isPartOfAnother(const QWidget& widget) {
    const QWidget* parent = widget.parentWidget();
    const bool inSpin = qobject_cast<const QAbstractSpinBox*>(parent) != nullptr;
    const bool inCombo = qobject_cast<const QComboBox*>(parent) != nullptr;
    const bool inLine = qobject_cast<const QLineEdit*>(parent) != nullptr;
    const bool inTabs = qobject_cast<const QTabBar*>(parent) != nullptr; // arrow keys
    const bool inTable = qobject_cast<const QAbstractButton*>(&widget) != nullptr &&
                         qobject_cast<const QAbstractItemView*>(parent) != nullptr;
    return inSpin || inCombo || inLine || inTabs || inTable;
}

/// What the mouse can use; a dock's own little buttons are the View menu's entries.
bool isInteractive(const QWidget& widget) {
    if (isPartOfAnother(widget) || widget.inherits("QScrollBar") ||
        widget.inherits("QHeaderView") || widget.inherits("QDockWidgetTitleButton") ||
        widget.inherits("QToolBarExtension"))
        return false;
    if (const auto* tabs = qobject_cast<const QTabBar*>(&widget))
        return tabs->count() > 1;
    return qobject_cast<const QAbstractButton*>(&widget) != nullptr ||
           qobject_cast<const QComboBox*>(&widget) != nullptr ||
           qobject_cast<const QAbstractSpinBox*>(&widget) != nullptr ||
           qobject_cast<const QLineEdit*>(&widget) != nullptr ||
           qobject_cast<const QAbstractSlider*>(&widget) != nullptr ||
           qobject_cast<const QAbstractItemView*>(&widget) != nullptr ||
           qobject_cast<const widgets::RunStrip*>(&widget) != nullptr ||
           (QByteArray(widget.metaObject()->className()).startsWith("gradlab::widgets") &&
            widget.focusPolicy() != Qt::NoFocus);
}

QList<QWidget*> interactiveParts(const QWidget& window) {
    QList<QWidget*> parts;
    for (QWidget* widget : window.findChildren<QWidget*>())
        if (widget->isVisible() && widget->window() == &window && isInteractive(*widget))
            parts.push_back(widget);
    return parts;
}

QString nameOf(QWidget& widget) {
    const QAccessibleInterface* interface = QAccessible::queryAccessibleInterface(&widget);
    return interface == nullptr ? QString() : interface->text(QAccessible::Name);
}

/// For the message of a test that fails.
QByteArray describe(const QWidget& widget) {
    QByteArray text;
    for (const QWidget* at = &widget; at != nullptr; at = at->parentWidget())
        text +=
            QByteArray(at->metaObject()->className()) + " '" + at->objectName().toUtf8() + "' < ";
    return text.left(400);
}

void collect(const QMenu& menu, QSet<QAction*>& actions) {
    for (QAction* action : menu.actions()) {
        actions.insert(action);
        if (action->menu() != nullptr)
            collect(*action->menu(), actions);
    }
}

QSet<QAction*> menuActions(const QMainWindow& window) {
    QSet<QAction*> actions;
    for (QAction* title : window.menuBar()->actions()) {
        actions.insert(title);
        collect(*title->menu(), actions);
    }
    return actions;
}

bool isActionOfMenu(const QAbstractButton& button, const QSet<QAction*>& inMenus) {
    const auto* tool = qobject_cast<const QToolButton*>(&button);
    return tool != nullptr && tool->defaultAction() != nullptr &&
           inMenus.contains(tool->defaultAction());
}

/// Where the Tab key goes from the widget that has the keyboard, until it comes to a place for the
/// second time.
QSet<QWidget*> tabWalk(Qt::KeyboardModifiers modifiers) {
    QSet<QWidget*> seen;
    for (int i = 0; i < kMostTabs && QApplication::focusWidget() != nullptr; ++i) {
        if (seen.contains(QApplication::focusWidget()) && i > 0)
            break;
        seen.insert(QApplication::focusWidget());
        QTest::keyClick(QApplication::focusWidget(),
                        modifiers == Qt::NoModifier ? Qt::Key_Tab : Qt::Key_Backtab, modifiers);
    }
    return seen;
}

/// The colour that a piece of a picture has most of.
QColor paperOf(const QImage& picture, const QRect& box) {
    std::map<QRgb, int> counts;
    for (int y = box.top(); y <= box.bottom(); ++y)
        for (int x = box.left(); x <= box.right(); ++x)
            ++counts[picture.pixel(x, y)];
    const auto most =
        std::max_element(counts.begin(), counts.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == counts.end() ? QColor() : QColor::fromRgb(most->first);
}

bool isReadable(const tests::Ink& ink, const QImage& picture, QByteArray& why) {
    // A letter alone has more ink than paper.
    const QRect box = ink.box.toAlignedRect().adjusted(-3, -1, 3, 1) & picture.rect();
    if (box.isEmpty())
        return true;
    const QColor paper = paperOf(picture, box);
    const double contrast = widgets::contrastRatio(ink.colour, paper);
    if (contrast >= kTextContrast)
        return true;
    why = '"' + ink.text.toUtf8() + "\" in " + ink.colour.name().toLatin1() + " on " +
          paper.name().toLatin1() + ": " + QByteArray::number(contrast, 'f', 2);
    return false;
}

} // namespace

class TestAccessibility : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() {
        tests::prepareWindowTests();
        QApplication::setPalette(widgets::themePalette(false));
        window_ = tests::unfurnishedWindow();
        QVERIFY(QTest::qWaitForWindowActive(window_.get()));
        window_->startOrResume();
        QTRY_VERIFY_WITH_TIMEOUT(window_->session()->state() == RunState::Finished, 60000);
        window_->gradient()->refresh();
        tests::furnish(*window_);
    }
    void cleanup() { QCOMPARE(tests::QtWarnings::take(), QByteArray()); }
    void cleanupTestCase() { window_.reset(); }

    void theTabKeyReachesEverything() {
        const QSet<QAction*> inMenus = menuActions(*window_);
        for (int view = 0; view < kGradientViews.size(); ++view) {
            arrange(*window_, view);
            for (const auto modifiers : {Qt::NoModifier, Qt::ShiftModifier}) {
                window_->board()->setFocus();
                const QSet<QWidget*> reached = tabWalk(modifiers);
                QVERIFY(reached.size() > 30);
                for (const QWidget* part : interactiveParts(*window_)) {
                    const auto* button = qobject_cast<const QAbstractButton*>(part);
                    if (!part->isEnabled() || (button && isActionOfMenu(*button, inMenus)))
                        continue;
                    auto* own = const_cast<QWidget*>(part);
                    const bool is = reached.contains(own) || reached.contains(part->focusProxy());
                    QVERIFY2(is, describe(*part));
                }
            }
        }
    }

    void everythingHasANameAndATip() {
        for (int view = 0; view < kGradientViews.size(); ++view) {
            arrange(*window_, view);
            for (QWidget* part : interactiveParts(*window_)) {
                QVERIFY2(!nameOf(*part).trimmed().isEmpty(), describe(*part));
                // Tabs have one each; a chart's would cover what it shows, and says more itself.
                const bool tellsItself = qobject_cast<QTabBar*>(part) != nullptr ||
                                         qobject_cast<widgets::PlotWidget*>(part) != nullptr ||
                                         !part->accessibleDescription().isEmpty();
                QVERIFY2(tellsItself || !part->toolTip().isEmpty(), describe(*part));
            }
        }
    }

    /// Those of the toolkit for files are its own.
    void dialogsAreReachedByKeysAndNamed() {
        int opened = 0;
        for (QAction* action : menuActions(*window_)) {
            const QString name = action->text().remove(u'&');
            const bool opens = name.endsWith(u'…') || name.startsWith(QStringLiteral("About")) ||
                               name.contains(QStringLiteral("First Look"));
            if (!opens || !action->isEnabled())
                continue;
            action->trigger();
            for (QDialog* dialog : window_->findChildren<QDialog*>()) {
                if (dialog->isVisible() && qobject_cast<QFileDialog*>(dialog) == nullptr) {
                    checkDialog(*dialog);
                    ++opened;
                }
                dialog->close();
            }
            QTRY_VERIFY(window_->findChildren<QDialog*>().isEmpty());
            if (QTest::currentTestFailed())
                return;
        }
        QVERIFY2(opened >= 4, QByteArray::number(opened)); // about, lesson, layout, worker
    }

    void theStripIsUsedByKeys() {
        auto* strip = window_->findChild<widgets::RunStrip*>();
        QVERIFY(strip->cards().size() == 2);
        std::vector<int> chosen;
        connect(strip, &widgets::RunStrip::runClicked, this, [&](int id) { chosen.push_back(id); });
        strip->setFocus();
        for (const Qt::Key key :
             {Qt::Key_Left, Qt::Key_Enter, Qt::Key_Right, Qt::Key_Right, Qt::Key_Return})
            QTest::keyClick(strip, key);
        QCOMPARE(chosen, (std::vector<int>{strip->cards()[0].id, strip->cards()[1].id}));
        QVERIFY(strip->accessibleDescription().startsWith(strip->cards()[1].name));
        disconnect(strip, &widgets::RunStrip::runClicked, this, nullptr);
    }

    void everyTabHasATip() {
        for (const QTabBar* tabs : window_->board()->findChildren<QTabBar*>() +
                                       window_->gradient()->findChildren<QTabBar*>())
            for (int tab = 0; tab < tabs->count(); ++tab)
                QVERIFY2(!tabs->tabToolTip(tab).isEmpty(), qPrintable(tabs->tabText(tab)));
    }

    void everyFieldSaysWhatItMeansAndHasLimits() {
        QCOMPARE(engine::experimentSchema().empty(), false);
        for (const engine::FieldSpec& field : engine::experimentSchema()) {
            const widgets::FieldEditor* editor =
                window_->panel()->form()->editor(QString::fromStdString(field.path));
            QVERIFY2(editor != nullptr, field.path.c_str());
            checkTip(field, editor->toolTip());
            checkLimits(field, *editor);
        }
    }

    void everyKnobSaysTheSame() {
        int knobs = 0;
        for (const widgets::FieldEditor* editor :
             window_->tuning()->findChildren<widgets::FieldEditor*>()) {
            checkTip(editor->field(), editor->toolTip());
            ++knobs;
        }
        QVERIFY(knobs > 5);
    }

    void everyCommandIsInAMenuAndSaysWhatItDoes() {
        const QSet<QAction*> inMenus = menuActions(*window_);
        std::map<QString, QString> keys;
        for (QAction* action : window_->findChildren<QAction*>()) {
            const QByteArray owner = action->parent()->metaObject()->className();
            const bool isOurs =
                owner.startsWith("gradlab") || owner == "QDockWidget" || owner == "QActionGroup" ||
                action ==
                    window_->findChild<QToolBar*>(QStringLiteral("runToolBar"))->toggleViewAction();
            const bool isWidget = qobject_cast<QWidgetAction*>(action) != nullptr;
            if (action->isSeparator() || action->menu() != nullptr || isWidget || !isOurs)
                continue;
            QVERIFY2(inMenus.contains(action), qPrintable(action->text()));
            QString plain = action->text();
            plain.remove(u'&').remove(u'…');
            const bool tip = !action->toolTip().isEmpty() && action->toolTip() != plain;
            QVERIFY2(tip || !action->statusTip().isEmpty(), qPrintable(action->text()));
            for (const QKeySequence& key : action->shortcuts()) {
                const QString text = key.toString();
                QVERIFY2(!keys.contains(text) || keys[text] == action->text(),
                         qPrintable(text + u' ' + action->text()));
                keys[text] = action->text();
            }
        }
        QVERIFY(keys.size() > 20);
    }

    void textCanBeRead_data() {
        QTest::addColumn<bool>("dark");
        QTest::addColumn<bool>("presenting");
        QTest::newRow("light") << false << false;
        QTest::newRow("dark") << true << false;
        QTest::newRow("light, projector") << false << true;
        QTest::newRow("dark, projector") << true << true;
    }

    void textCanBeRead() {
        QFETCH(const bool, dark);
        QFETCH(const bool, presenting);
        QApplication::setPalette(widgets::themePalette(dark));
        window_->setPresenting(presenting);
        unreadable_.clear();
        int pieces = 0;
        for (int view = 0; view < kGradientViews.size(); ++view) {
            arrange(*window_, view);
            QCoreApplication::sendPostedEvents();
            if (auto* table = window_->findChild<QAbstractItemView*>(QStringLiteral("runTable")))
                table->selectionModel()->select(table->model()->index(0, 0),
                                                QItemSelectionModel::ClearAndSelect |
                                                    QItemSelectionModel::Rows);
            const QImage picture = window_->picture().toImage();
            tests::InkRecorder recorder(window_->size());
            window_->render(&recorder);
            pieces += checkInks(recorder, picture);
            for (const widgets::RunChart* chart : window_->board()->charts())
                pieces += checkChart(*chart);
        }
        window_->setPresenting(false);
        QVERIFY2(unreadable_.isEmpty(), unreadable_.mid(0, 10).join('\n'));
        QVERIFY2(pieces > 500, QByteArray::number(pieces));
    }

    void linesCanBeSeen() {
        for (const bool dark : {false, true}) {
            const widgets::Theme theme = widgets::Theme::make(dark, false);
            for (int run = 0; run < widgets::Theme::kRunColours; ++run)
                QVERIFY(widgets::contrastRatio(theme.runColour(run), theme.background) >= 3.0);
            for (const QColor& colour : {theme.mark, theme.axis, theme.compute, theme.compression,
                                         theme.network, theme.server, theme.turn})
                QVERIFY2(widgets::contrastRatio(colour, theme.background) >= 3.0,
                         colour.name().toLatin1());
        }
    }

private:
    static void checkDialog(QDialog& dialog) {
        QVERIFY(!dialog.windowTitle().isEmpty());
        QVERIFY(QTest::qWaitForWindowActive(&dialog));
        const auto hasKeyboard = [&] {
            const QWidget* at = QApplication::focusWidget();
            return at != nullptr && at->window() == &dialog;
        };
        QTRY_VERIFY2(hasKeyboard(), describe(dialog));
        const QSet<QWidget*> reached = tabWalk(Qt::NoModifier);
        for (QWidget* part : interactiveParts(dialog)) {
            QVERIFY2(!nameOf(*part).trimmed().isEmpty(), describe(*part));
            QVERIFY2(reached.contains(part) || !part->isEnabled(), describe(*part));
        }
    }

    static void checkTip(const engine::FieldSpec& field, const QString& tip) {
        QVERIFY2(!field.help.empty() && !field.label.empty(), field.path.c_str());
        for (const std::string& part :
             {field.label, field.help, field.equation, field.source, engine::allowedValues(field)})
            QVERIFY2(tip.contains(QString::fromStdString(part).toHtmlEscaped()),
                     (field.path + " lacks " + part).c_str());
        QVERIFY2(!engine::allowedValues(field).empty(), field.path.c_str());
    }

    static void checkLimits(const engine::FieldSpec& field, const widgets::FieldEditor& editor) {
        const char* path = field.path.c_str();
        if (const auto* spin = editor.findChild<QDoubleSpinBox*>()) {
            QVERIFY2(field.minimum && spin->minimum() == *field.minimum, path);
            QVERIFY2(spin->maximum() == field.maximum.value_or(kLargestExact), path);
        } else if (const auto* box = editor.findChild<QComboBox*>()) {
            QVERIFY2(!box->isEditable(), path);
            for (const std::string& choice : field.choices)
                QVERIFY2(box->findText(QString::fromStdString(choice)) >= 0, path);
        } else if (auto* line = editor.findChild<QLineEdit*>()) {
            QVERIFY2(line->maxLength() <= 4096, path);
            if (field.type != engine::FieldType::Rate && field.type != engine::FieldType::Duration)
                return;
            const QString held = line->text();
            line->setText(QStringLiteral("nonsense"));
            Q_EMIT line->textEdited(line->text());
            QVERIFY2(!editor.textError().isEmpty(), path);
            line->setText(held);
            Q_EMIT line->textEdited(held);
            QVERIFY2(editor.textError().isEmpty(), path);
        } else {
            QVERIFY2(editor.findChild<QCheckBox*>() != nullptr, path);
        }
    }

    /// Text of what cannot be used now may be pale.
    int checkInks(const tests::InkRecorder& recorder, const QImage& picture) {
        int checked = 0;
        const QColor pale = window_->palette().color(QPalette::Disabled, QPalette::WindowText);
        for (const tests::Ink& ink : recorder.inks()) {
            const QWidget* under = window_->childAt(ink.box.center().toPoint());
            if ((under != nullptr && !under->isEnabled()) || ink.colour.rgb() == pale.rgb())
                continue;
            QByteArray why;
            if (!isReadable(ink, picture, why))
                unreadable_ << why + (under == nullptr ? QByteArray() : " of " + describe(*under));
            ++checked;
        }
        return checked;
    }

    int checkChart(const widgets::RunChart& chart) {
        const auto twin = chart.twin(QSize(900, 560), window_->board()->theme());
        QImage picture(twin->size(), QImage::Format_RGB32);
        QPainter onPicture(&picture);
        twin->paint(onPicture);
        onPicture.end();
        tests::InkRecorder recorder(twin->size());
        QPainter onRecorder(&recorder);
        twin->paint(onRecorder);
        onRecorder.end();
        for (const tests::Ink& ink : recorder.inks()) {
            QByteArray why;
            if (!isReadable(ink, picture, why))
                unreadable_ << why;
        }
        return static_cast<int>(recorder.inks().size());
    }

    std::unique_ptr<app::MainWindow> window_;
    QByteArrayList unreadable_; ///< text, with its colours
};

QTEST_MAIN(TestAccessibility)
#include "test_accessibility.moc"
