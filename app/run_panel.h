// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The session's runs: a table with a filter, a baseline, a target perplexity and the commands on
// rows. Leaves out: what a cell says (RunTableModel), the runs (RunCollection).
#pragma once

#include <QWidget>

#include <vector>

class QAction;
class QDoubleSpinBox;
class QLabel;
class QLineEdit;
class QMenu;
class QSettings;
class QTableView;
class QToolBar;

namespace gradlab::widgets {
class RunTableModel;
struct Theme;
} // namespace gradlab::widgets

namespace gradlab::app {

class RunCollection;
class RunFilter;

class RunPanel : public QWidget {
    Q_OBJECT

public:
    struct Actions {
        QAction* pin = nullptr; ///< checkable: the selected run is the baseline
        QAction* rename = nullptr;
        QAction* note = nullptr;
        QMenu* colour = nullptr;
        QAction* copyTsv = nullptr;
        QAction* copyMarkdown = nullptr;
        QAction* find = nullptr;
    };

    /// `runs` outlives the panel.
    explicit RunPanel(RunCollection* runs, QWidget* parent = nullptr);

    [[nodiscard]] widgets::RunTableModel* model() const noexcept { return model_; }
    [[nodiscard]] QTableView* table() const noexcept { return table_; }
    [[nodiscard]] const Actions& actions() const noexcept { return actions_; }
    /// What can be done with the table and its selected runs, for a menu.
    [[nodiscard]] QList<QAction*> commands() const;
    /// Commands of others on the selected runs, at the head of the context menu.
    void addRunActions(const QList<QAction*>& actions);
    /// Ids of the selected rows, from top to bottom.
    [[nodiscard]] std::vector<int> selectedRuns() const;
    void setTheme(const widgets::Theme& theme);

    void setColumnShown(int column, bool shown);
    /// 0: none.
    void setTarget(double perplexity);
    /// Which columns are shown and in which order, how differences are shown, the target.
    void saveView(QSettings& settings) const;
    void restoreView(const QSettings& settings);

protected:
    void changeEvent(QEvent* event) override;

private:
    void buildTable();
    void buildActions();
    QAction* addCommand(const QString& text, const QKeySequence& key, const QString& tip);
    void buildColourMenu();
    void fillColourMenu();
    void buildColumnMenu();
    void buildTools();
    void buildDifferenceMenu(QMenu* menu);
    void layOut();
    void followSelection();
    void followFilter();
    void followRuns();
    void pin(bool on);
    void editCell(int column);
    void copy(bool markdown) const;
    [[nodiscard]] std::vector<int> shownColumns() const;

    RunCollection* runs_;
    widgets::RunTableModel* model_;
    RunFilter* order_;
    QTableView* table_;
    QLineEdit* filter_;
    QLabel* count_; ///< of the rows that the filter leaves
    QDoubleSpinBox* target_;
    QToolBar* tools_;
    QMenu* columns_;
    QMenu* differences_;
    Actions actions_;
    bool hadBaseline_ = false;
};

} // namespace gradlab::app
