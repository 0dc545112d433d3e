#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/proto/sentences/words.hpp"

namespace hpsearch::cli {

using sentences::counted;
using sentences::flat_text;
using sentences::metric_text;

/// How many columns the text has on a terminal: wide East Asian characters have two, combining ones none.
[[nodiscard]] std::size_t display_width(std::string_view text) noexcept;

/// At most `width` columns of the text; a cut text ends with "...".
[[nodiscard]] std::string cut_to_width(std::string_view text, std::size_t width);

/// The same, with the "..." in the middle: the end of a name often tells it apart.
[[nodiscard]] std::string cut_in_middle(std::string_view text, std::size_t width);

/// The text with control characters shown as "?": names and messages come from users and programs, and a
/// terminal would execute escape sequences.
[[nodiscard]] std::string printable(std::string_view text);

/// "0.4 s", "12 s", "3 min 05 s", "2 h 07 min", "3 d 04 h".
[[nodiscard]] std::string duration_text(double seconds);

/// "12 s", "3 min", "2 h", "3 d": one number, for columns.
[[nodiscard]] std::string age_text(double seconds);

/// "512 B", "12.3 kB", "1.5 GB": powers of 1,000.
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

/// "87.5 %", for a fraction.
[[nodiscard]] std::string percent_text(double fraction);

/// "2026-11-21 01:41:38" in local time; "" for 0.
[[nodiscard]] std::string time_text(double seconds_since_epoch);

/// In seconds since the epoch.
[[nodiscard]] double seconds_now();

/// "14:02" if that is on the day of `now`, otherwise time_text(); both in seconds since the epoch.
[[nodiscard]] std::string clock_text(double then, double now);

/// The value as YAML block lines, each indented by `indent` spaces; reads back as the same value.
[[nodiscard]] std::string yaml_text(const engine::Value& value, std::size_t indent = 0);

/// The last `lines` lines of a text, without a trailing line end.
[[nodiscard]] std::string last_lines(std::string_view text, std::size_t lines);

// --- reading the daemon's answers: a missing value, or one of another kind, becomes the given default ---

[[nodiscard]] const engine::Value& member(const engine::Value& map,
                                          std::string_view key) noexcept;  ///< null if absent
[[nodiscard]] std::string text_at(const engine::Value& map, std::string_view key);
[[nodiscard]] double number_at(const engine::Value& map, std::string_view key, double otherwise = 0) noexcept;
[[nodiscard]] std::uint64_t count_at(const engine::Value& map, std::string_view key) noexcept;
[[nodiscard]] const engine::Value::List& list_at(const engine::Value& map, std::string_view key) noexcept;

}  // namespace hpsearch::cli
