// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/program_error.h"

#include "engine/core/errors.h"

#include <algorithm>
#include <iostream>

namespace gradlab::app {

namespace {

/// Whatever a message quotes, it stays one line.
std::string oneLine(std::string text) {
    for (char& c : text) {
        if (static_cast<unsigned char>(c) < 0x20)
            c = ' ';
    }
    return text;
}

/// "<what is wrong>: step 7, tensor lstm.weight_ih_l0; <what to do>".
std::string withStepAndTensor(const engine::NumericError& error) {
    std::string message = error.what();
    if (message.find("; ") == std::string::npos)
        message += "; lower the learning rate";
    if (message.find(": step ") != std::string::npos)
        return message;
    std::string where = ": step " + std::to_string(error.step());
    if (!error.tensor().empty())
        where += ", tensor " + error.tensor();
    message.insert(message.find("; "), where);
    return message;
}

} // namespace

ProgramError describeProgramError(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const engine::ExperimentError& e) {
        return {e.what(), kExitExperiment};
    } catch (const engine::DataError& e) {
        return {e.what(), kExitData};
    } catch (const engine::TransportError& e) {
        return {e.what(), kExitWorkers};
    } catch (const engine::ProtocolError& e) {
        return {e.what(), kExitWorkers};
    } catch (const engine::NumericError& e) {
        return {withStepAndTensor(e), kExitNumbers};
    } catch (const std::bad_alloc&) {
        return {"out of memory: the model or its batch; give a smaller --hidden, --batch or --bptt",
                kExitExperiment};
    } catch (const std::exception& e) {
        return {std::string("internal error: ") + e.what() + "; please report it", kExitBug};
    }
}

int reportError(const ProgramError& error) {
    std::cerr << "gradlab-cli: " + oneLine(error.message) + "\n" << std::flush;
    return error.exitCode;
}

} // namespace gradlab::app
