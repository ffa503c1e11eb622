// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Maps the engine's error types to exit codes; knows nothing of where they are shown.
#include "app/run_error.h"

#include "engine/core/errors.h"

namespace gradlab::app {

RunError describeError(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const engine::ExperimentError& e) {
        return {e.what(), 2};
    } catch (const engine::DataError& e) {
        return {e.what(), 3};
    } catch (const engine::TransportError& e) {
        return {e.what(), 4};
    } catch (const engine::ProtocolError& e) {
        return {e.what(), 4};
    } catch (const engine::NumericError& e) {
        return {e.what(), 5};
    } catch (const std::exception& e) {
        return {std::string("internal error: ") + e.what() + "; please report it", 1};
    } catch (...) {
        return {"internal error: an unknown exception; please report it", 1};
    }
}

} // namespace gradlab::app
