// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The session's runs as a table: colour, visibility, name, note and the latest numbers, with what
// sets each apart from the run that is the baseline. kSortRole gives numbers for a
// QSortFilterProxyModel. run_table_text.cpp makes the words, run_table_columns the columns.
#pragma once

#include "widgets/loss_difference.h"
#include "widgets/run_info.h"
#include "widgets/settings_difference.h"
#include "widgets/theme.h"

#include <QAbstractTableModel>

#include <optional>
#include <vector>

namespace gradlab::widgets {

class RunTableModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column {
        Name, ///< with colour and the check box of visibility
        Method,
        State,
        Note,
        Settings, ///< what differs from the baseline's
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
        TargetSteps,
        TargetBytes,
        TargetTime,
        MaxLossDifference,
        ColumnCount
    };
    /// How numbers say what sets them apart from the baseline's.
    enum class Differences { Hidden, Percent, Absolute, Both };
    static constexpr int kSortRole = Qt::UserRole;
    static constexpr int kRunIdRole = Qt::UserRole + 1;

    explicit RunTableModel(QObject* parent = nullptr);
    void setRuns(const RunList& runs);
    void setTheme(const Theme& theme);
    /// Takes the runs' latest numbers; emits dataChanged once, for the rows that changed.
    void refresh();
    [[nodiscard]] const RunList& runs() const noexcept { return runs_; }
    /// Validation perplexity that the Target columns look for; nothing: they are empty.
    void setTarget(std::optional<double> perplexity);
    void setDifferences(Differences shown);
    [[nodiscard]] Differences differences() const noexcept { return shown_; }

    /// Tab-separated, with a header line; rows and columns in the given order (all if empty).
    /// Numbers with '.' and all their digits.
    [[nodiscard]] QString toTsv(const QModelIndexList& rows = {},
                                const std::vector<int>& columns = {}) const;
    /// A table for documents, with the words that are shown.
    [[nodiscard]] QString toMarkdown(const QModelIndexList& rows = {},
                                     const std::vector<int>& columns = {}) const;

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                      int role) const override;
    [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;
    /// The check box of Name, and the texts of Name and Note.
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;

    [[nodiscard]] static bool isNumber(int column) noexcept { return column >= Step; }

Q_SIGNALS:
    void visibilityChanged(int id, bool visible);
    void renamed(int id, const QString& name);
    void noteChanged(int id, const QString& note);

private:
    struct Row {
        RunNumbers numbers;
        std::uint64_t revision = 0;
        std::optional<XValues> target;        ///< where it was reached
        std::vector<SettingDifference> other; ///< settings that are not the baseline's
        LossDifference loss;
    };
    struct Apart {
        double absolute = 0.0;
        std::optional<double> percent; ///< nothing where the baseline's is 0
    };
    void compareSettings();
    [[nodiscard]] bool refreshRow(std::size_t row, bool baselineChanged);
    [[nodiscard]] const Row* baselineRow() const;
    [[nodiscard]] QVariant number(int row, int column) const;
    [[nodiscard]] std::optional<Apart> apart(int row, int column) const;
    [[nodiscard]] QString text(int row, int column) const;
    [[nodiscard]] QString numberText(const QVariant& value, int column) const;
    [[nodiscard]] QString settingsText(int row) const;
    [[nodiscard]] QString apartText(const Apart& apart, int column, Differences shown) const;
    [[nodiscard]] QString toolTip(int row, int column) const;
    [[nodiscard]] QString lossToolTip(int row) const;
    [[nodiscard]] QVariant foreground(int row, int column) const;
    [[nodiscard]] QVariant swatch(const RunInfo& run) const;

    RunList runs_;
    std::vector<Row> rows_;
    int baseline_ = -1; ///< row
    std::optional<double> target_;
    Differences shown_ = Differences::Percent;
    Theme theme_ = Theme::make(false, false);
};

} // namespace gradlab::widgets
