// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A widget's accessible description, changed at most once a second: a screen reader repeats each
// change.
#pragma once

#include <QElapsedTimer>
#include <QString>
#include <QWidget>

namespace gradlab::widgets {

class SpokenSummary {
public:
    void say(QWidget& widget, const QString& text) {
        if (since_.isValid() && since_.elapsed() < kMilliseconds)
            return;
        sayNow(widget, text);
    }
    /// What the person has just asked for, whatever was said before.
    void sayNow(QWidget& widget, const QString& text) {
        since_.start();
        if (widget.accessibleDescription() != text)
            widget.setAccessibleDescription(text);
    }

private:
    static constexpr qint64 kMilliseconds = 1000;
    QElapsedTimer since_;
};

} // namespace gradlab::widgets
