// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/run_filter.h"

#include "widgets/run_table_model.h"

#include <algorithm>
#include <array>

namespace gradlab::app {

using widgets::RunTableModel;

RunFilter::RunFilter(QObject* parent) : QSortFilterProxyModel(parent) {
    setSortRole(RunTableModel::kSortRole);
    setSortCaseSensitivity(Qt::CaseInsensitive);
}

void RunFilter::setWords(const QString& text) {
    words_ = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

bool RunFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
    constexpr std::array<int, 5> kTexts = {RunTableModel::Name, RunTableModel::Method,
                                           RunTableModel::State, RunTableModel::Note,
                                           RunTableModel::Settings};
    return std::all_of(words_.begin(), words_.end(), [&](const QString& word) {
        return std::any_of(kTexts.begin(), kTexts.end(), [&](int column) {
            return sourceModel()
                ->index(row, column, parent)
                .data()
                .toString()
                .contains(word, Qt::CaseInsensitive);
        });
    });
}

} // namespace gradlab::app
