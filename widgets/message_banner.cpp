// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/message_banner.h"

#include "widgets/icons.h"
#include "widgets/theme.h"

#include <QEvent>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QStringList>
#include <QToolButton>
#include <QVBoxLayout>

namespace gradlab::widgets {

namespace {

class BannerLine : public QFrame {
    Q_OBJECT

public:
    BannerLine(MessageBanner::Severity severity, const QString& text, QWidget* parent)
        : QFrame(parent), severity_(severity), text_(text), icon_(new QLabel(this)),
          label_(new QLabel(text, this)), close_(new QToolButton(this)) {
        auto* row = new QHBoxLayout(this);
        row->setContentsMargins(8, 4, 4, 4);
        row->addWidget(icon_);
        row->addWidget(label_, 1);
        row->addWidget(close_);
        label_->setTextFormat(Qt::PlainText);
        label_->setWordWrap(true);
        label_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
        close_->setText(QStringLiteral("×"));
        close_->setAutoRaise(true);
        close_->setToolTip(tr("Dismiss this message"));
        close_->setAccessibleName(tr("Dismiss this message"));
        setAutoFillBackground(true);
        setAccessibleName(text);
        connect(close_, &QToolButton::clicked, this, &BannerLine::dismissed);
        applyTheme();
    }
    void addButton(const QString& text, std::function<void()> accept) {
        auto* button = new QToolButton(this);
        button->setText(text);
        button->setToolTip(text_);
        qobject_cast<QHBoxLayout*>(layout())->insertWidget(layout()->count() - 1, button);
        connect(button, &QToolButton::clicked, this, [this, run = std::move(accept)] {
            Q_EMIT dismissed();
            run();
        });
    }
    [[nodiscard]] const QString& text() const { return text_; }

Q_SIGNALS:
    void dismissed();

protected:
    void changeEvent(QEvent* event) override {
        if (event->type() == QEvent::PaletteChange && !applying_)
            applyTheme();
        QFrame::changeEvent(event);
    }

private:
    void applyTheme() {
        applying_ = true;
        const Theme theme = Theme::fromPalette(parentWidget()->palette(), false);
        const bool error = severity_ == MessageBanner::Severity::Error;
        const bool plain = severity_ == MessageBanner::Severity::Information;
        const QColor ink = error ? theme.error : plain ? theme.text : theme.warning;
        QPalette colours = parentWidget()->palette();
        colours.setColor(QPalette::Window, error   ? theme.errorBackground
                                           : plain ? theme.background
                                                   : theme.warningBackground);
        colours.setColor(QPalette::WindowText, ink);
        setPalette(colours);
        icon_->setPixmap(icon(error ? IconName::Error : IconName::Warning, ink, ink).pixmap(18));
        icon_->setVisible(!plain);
        applying_ = false;
    }

    MessageBanner::Severity severity_;
    QString text_;
    QLabel* icon_;
    QLabel* label_;
    QToolButton* close_;
    bool applying_ = false; ///< setPalette itself sends a PaletteChange
};

} // namespace

MessageBanner::MessageBanner(QWidget* parent) : QWidget(parent), lines_(new QVBoxLayout(this)) {
    lines_->setContentsMargins(0, 0, 0, 0);
    lines_->setSpacing(1);
    hide();
}

void MessageBanner::showMessage(Severity severity, const QString& text) {
    if (messages().contains(text))
        return;
    auto* line = new BannerLine(severity, text, this);
    connect(line, &BannerLine::dismissed, this, [this, line] { remove(line); });
    add(line);
}

void MessageBanner::showOffer(const QString& text, const QString& button,
                              std::function<void()> accept) {
    if (messages().contains(text))
        return;
    auto* line = new BannerLine(Severity::Information, text, this);
    line->addButton(button, std::move(accept));
    connect(line, &BannerLine::dismissed, this, [this, line] { remove(line); });
    add(line);
}

void MessageBanner::add(QWidget* line) {
    lines_->addWidget(line);
    while (lines_->count() > kMaxLines)
        remove(lines_->itemAt(0)->widget());
    show();
}

void MessageBanner::remove(QWidget* line) {
    lines_->removeWidget(line);
    line->hide();
    line->deleteLater();
    setVisible(lines_->count() > 0);
}

void MessageBanner::clear() {
    while (lines_->count() > 0)
        remove(lines_->itemAt(0)->widget());
}

QStringList MessageBanner::messages() const {
    QStringList texts;
    for (int i = 0; i < lines_->count(); ++i)
        texts << qobject_cast<const BannerLine*>(lines_->itemAt(i)->widget())->text();
    return texts;
}

} // namespace gradlab::widgets

#include "message_banner.moc"
