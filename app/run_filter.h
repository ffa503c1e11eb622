// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of the run table that have every word of a text, in name, method, state, note or settings.
#pragma once

#include <QSortFilterProxyModel>
#include <QStringList>

namespace gradlab::app {

class RunFilter : public QSortFilterProxyModel {
    Q_OBJECT

public:
    explicit RunFilter(QObject* parent = nullptr);
    void setWords(const QString& text);

protected:
    [[nodiscard]] bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    QStringList words_;
};

} // namespace gradlab::app
