// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What shall become of what waits in a memory? A row with three answers that appears when method or
// memory of a run that is on are about to change. It holds nothing up: the run goes on as it was
// until somebody answers.
#pragma once

#include "engine/compression/gradient_compressor.h"

#include <QFrame>

class QLabel;
class QPushButton;

namespace gradlab::app {

class MemoryQuestion : public QFrame {
    Q_OBJECT

public:
    explicit MemoryQuestion(QWidget* parent = nullptr);

    /// Shows itself with the focus on Keep. `change`: "Method topk → qsgd of Top-k 1 %"; `waits`:
    /// what waits, in numbers.
    void ask(const QString& change, const QString& waits);
    [[nodiscard]] QPushButton* button(engine::MemoryChange answer) const;
    [[nodiscard]] QString text() const;

Q_SIGNALS:
    void answered(gradlab::engine::MemoryChange answer);
    /// The change is not to be made.
    void cancelled();

protected:
    bool event(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    QPushButton* addAnswer(engine::MemoryChange answer, const QString& text, const QString& tip);

    QLabel* text_;
    QPushButton* keep_;
    QPushButton* flush_;
    QPushButton* drop_;
};

} // namespace gradlab::app
