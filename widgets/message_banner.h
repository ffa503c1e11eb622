// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Errors and warnings as lines above the content, each of which can be dismissed.
#pragma once

#include <QString>
#include <QWidget>

#include <functional>

class QVBoxLayout;

namespace gradlab::widgets {

class MessageBanner : public QWidget {
    Q_OBJECT

public:
    enum class Severity { Error, Warning, Information };
    static constexpr int kMaxLines = 4; ///< the oldest goes when one more comes

    explicit MessageBanner(QWidget* parent = nullptr);
    /// The same text twice is shown once.
    void showMessage(Severity severity, const QString& text);
    /// The same with a button that does `accept` and dismisses the line.
    void showOffer(const QString& text, const QString& button, std::function<void()> accept);
    void clear();
    [[nodiscard]] QStringList messages() const;

private:
    void add(QWidget* line);
    void remove(QWidget* line);

    QVBoxLayout* lines_;
};

} // namespace gradlab::widgets
