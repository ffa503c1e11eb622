// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Progress and time left, for a status bar.
#pragma once

#include <QString>
#include <QWidget>

class QLabel;
class QProgressBar;

namespace gradlab::widgets {

class StatusProgress : public QWidget {
    Q_OBJECT

public:
    explicit StatusProgress(QWidget* parent = nullptr);
    /// `last` 0: no limit known. `secondsLeft` ≤ 0: unknown.
    void setProgress(quint64 step, quint64 last, double secondsLeft, double stepsPerSecond);
    /// While loading: a text and a share 0…1 (negative: unknown).
    void setLoading(const QString& text, double share);
    void setIdle(const QString& text);
    /// Comes before what is said of progress and loading: "1 of 3". Empty: nothing does.
    void setPrefix(const QString& prefix) { prefix_ = prefix; }

private:
    QString prefix_;
    QProgressBar* bar_;
    QLabel* label_;
};

/// "about 3 min left".
[[nodiscard]] QString timeLeftText(double seconds);

} // namespace gradlab::widgets
