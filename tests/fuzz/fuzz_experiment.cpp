// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as an experiment file: refused with an error, or read and then written and read alike.
#include "engine/core/check.h"
#include "engine/core/errors.h"
#include "engine/training/experiment_schema.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

using namespace gradlab::engine;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(data, data + size);
    try {
        const auto race = parseExperiments(text, "fuzz.json");
        for (const Experiment& experiment : race) {
            static_cast<void>(validate(experiment));
            const std::string written = toJson(experiment);
            const std::string again = toJson(parseExperiments(written, "again.json").front());
            GRADLAB_CHECK(written == again, written.size(), again.size());
        }
    } catch (const Error& error) {
        GRADLAB_CHECK(std::string_view(error.what()).find('\n') == std::string_view::npos);
    }
    return 0;
}
