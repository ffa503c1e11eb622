// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/run_totals.h"

#include "engine/core/errors.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace gradlab::engine {

namespace {

using nlohmann::json;

template <class T>
json orNull(const std::optional<T>& value) {
    return value ? json(*value) : json(nullptr);
}

template <class T>
std::optional<T> optionalAt(const json& object, const char* key) {
    const json& value = object.at(key);
    return value.is_null() ? std::nullopt : std::optional<T>(value.get<T>());
}

} // namespace

void RunTotals::add(const StepRecord& record) {
    step = record.step;
    bytesUp += record.bytesUp;
    bytesDown += record.bytesDown;
    bytesMessage += record.bytesMessage;
    bytesDense += record.bytesDense;
    bytesPaper += record.bytesPaper;
}

bool RunTotals::observe(double perplexity, double target) {
    evaluatedStep = step;
    if (target > 0.0 && perplexity <= target && !targetSteps) {
        targetSteps = step;
        targetBytes = bytesUp;
        targetSimulatedS = simulatedS;
    }
    if (std::isfinite(perplexity) && (!bestValid || perplexity < *bestValid)) {
        bestValid = perplexity;
        evaluationsWithoutGain = 0;
        return true;
    }
    ++evaluationsWithoutGain;
    return false;
}

EndRecord RunTotals::endRecord(const std::string& reason, const std::string& message) const {
    EndRecord end;
    end.reason = reason;
    end.message = message;
    end.steps = step;
    end.bestValidPerplexity = bestValid;
    end.wallS = wallS;
    end.simulatedS = simulatedS;
    end.tokens = tokens;
    end.bytesUp = bytesUp;
    end.bytesDown = bytesDown;
    end.bytesMessage = bytesMessage;
    end.bytesDense = bytesDense;
    end.bytesPaper = bytesPaper;
    end.targetSteps = targetSteps;
    end.targetBytes = targetBytes;
    end.targetSimulatedS = targetSimulatedS;
    return end;
}

std::string totalsToJson(const RunTotals& totals) {
    return json{{"step", totals.step},
                {"tokens", totals.tokens},
                {"wall_s", totals.wallS},
                {"simulated_s", totals.simulatedS},
                {"bytes_up", totals.bytesUp},
                {"bytes_down", totals.bytesDown},
                {"bytes_message", totals.bytesMessage},
                {"bytes_dense", totals.bytesDense},
                {"bytes_paper", totals.bytesPaper},
                {"best_valid", orNull(totals.bestValid)},
                {"evaluations_without_gain", totals.evaluationsWithoutGain},
                {"evaluated_step", totals.evaluatedStep},
                {"target_steps", orNull(totals.targetSteps)},
                {"target_bytes", orNull(totals.targetBytes)},
                {"target_simulated_s", orNull(totals.targetSimulatedS)}}
        .dump();
}

RunTotals totalsFromJson(const std::string& text, const std::string& origin) {
    try {
        const json object = json::parse(text);
        RunTotals totals;
        object.at("step").get_to(totals.step);
        object.at("tokens").get_to(totals.tokens);
        object.at("wall_s").get_to(totals.wallS);
        object.at("simulated_s").get_to(totals.simulatedS);
        object.at("bytes_up").get_to(totals.bytesUp);
        object.at("bytes_down").get_to(totals.bytesDown);
        object.at("bytes_message").get_to(totals.bytesMessage);
        object.at("bytes_dense").get_to(totals.bytesDense);
        object.at("bytes_paper").get_to(totals.bytesPaper);
        totals.bestValid = optionalAt<double>(object, "best_valid");
        object.at("evaluations_without_gain").get_to(totals.evaluationsWithoutGain);
        object.at("evaluated_step").get_to(totals.evaluatedStep);
        totals.targetSteps = optionalAt<std::uint64_t>(object, "target_steps");
        totals.targetBytes = optionalAt<double>(object, "target_bytes");
        totals.targetSimulatedS = optionalAt<double>(object, "target_simulated_s");
        return totals;
    } catch (const json::exception&) {
        throw DataError("damaged counters in the checkpoint: " + origin +
                        "; resume from another checkpoint");
    }
}

} // namespace gradlab::engine
