// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// JSON written by hand where every digit counts: shortest numbers that read back as the same bits,
// '.' whatever the locale, keys in the order given. Leaves out: reading (nlohmann's parser does
// that).
#pragma once

#include "engine/core/export.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace gradlab::engine {

/// Shortest decimal text that reads back as the same double: "0.1", "1e+20"; "nan", "inf", "-inf".
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::string formatReal(double value);
/// With quotes and escapes; bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::string jsonString(std::string_view text);

/// One JSON object on one line. Members that are not finite are written as null and collected in a
/// last member: "nonfinite": {"loss": "nan", "t.forward": "inf"}.
class GRADLAB_ENGINE_EXPORT JsonLine {
public:
    void add(std::string_view key, std::string_view text);
    void add(std::string_view key, const char* text) { add(key, std::string_view(text)); }
    void add(std::string_view key, double value);
    void add(std::string_view key, bool value);
    /// As text beyond 2^53, which not every reader's numbers can hold.
    void add(std::string_view key, std::uint64_t value);
    void add(std::string_view key, std::uint32_t value) { add(key, std::uint64_t{value}); }
    /// `json` is a complete value without line breaks.
    void addJson(std::string_view key, std::string_view json);
    /// Members until end() belong to an object of that name; one level deep.
    void begin(std::string_view key);
    void end();
    /// The whole line with its line break; the object is used up.
    [[nodiscard]] std::string finish();

private:
    void key(std::string_view name);

    std::string text_ = "{";
    std::string nonfinite_;
    std::string group_; ///< "t." while inside it
    bool first_ = true;
};

} // namespace gradlab::engine
