// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps the list; numbers and points are RunSeries' own.
#include "app/run_collection.h"

#include "engine/compression/compressor_registry.h"
#include "engine/core/errors.h"
#include "engine/training/experiment_schema.h"
#include "widgets/theme.h"

#include <QCoreApplication>

#include <algorithm>
#include <map>
#include <string>

namespace gradlab::app {
namespace {

QString fieldText(const engine::Experiment& experiment, const char* path) {
    const engine::FieldSpec* field = engine::findField(path);
    if (field == nullptr || !engine::isFieldUsed(*field, experiment))
        return {};
    return QString::fromStdString(
        engine::formatFieldValue(*field, engine::getField(experiment, path)));
}

/// The method with the one number that says how much it sends.
QString methodAndAmount(const engine::Experiment& experiment) {
    const engine::MethodInfo* method = engine::findMethod(experiment.compression.method);
    QString text = QString::fromStdString(method ? method->label : experiment.compression.method);
    for (const char* path : {"compression.ratio", "compression.levels"}) {
        const QString amount = fieldText(experiment, path);
        if (!amount.isEmpty())
            return text + QLatin1Char(' ') + amount;
    }
    return text;
}

} // namespace

void RunCollection::add(int id, const engine::Experiment& experiment) {
    auto run = std::make_unique<CollectedRun>();
    run->series = std::make_unique<widgets::RunSeries>();
    run->atStart = experiment;
    run->current = experiment;
    run->info.id = id;
    run->info.name = freshName(experiment, id);
    run->info.colour = freeColour();
    run->info.seed = experiment.training.seed;
    run->info.method = methodText(experiment);
    run->info.experiment = std::make_shared<const engine::Experiment>(experiment);
    run->info.series = run->series.get();
    runs_.push_back(std::move(run));
    Q_EMIT listChanged();
}

void RunCollection::append(int id, const std::vector<engine::Record>& records) {
    CollectedRun* run = entry(id);
    if (run == nullptr)
        return;
    for (const engine::Record& record : records) {
        run->series->append(record);
        follow(*run, record);
    }
}

/// Keeps `current` what the run really works with.
void RunCollection::follow(CollectedRun& run, const engine::Record& record) {
    const auto* event = std::get_if<engine::EventRecord>(&record);
    const bool followed = event != nullptr && event->event == "parameter_followed";
    if (event == nullptr || (event->event != "parameter_changed" && !followed))
        return;
    const engine::FieldSpec* field = engine::findField(event->field);
    if (field == nullptr)
        return;
    if (followed &&
        engine::getField(run.current, field->path) == engine::FieldValue(std::string("auto")))
        return; // it follows by itself
    try {
        const bool remembered = engine::resolved(run.current).compression.memory != "none";
        engine::setField(run.current, field->path, engine::parseFieldValue(*field, event->to));
        const bool remembers = engine::resolved(run.current).compression.memory != "none";
        const auto norm = run.series->last(widgets::Metric::ResidualNorm);
        if (remembers || (!event->memory.empty() && event->memory != "keep"))
            run.resting = 0.0;
        else if (remembered && norm)
            run.resting = norm->value;
    } catch (const engine::Error&) {
        return; // a log of another version may say it otherwise: its text is still shown
    }
    run.info.method = methodText(run.current);
    run.info.experiment = std::make_shared<const engine::Experiment>(run.current);
    Q_EMIT experimentChanged(run.info.id);
    Q_EMIT listChanged();
}

void RunCollection::remove(int id) {
    const auto at = std::find_if(runs_.begin(), runs_.end(),
                                 [id](const auto& run) { return run->info.id == id; });
    if (at == runs_.end())
        return;
    const std::unique_ptr<CollectedRun> gone = std::move(*at);
    runs_.erase(at);
    Q_EMIT listChanged();
}

void RunCollection::setLog(int id, const std::filesystem::path& log) {
    if (CollectedRun* run = entry(id))
        run->log = log;
}

void RunCollection::setVisible(int id, bool visible) {
    if (CollectedRun* run = entry(id); run != nullptr && run->info.visible != visible) {
        run->info.visible = visible;
        Q_EMIT listChanged();
    }
}

void RunCollection::rename(int id, const QString& name) {
    CollectedRun* run = entry(id);
    if (run == nullptr || name.trimmed().isEmpty())
        return;
    run->info.name = uniqueName(name.trimmed(), id);
    Q_EMIT listChanged();
}

void RunCollection::setNote(int id, const QString& note) {
    if (CollectedRun* run = entry(id); run != nullptr && run->info.note != note) {
        run->info.note = note;
        Q_EMIT listChanged();
    }
}

void RunCollection::setColour(int id, int colour) {
    const int known = ((colour % widgets::Theme::kRunColours) + widgets::Theme::kRunColours) %
                      widgets::Theme::kRunColours;
    if (CollectedRun* run = entry(id); run != nullptr && run->info.colour != known) {
        run->info.colour = known;
        Q_EMIT listChanged();
    }
}

void RunCollection::setBaseline(std::optional<int> id) {
    bool changed = false;
    for (const auto& run : runs_) {
        const bool chosen = run->info.id == id;
        changed |= run->info.baseline != chosen;
        run->info.baseline = chosen;
    }
    if (changed)
        Q_EMIT listChanged();
}

void RunCollection::setState(int id, const QString& state) {
    if (CollectedRun* run = entry(id); run != nullptr && run->info.state != state) {
        run->info.state = state;
        Q_EMIT listChanged();
    }
}

/// Runs that differ in nothing but seed and name, each seed once, get a common number.
widgets::RunList RunCollection::list() const {
    widgets::RunList list;
    std::map<std::string, std::map<std::int64_t, std::size_t>> groups; // place in the list by seed
    for (const auto& run : runs_) {
        list.push_back(run->info);
        engine::Experiment experiment = run->current;
        experiment.name.clear();
        experiment.training.seed = 0;
        groups[engine::toJson(experiment)].emplace(run->info.seed, list.size() - 1);
    }
    int number = 0;
    for (const auto& [key, places] : groups) {
        if (places.size() < kFewestSeeds)
            continue;
        ++number;
        const QString& name = experimentTitle(runs_[places.begin()->second]->atStart);
        for (const auto& [seed, place] : places) {
            list[place].seedGroup = number;
            list[place].seedGroupName = name;
            list[place].colour = list[places.begin()->second].colour;
        }
    }
    return list;
}

const CollectedRun* RunCollection::find(int id) const {
    for (const auto& run : runs_)
        if (run->info.id == id)
            return run.get();
    return nullptr;
}

CollectedRun* RunCollection::entry(int id) {
    for (const auto& run : runs_)
        if (run->info.id == id)
            return run.get();
    return nullptr;
}

/// Runs of one name are told apart by their seeds, where these differ.
QString RunCollection::freshName(const engine::Experiment& experiment, int id) const {
    const QString title = experimentTitle(experiment);
    const std::int64_t seed = experiment.training.seed;
    const bool otherSeed = std::any_of(runs_.begin(), runs_.end(), [&](const auto& run) {
        return experimentTitle(run->atStart) == title && run->info.seed != seed;
    });
    return uniqueName(otherSeed ? tr("%1 · seed %2").arg(title).arg(seed) : title, id);
}

QString RunCollection::uniqueName(const QString& wanted, int exceptId) const {
    const auto isTaken = [&](const QString& name) {
        return std::any_of(runs_.begin(), runs_.end(), [&](const auto& run) {
            return run->info.id != exceptId && run->info.name == name;
        });
    };
    QString name = wanted;
    for (int number = 2; isTaken(name); ++number)
        name = QStringLiteral("%1 (%2)").arg(wanted).arg(number);
    return name;
}

/// The colour that fewest runs have, the first of these.
int RunCollection::freeColour() const {
    std::vector<int> uses(widgets::Theme::kRunColours, 0);
    for (const auto& run : runs_)
        ++uses[static_cast<std::size_t>(run->info.colour)];
    return static_cast<int>(std::min_element(uses.begin(), uses.end()) - uses.begin());
}

QString experimentTitle(const engine::Experiment& experiment) {
    if (!experiment.name.empty())
        return QString::fromStdString(experiment.name);
    if (experiment.compression.method == "none")
        return QCoreApplication::translate("RunCollection", "Dense");
    return methodAndAmount(experiment);
}

QString methodText(const engine::Experiment& experiment) {
    const std::string& memory = experiment.compression.memory;
    const QString method = methodAndAmount(experiment);
    const bool plain = experiment.compression.method == "none" || memory == "auto";
    return plain ? method : method + QStringLiteral(", ") + QString::fromStdString(memory);
}

} // namespace gradlab::app
