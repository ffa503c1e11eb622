// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the real gradlab-cli in a folder of its own and takes what it says.
#pragma once

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QProcessEnvironment>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>

#include <map>
#include <string>

namespace gradlab::tests {

struct CliResult {
    int exitCode = -1; ///< −1: crashed or did not end in time
    QString out;
    QString error;
};

/// The form of every error: one line that names the program, what is wrong, and what to do.
inline bool isErrorLine(const QString& error) {
    return error.startsWith("gradlab-cli: ") && error.count('\n') == 1 && error.endsWith('\n') &&
           error.contains("; ");
}

class CliFolder {
public:
    [[nodiscard]] QString path(const QString& name) const { return folder_.filePath(name); }
    [[nodiscard]] std::string file(const QString& name) const { return path(name).toStdString(); }
    [[nodiscard]] bool has(const QString& name) const { return QFile::exists(path(name)); }
    [[nodiscard]] QStringList entries(const QString& below = {}) const {
        return QDir(below.isEmpty() ? folder_.path() : path(below))
            .entryList(QDir::NoDotAndDotDot | QDir::AllEntries, QDir::Name);
    }
    void write(const QString& name, const QByteArray& bytes) const {
        QFile file(path(name));
        if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
            qFatal("cannot write a test's file");
    }
    [[nodiscard]] QByteArray read(const QString& name) const {
        QFile file(path(name));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    /// Later processes of this folder see the variable.
    void setVariable(const QString& name, const QString& value) { variables_[name] = value; }

    /// Starts it; the caller waits.
    void start(QProcess& process, const QStringList& arguments) const {
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        for (const auto& [name, value] : variables_)
            environment.insert(name, value);
        process.setProcessEnvironment(environment);
        process.setWorkingDirectory(folder_.path());
        process.start(QStringLiteral(GRADLAB_BINARY_DIR "/bin/gradlab-cli"), arguments);
    }
    [[nodiscard]] CliResult run(const QStringList& arguments) const {
        QProcess process;
        start(process, arguments);
        return finish(process);
    }
    [[nodiscard]] static CliResult finish(QProcess& process) {
        constexpr int kDeadlineMs = 120000;
        CliResult result;
        if (!process.waitForFinished(kDeadlineMs)) {
            process.kill();
            process.waitForFinished();
        } else if (process.exitStatus() == QProcess::NormalExit) {
            result.exitCode = process.exitCode();
        }
        result.out = QString::fromUtf8(process.readAllStandardOutput());
        result.error = QString::fromUtf8(process.readAllStandardError());
        return result;
    }

private:
    QTemporaryDir folder_;
    std::map<QString, QString> variables_;
};

/// Options of a run that takes well under a second.
inline QStringList tinyRun(int steps) {
    return {"train",
            "--hidden",
            "8",
            "--layers",
            "1",
            "--batch",
            "8",
            "--bptt",
            "7",
            "--steps",
            QString::number(steps),
            "--eval-every",
            "10",
            "--workers",
            "2",
            "--eval-batch",
            "100"};
}

} // namespace gradlab::tests
