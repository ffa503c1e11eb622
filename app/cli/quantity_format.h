// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers for people at a terminal: three significant digits and a unit. Files have the exact ones.
#pragma once

#include <string>

namespace gradlab::app {

/// "12.4", "0.00123", "1234": at least three significant digits, no exponent where one can do
/// without.
[[nodiscard]] std::string shortNumber(double value);
/// "812 B", "6.71 KiB", "1.20 GiB".
[[nodiscard]] std::string shortBytes(double bytes);
/// "0.12 s", "45 s", "3 min 20 s", "2 h 5 min".
[[nodiscard]] std::string shortDuration(double seconds);
/// "68× fewer bytes", "1.4× fewer bytes"; "as many bytes" where nothing is gained.
[[nodiscard]] std::string fewerBytes(double dense, double sent);

} // namespace gradlab::app
