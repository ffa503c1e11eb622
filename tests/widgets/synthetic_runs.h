// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Records of a race as it typically goes (dense, top-k 1 %, random-k 1 %), made up but of the right
// sizes, for tests that draw.
#pragma once

#include "engine/metrics/step_record.h"
#include "widgets/run_info.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gradlab::tests {

struct SyntheticRun {
    const char* name = "dense";
    double end = 11.5;        ///< perplexity it tends to
    double speed = 80.0;      ///< steps of its descent
    double bytes = 345000.0;  ///< a message
    double kept = 1.0;        ///< share of elements
    double energy = 1.0;      ///< share of energy
    double residual = 0.0;    ///< norm it tends to
    double compression = 0.0; ///< seconds a step
};

class SyntheticRace {
public:
    explicit SyntheticRace(int runs = 3) {
        const std::vector<SyntheticRun> kinds{
            {"dense", 11.5, 60.0, 345000.0, 1.0, 1.0, 0.0, 0.0},
            {"top-k 1 %", 12.4, 70.0, 5100.0, 0.01, 0.42, 3.1, 0.0021},
            {"random-k 1 %", 66.0, 200.0, 3500.0, 0.01, 0.0102, 14.0, 0.0004},
            {"dgc 1 %", 12.1, 75.0, 5200.0, 0.0098, 0.38, 2.2, 0.0015},
            {"qsgd 16 levels", 11.9, 60.0, 55000.0, 0.2, 0.97, 0.0, 0.0011},
            {"top-k 0.1 % without memory", 41.0, 120.0, 900.0, 0.001, 0.2, 0.0, 0.0019},
            {"bf16", 11.6, 60.0, 172000.0, 1.0, 1.0, 0.0, 0.0002},
            {"top-k 10 %", 11.6, 60.0, 48000.0, 0.1, 0.8, 0.9, 0.003}};
        for (int i = 0; i < runs; ++i) {
            kinds_.push_back(kinds[static_cast<std::size_t>(i) % kinds.size()]);
            series_.push_back(std::make_unique<widgets::RunSeries>());
            engine::StartRecord start;
            start.entropyFloorValid = 8.5;
            start.unigramPerplexityValid = 80.3;
            start.cpuTimeShown = true;
            start.stepsPerEpoch = 250;
            series_.back()->append(start);
        }
        totals_.resize(kinds_.size());
    }

    void advance(std::uint64_t steps) {
        for (std::uint64_t i = 0; i < steps; ++i) {
            ++step_;
            for (std::size_t run = 0; run < kinds_.size(); ++run)
                addStep(run);
        }
    }
    void change(std::size_t run, const std::string& field, const std::string& from,
                const std::string& to) {
        series_[run]->append(engine::EventRecord{step_, "parameter_changed", "", field, from, to});
    }

    [[nodiscard]] widgets::RunList runs() const {
        widgets::RunList list;
        for (std::size_t i = 0; i < kinds_.size(); ++i) {
            widgets::RunInfo info;
            info.id = static_cast<int>(i) + 1;
            info.name = QString::fromUtf8(kinds_[i].name);
            info.colour = static_cast<int>(i);
            info.method = QStringLiteral("method %1").arg(i);
            info.state = QStringLiteral("running");
            info.series = series_[i].get();
            list.push_back(info);
        }
        return list;
    }
    [[nodiscard]] widgets::RunSeries& series(std::size_t run) { return *series_[run]; }
    [[nodiscard]] std::uint64_t step() const { return step_; }

private:
    struct Totals {
        double simulated = 0.0;
        double wall = 0.0;
    };

    [[nodiscard]] double perplexity(const SyntheticRun& kind) const {
        const double left = std::exp(-static_cast<double>(step_) / kind.speed);
        return std::exp(std::log(kind.end) + std::log(301.0 / kind.end) * left);
    }

    void addStep(std::size_t run) {
        const SyntheticRun& kind = kinds_[run];
        Totals& totals = totals_[run];
        engine::StepRecord record;
        record.step = step_;
        record.epoch = (step_ - 1) / 250;
        record.tokens = step_ * 1120;
        const double noise = 0.12 * std::sin(static_cast<double>(step_ * (7 + run)) * 1.7) *
                             std::cos(static_cast<double>(step_) * 0.61);
        record.loss = std::log(perplexity(kind)) + noise;
        record.ratio = kind.kept;
        record.density = kind.kept * (1.0 - 0.002 * std::abs(noise));
        record.bytesMessage = kind.bytes * (1.0 + 0.05 * noise);
        record.bytesUp = record.bytesMessage;
        record.bytesDense = 345000.0;
        record.energyKept = std::min(1.0, kind.energy * (1.0 + noise));
        record.residualNorm =
            kind.residual * (1.0 - std::exp(-static_cast<double>(step_) / 90.0)) * (1.0 + noise);
        record.gradNorm = 1.0;
        record.lr = 20.0;
        record.cpu.forward = 0.003;
        record.cpu.backward = 0.006;
        record.cpu.update = 0.0004;
        record.cpu.compress = kind.compression;
        record.cpu.decode = 0.2 * kind.compression;
        record.t = record.cpu;
        record.t.turn = 0.011;
        record.t.wait = 0.0003;
        record.aggregateCpu = 0.0007;
        record.linkS = 0.002 + 8.0 * record.bytesMessage / 12.5e6;
        totals.simulated += record.cpu.compute() + record.cpu.compression() + 0.0007 + record.linkS;
        totals.wall += record.t.compute() + record.t.compression() + record.t.turn;
        record.simulatedS = totals.simulated;
        record.wallS = totals.wall;
        series_[run]->append(record);
        if (step_ % 50 == 0)
            series_[run]->append(engine::EvalRecord{.step = step_,
                                                    .epoch = 0,
                                                    .split = "valid",
                                                    .nll = 0.0,
                                                    .tokens = 0,
                                                    .perplexity = 1.02 * perplexity(kind),
                                                    .wallS = totals.wall,
                                                    .simulatedS = totals.simulated,
                                                    .sample = {}});
    }

    std::vector<SyntheticRun> kinds_;
    std::vector<std::unique_ptr<widgets::RunSeries>> series_;
    std::vector<Totals> totals_;
    std::uint64_t step_ = 0;
};

} // namespace gradlab::tests
