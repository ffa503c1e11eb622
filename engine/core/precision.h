// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The arithmetic of a run. Kernels are templates over the scalar; both precisions come from one
// source.
#pragma once

namespace gradlab::engine {

enum class Precision { F32, F64, BF16 };

} // namespace gradlab::engine
