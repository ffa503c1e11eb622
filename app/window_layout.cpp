// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window_layout.h"

#include <QSettings>

#include <algorithm>
#include <vector>

namespace gradlab::app {
namespace {

constexpr QLatin1String kArray("layouts");

std::vector<WindowLayout> readAll() {
    QSettings settings;
    std::vector<WindowLayout> layouts;
    const int size = std::min(settings.beginReadArray(kArray), LayoutStore::kMostLayouts);
    for (int i = 0; i < size; ++i) {
        settings.setArrayIndex(i);
        WindowLayout layout = readLayout(settings);
        if (!layout.name.isEmpty())
            layouts.push_back(std::move(layout));
    }
    settings.endArray();
    return layouts;
}

void writeAll(const std::vector<WindowLayout>& layouts) {
    QSettings settings;
    settings.remove(kArray);
    settings.beginWriteArray(kArray, static_cast<int>(layouts.size()));
    for (std::size_t i = 0; i < layouts.size(); ++i) {
        settings.setArrayIndex(static_cast<int>(i));
        writeLayout(settings, layouts[i]);
    }
    settings.endArray();
}

auto named(const QString& name) {
    return [name](const WindowLayout& layout) {
        return layout.name.compare(name, Qt::CaseInsensitive) == 0;
    };
}

} // namespace

QStringList LayoutStore::names() {
    QStringList names;
    for (const WindowLayout& layout : readAll())
        names << layout.name;
    return names;
}

std::optional<WindowLayout> LayoutStore::find(const QString& name) {
    const std::vector<WindowLayout> layouts = readAll();
    const auto found = std::find_if(layouts.begin(), layouts.end(), named(name));
    return found == layouts.end() ? std::nullopt : std::optional(*found);
}

bool LayoutStore::save(const WindowLayout& layout) {
    std::vector<WindowLayout> layouts = readAll();
    const auto same = std::find_if(layouts.begin(), layouts.end(), named(layout.name));
    if (same != layouts.end())
        *same = layout;
    else if (layouts.size() < kMostLayouts)
        layouts.push_back(layout);
    else
        return false;
    writeAll(layouts);
    return true;
}

void LayoutStore::remove(const QString& name) {
    std::vector<WindowLayout> layouts = readAll();
    std::erase_if(layouts, named(name));
    writeAll(layouts);
}

void writeLayout(QSettings& settings, const WindowLayout& layout) {
    settings.setValue(QStringLiteral("name"), layout.name);
    settings.setValue(QStringLiteral("docks"), layout.docks);
    settings.setValue(QStringLiteral("splitters"), layout.splitters);
    settings.setValue(QStringLiteral("xAxis"), layout.xAxis);
    settings.setValue(QStringLiteral("tuning"), layout.tuning);
    settings.setValue(QStringLiteral("pareto"), layout.pareto);
    settings.setValue(QStringLiteral("presenting"), layout.presenting);
}

WindowLayout readLayout(const QSettings& settings) {
    WindowLayout layout;
    layout.name = settings.value(QStringLiteral("name")).toString().left(LayoutStore::kLongestName);
    layout.docks = settings.value(QStringLiteral("docks")).toByteArray();
    layout.splitters = settings.value(QStringLiteral("splitters")).toByteArray();
    layout.xAxis = settings.value(QStringLiteral("xAxis")).toInt();
    layout.tuning = settings.value(QStringLiteral("tuning")).toBool();
    layout.pareto = settings.value(QStringLiteral("pareto")).toBool();
    layout.presenting = settings.value(QStringLiteral("presenting")).toBool();
    return layout;
}

} // namespace gradlab::app
