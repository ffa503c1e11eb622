// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/qt_warnings.h"
#include "widgets/icons.h"
#include "widgets/message_banner.h"
#include "widgets/status_progress.h"
#include "widgets/theme.h"

#include <QApplication>
#include <QLabel>
#include <QProgressBar>
#include <QTest>
#include <QToolButton>

#include <cmath>

using namespace gradlab::widgets;
using gradlab::tests::QtWarnings;

class TestTheme : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QtWarnings::install(); }
    void cleanup();
    void contrastFormula();
    void contrasts();
    void runColoursDiffer();
    void palettesAreRecognised();
    void iconsFollowThePalette();
    void bannerShowsAndDismisses();
    void bannerTextIsReadable();
    void progressSaysTimeLeft();
};

void TestTheme::cleanup() {
    const QByteArray warnings = QtWarnings::take();
    QVERIFY2(warnings.isEmpty(), warnings);
}

void TestTheme::contrastFormula() {
    QVERIFY(std::abs(contrastRatio(Qt::black, Qt::white) - 21.0) < 1e-9);
    QVERIFY(contrastRatio(Qt::red, Qt::red) == 1.0);
    QVERIFY(std::abs(contrastRatio(QColor(0x777777), Qt::white) - 4.48) < 0.01);
}

void TestTheme::contrasts() {
    for (const bool dark : {false, true}) {
        const Theme theme = Theme::make(dark, false);
        const auto atLeast = [&](const QColor& ink, const QColor& paper, double least) {
            const QByteArray what = ink.name().toLatin1() + " on " + paper.name().toLatin1() +
                                    ": " + QByteArray::number(contrastRatio(ink, paper));
            QVERIFY2(contrastRatio(ink, paper) >= least, what);
        };
        for (const QColor& text : {theme.text, theme.mutedText, theme.error, theme.warning})
            atLeast(text, theme.background, 4.5);
        atLeast(theme.error, theme.errorBackground, 4.5);
        atLeast(theme.warning, theme.warningBackground, 4.5);
        for (int run = 0; run < Theme::kRunColours; ++run)
            atLeast(theme.runColour(run), theme.background, 3.0);
        for (const QColor& part :
             {theme.compute, theme.compression, theme.network, theme.server, theme.turn})
            atLeast(part, theme.background, 3.0);
        const QPalette palette = themePalette(dark);
        for (const QColor& difference : {theme.better, theme.worse}) {
            atLeast(difference, palette.color(QPalette::Base), 4.5);
            atLeast(difference, palette.color(QPalette::AlternateBase), 4.5);
        }
        atLeast(palette.color(QPalette::WindowText), palette.color(QPalette::Window), 4.5);
        atLeast(theme.error, palette.color(QPalette::Window), 4.5);
        atLeast(theme.warning, palette.color(QPalette::Window), 4.5);
        atLeast(palette.color(QPalette::ButtonText), palette.color(QPalette::Button), 4.5);
        atLeast(palette.color(QPalette::HighlightedText), palette.color(QPalette::Highlight), 4.5);
        atLeast(palette.color(QPalette::ToolTipText), palette.color(QPalette::ToolTipBase), 4.5);
    }
}

void TestTheme::runColoursDiffer() {
    for (const bool dark : {false, true}) {
        const Theme theme = Theme::make(dark, false);
        for (int a = 0; a < Theme::kRunColours; ++a)
            for (int b = 0; b < a; ++b) {
                const QColor x = theme.runColour(a);
                const QColor y = theme.runColour(b);
                const int apart = std::abs(x.red() - y.red()) + std::abs(x.green() - y.green()) +
                                  std::abs(x.blue() - y.blue());
                QVERIFY(apart > 60);
            }
        QCOMPARE(theme.runColour(Theme::kRunColours), theme.runColour(0));
    }
}

void TestTheme::palettesAreRecognised() {
    QVERIFY(isDark(themePalette(true)));
    QVERIFY(!isDark(themePalette(false)));
    QVERIFY(Theme::fromPalette(themePalette(true), false).dark);
}

void TestTheme::iconsFollowThePalette() {
    for (const IconName name :
         {IconName::Start, IconName::Pause, IconName::Step, IconName::Stop, IconName::Reset,
          IconName::Present, IconName::Fold, IconName::Error, IconName::Warning}) {
        const QImage light = icon(name, themePalette(false)).pixmap(24, 24).toImage();
        const QImage dark = icon(name, themePalette(true)).pixmap(24, 24).toImage();
        QVERIFY(!light.isNull() && light != dark);
        int painted = 0;
        for (int y = 0; y < light.height(); ++y)
            for (int x = 0; x < light.width(); ++x)
                painted += light.pixelColor(x, y).alpha() > 128 ? 1 : 0;
        QVERIFY(painted > 30);
    }
}

void TestTheme::bannerShowsAndDismisses() {
    QWidget window;
    MessageBanner banner(&window);
    window.show();
    QVERIFY(!banner.isVisible());
    banner.showMessage(MessageBanner::Severity::Error, QStringLiteral("no such file"));
    banner.showMessage(MessageBanner::Severity::Error, QStringLiteral("no such file"));
    QVERIFY(banner.isVisible());
    QCOMPARE(banner.messages(), QStringList{QStringLiteral("no such file")});
    for (int i = 0; i < 10; ++i)
        banner.showMessage(MessageBanner::Severity::Warning, QString::number(i));
    QCOMPARE(banner.messages().size(), MessageBanner::kMaxLines);
    QCOMPARE(banner.messages().back(), QStringLiteral("9"));
    const auto close = banner.findChildren<QToolButton*>();
    QTest::mouseClick(close.back(), Qt::LeftButton);
    QCOMPARE(banner.messages().size(), MessageBanner::kMaxLines - 1);
    banner.clear();
    QVERIFY(!banner.isVisible() && banner.messages().isEmpty());
}

void TestTheme::bannerTextIsReadable() {
    for (const bool dark : {false, true}) {
        QWidget window;
        window.setPalette(themePalette(dark));
        MessageBanner banner(&window);
        banner.showMessage(MessageBanner::Severity::Error, QStringLiteral("text"));
        const auto labels = banner.findChildren<QLabel*>();
        for (const QLabel* label : labels)
            QVERIFY(contrastRatio(label->palette().color(QPalette::WindowText),
                                  label->palette().color(QPalette::Window)) >= 4.5);
    }
}

void TestTheme::progressSaysTimeLeft() {
    QCOMPARE(timeLeftText(42.0), QStringLiteral("about 42 s left"));
    QCOMPARE(timeLeftText(600.0), QStringLiteral("about 10 min left"));
    StatusProgress progress;
    progress.show();
    progress.setProgress(150, 600, 42.0, 33.4);
    QVERIFY(progress.findChild<QLabel*>()->text().contains(QStringLiteral("150")));
    QCOMPARE(progress.findChild<QProgressBar*>()->value(), 250);
    progress.setProgress(150, 0, 0.0, 33.4);
    QVERIFY(!progress.findChild<QProgressBar*>()->isVisible());
    progress.setLoading(QStringLiteral("reading"), -1.0);
    QCOMPARE(progress.findChild<QProgressBar*>()->maximum(), 0);
}

QTEST_MAIN(TestTheme)
#include "test_theme.moc"
