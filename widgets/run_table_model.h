// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The session's runs as a table: colour, visibility, name and the latest numbers. kSortRole gives
// numbers for a QSortFilterProxyModel.
#pragma once

#include "widgets/run_info.h"
#include "widgets/theme.h"

#include <QAbstractTableModel>

#include <vector>

namespace gradlab::widgets {

class RunTableModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column {
        Name, ///< with colour and the check box of visibility
        Method,
        State,
        Step,
        TrainPerplexity,
        ValidPerplexity,
        BestPerplexity,
        TestPerplexity,
        BytesPerStep,
        TotalBytes,
        Ratio,
        SimulatedTime,
        WallTime,
        ColumnCount
    };
    static constexpr int kSortRole = Qt::UserRole;
    static constexpr int kRunIdRole = Qt::UserRole + 1;

    explicit RunTableModel(QObject* parent = nullptr);
    void setRuns(const RunList& runs);
    void setTheme(const Theme& theme);
    /// Takes the runs' latest numbers; emits dataChanged once, for the rows that changed.
    void refresh();
    [[nodiscard]] const RunList& runs() const noexcept { return runs_; }
    /// Tab-separated, with a header line; rows in the given order (all rows if empty). Numbers with
    /// '.' and all their digits.
    [[nodiscard]] QString toTsv(const QModelIndexList& rows = {}) const;

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                      int role) const override;
    [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;
    /// The check box of Name, and Name's text.
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;

Q_SIGNALS:
    void visibilityChanged(int id, bool visible);
    void renamed(int id, const QString& name);

private:
    [[nodiscard]] QVariant number(int row, int column) const;
    [[nodiscard]] QString text(int row, int column) const;

    RunList runs_;
    std::vector<RunNumbers> numbers_;
    std::vector<std::uint64_t> revisions_;
    Theme theme_ = Theme::make(false, false);
};

} // namespace gradlab::widgets
