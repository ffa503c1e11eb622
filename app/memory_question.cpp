// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/memory_question.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>

namespace gradlab::app {

using engine::MemoryChange;

MemoryQuestion::MemoryQuestion(QWidget* parent) : QFrame(parent), text_(new QLabel(this)) {
    setObjectName(QStringLiteral("memoryQuestion"));
    setAccessibleName(tr("What becomes of what waits"));
    setFrameShape(QFrame::StyledPanel);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(6, 3, 6, 3);
    text_->setWordWrap(true);
    text_->setTextFormat(Qt::PlainText);
    row->addWidget(text_, 1);
    keep_ = addAnswer(MemoryChange::Keep, tr("Keep"),
                      tr("It waits in the new memory; with memory none it rests until there is a "
                         "memory again"));
    flush_ = addAnswer(MemoryChange::Flush, tr("Flush"),
                       tr("It is sent whole with the next step, which costs as many bytes as a "
                          "dense one; then the new memory starts empty. Nothing is lost, but "
                          "clipping may shorten that step as any other"));
    drop_ = addAnswer(MemoryChange::Drop, tr("Drop"), tr("It is lost: no step will ever send it"));
    auto* cancel = new QPushButton(tr("Cancel"), this);
    cancel->setFlat(true);
    cancel->setToolTip(tr("Leave the run as it is (Esc)"));
    row->addWidget(cancel);
    connect(cancel, &QPushButton::clicked, this, &MemoryQuestion::cancelled);
    hide();
}

QPushButton* MemoryQuestion::addAnswer(MemoryChange answer, const QString& text,
                                       const QString& tip) {
    auto* button = new QPushButton(text, this);
    button->setObjectName(QString::fromLatin1(engine::toString(answer)));
    button->setToolTip(tip);
    button->setAccessibleDescription(tip);
    layout()->addWidget(button);
    connect(button, &QPushButton::clicked, this, [this, answer] { Q_EMIT answered(answer); });
    return button;
}

void MemoryQuestion::ask(const QString& change, const QString& waits) {
    text_->setText(change + QLatin1Char('\n') + waits);
    setAccessibleDescription(text_->text());
    keep_->setDefault(true);
    show();
    keep_->setFocus(Qt::OtherFocusReason);
}

QPushButton* MemoryQuestion::button(MemoryChange answer) const {
    return answer == MemoryChange::Keep ? keep_ : answer == MemoryChange::Flush ? flush_ : drop_;
}

QString MemoryQuestion::text() const {
    return text_->text();
}

/// Escape and Return are answers here before they are commands of the window.
bool MemoryQuestion::event(QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Escape || key == Qt::Key_Return || key == Qt::Key_Enter)
            event->accept();
    }
    return QFrame::event(event);
}

void MemoryQuestion::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape) {
        Q_EMIT cancelled();
        return;
    }
    auto* focused = qobject_cast<QPushButton*>(focusWidget());
    if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && focused != nullptr)
        focused->click();
    else
        QFrame::keyPressEvent(event);
}

} // namespace gradlab::app
