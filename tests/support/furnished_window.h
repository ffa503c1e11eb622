// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The main window with everything open that it has: docks, bars, banners, folded fields, worker
// processes that are none. For tests that look at all of it.
#pragma once

#include "app/chart_board.h"
#include "app/experiment_panel.h"
#include "app/gradient_panel.h"
#include "app/main_window.h"
#include "app/memory_question.h"
#include "app/prediction_tool.h"
#include "app/run_collection.h"
#include "app/tuning_bar.h"
#include "app/worker_panel.h"
#include "engine/training/experiment_schema.h"
#include "tests/support/small_run.h"
#include "widgets/experiment_form.h"
#include "widgets/field_editor.h"
#include "widgets/gradient_inspector.h"
#include "widgets/message_banner.h"

#include <QDockWidget>
#include <QToolButton>

#include <memory>

namespace gradlab::tests {

inline const QStringList kGradientViews = {QStringLiteral("tensors"), QStringLiteral("overlap"),
                                           QStringLiteral("levels"), QStringLiteral("map")};

inline engine::ClusterView fakeCluster() {
    engine::ClusterView view;
    view.wanted = 2;
    view.active = 1;
    view.endpoint = "tcp://127.0.0.1:5555";
    for (const auto state : {engine::MemberState::Active, engine::MemberState::Lost}) {
        engine::ClusterMember member;
        member.rank = static_cast<std::uint32_t>(view.members.size());
        member.name = "worker";
        member.host = "localhost";
        member.local = true;
        member.state = state;
        view.members.push_back(member);
    }
    return view;
}

/// As large as nobody's screen, with a race to be started.
inline std::unique_ptr<app::MainWindow> unfurnishedWindow() {
    app::WindowOptions options;
    options.experiments = smallRace(60);
    options.experiments[1].compression.method = "qsgd";
    options.quit = true;
    options.width = 2400;
    options.height = 1600;
    auto window = std::make_unique<app::MainWindow>(
        app::WindowServices{threadTransports(), loadSmallCorpus}, options);
    window->show();
    window->showGradient(kGradientViews.front());
    return window;
}

/// Everything open; after the run, so that there are data to show.
inline void furnish(app::MainWindow& window) {
    using Severity = widgets::MessageBanner::Severity;
    const auto id = window.runs()->list().front().id;
    for (QDockWidget* dock : window.findChildren<QDockWidget*>())
        dock->show();
    for (QToolButton* more : window.panel()->form()->findChildren<QToolButton*>())
        if (more->isCheckable())
            more->setChecked(true);
    window.workers()->setClusters({{QStringLiteral("Dense"), fakeCluster(), "keys.json"},
                                   {QStringLiteral("Top-k"), fakeCluster(), ""}});
    window.setTuningShown(true);
    window.prediction()->setOpen(true);
    window.question()->ask(QStringLiteral("«Method topk → qsgd»"), QStringLiteral("«1.5 waits»"));
    window.tuning()->setTargets({{id, QStringLiteral("Dense"), engine::defaultExperiment()}});
    Q_EMIT window.panel()
        ->form()
        ->editor(QStringLiteral("training.batch"))
        ->edited(std::int64_t{3}); // no multiple of two workers: the form says so
    window.banner()->showMessage(Severity::Error, QStringLiteral("an error"));
    window.banner()->showMessage(Severity::Warning, QStringLiteral("a warning"));
    window.banner()->showMessage(Severity::Information, QStringLiteral("a fact"));
    window.banner()->showOffer(QStringLiteral("an offer"), QStringLiteral("Take it"), [] {});
}

/// One of the views that exclude each other: docks behind one another, tabs.
inline void arrange(app::MainWindow& window, int view) {
    const auto dock = [&](const char* name) {
        return window.findChild<QDockWidget*>(QString::fromLatin1(name));
    };
    window.gradient()->inspector()->chooseView(kGradientViews[view]);
    window.board()->showPareto(view % 2 == 1);
    dock(view % 2 == 0 ? "runsDock" : "workersDock")->raise();
    window.board()->refreshAll();
}

} // namespace gradlab::tests
