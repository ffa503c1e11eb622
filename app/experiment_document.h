// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The form's experiments as a document: the file they are in, whether they have changed since, what
// was opened last, and a copy that outlives the program. The copy is of what no file has: it is
// written a moment after a change, removed once it is saved, and offered by the next start, whether
// this one crashed or was closed. Leaves out: dialogs, and what an experiment is.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <QTimer>

#include <optional>

namespace gradlab::app {

class ExperimentDocument : public QObject {
    Q_OBJECT

public:
    static constexpr int kRecentFiles = 10;

    /// Without `remembers` nothing is read from or written to the user's settings and folders.
    explicit ExperimentDocument(bool remembers, QObject* parent = nullptr);
    ~ExperimentDocument() override;

    /// What the form holds now, as the text of an experiment file.
    void setContent(const QString& text);
    /// What the form holds is what `path` has; an empty path: what the program began with.
    void setUnchanged(const QString& path);
    [[nodiscard]] const QString& path() const noexcept { return path_; }
    /// The file's name, or a name for what has none.
    [[nodiscard]] QString name() const;
    [[nodiscard]] bool isModified() const noexcept { return content_ != kept_; }

    /// Files and run folders, the last one first.
    [[nodiscard]] QStringList recent() const;
    void addRecent(const QString& path);
    void clearRecent();

    struct Recovered {
        QString path; ///< the file it was of; may be empty
        QString text;
    };
    /// What an earlier window left, once; none if it left nothing or is still there.
    [[nodiscard]] std::optional<Recovered> takeRecovered();
    /// Writes or removes the copy now.
    void keepCopy();

Q_SIGNALS:
    /// Path or modified state.
    void changed();

private:
    [[nodiscard]] QString copyPath() const;

    bool remembers_;
    QString path_;
    QString content_;
    QString kept_; ///< content of the file, or at the start
    QTimer copyLater_;
};

} // namespace gradlab::app
