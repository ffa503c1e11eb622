// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// For tests that open the main window: settings of their own, and no warning of Qt's goes unseen.
#pragma once

#include "tests/support/qt_warnings.h"

#include <QCoreApplication>
#include <QStandardPaths>

namespace gradlab::tests {

/// For initTestCase(); cleanup() then asks QtWarnings.
inline void prepareWindowTests() {
    QStandardPaths::setTestModeEnabled(true);
    QCoreApplication::setOrganizationName(QStringLiteral("gradlab-test"));
    QtWarnings::install();
}

} // namespace gradlab::tests
