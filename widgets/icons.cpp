// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/icons.h"

#include <QFile>
#include <QPainter>
#include <QPixmap>
#include <QString>
#include <QSvgRenderer>

// A static library's resources are not there by themselves; the macro works outside namespaces
// only.
static void initIconResources() {
    Q_INIT_RESOURCE(gradlab_icons);
}

namespace gradlab::widgets {

namespace {

QString fileName(IconName name) {
    switch (name) {
    case IconName::Start:
        return QStringLiteral("start");
    case IconName::Pause:
        return QStringLiteral("pause");
    case IconName::Step:
        return QStringLiteral("step");
    case IconName::Stop:
        return QStringLiteral("stop");
    case IconName::Reset:
        return QStringLiteral("reset");
    case IconName::Present:
        return QStringLiteral("present");
    case IconName::Fold:
        return QStringLiteral("fold");
    case IconName::Error:
        return QStringLiteral("error");
    case IconName::Warning:
        break;
    }
    return QStringLiteral("warning");
}

QPixmap render(QByteArray svg, const QColor& colour, int size) {
    svg.replace("currentColor", colour.name().toLatin1());
    QSvgRenderer renderer(svg);
    QPixmap pixmap(size, size);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    renderer.render(&painter);
    return pixmap;
}

} // namespace

QIcon icon(IconName name, const QColor& normal, const QColor& disabled) {
    initIconResources();
    QFile file(QStringLiteral(":/gradlab/icons/%1.svg").arg(fileName(name)));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    const QByteArray svg = file.readAll();
    QIcon icon;
    for (const int size : {16, 24, 32, 48, 64}) {
        icon.addPixmap(render(svg, normal, size), QIcon::Normal);
        icon.addPixmap(render(svg, disabled, size), QIcon::Disabled);
    }
    return icon;
}

QIcon icon(IconName name, const QPalette& palette) {
    return icon(name, palette.color(QPalette::Active, QPalette::ButtonText),
                palette.color(QPalette::Disabled, QPalette::ButtonText));
}

} // namespace gradlab::widgets
