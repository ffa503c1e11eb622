// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Marks what programs and transports may use of the engine's shared library; everything else is
// hidden.
#pragma once

#define GRADLAB_ENGINE_EXPORT __attribute__((visibility("default")))
