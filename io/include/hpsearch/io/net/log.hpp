#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "hpsearch/engine/base/id.hpp"

namespace hpsearch::net {

enum class Level { debug, info, warning, error };

/// Lines below this level are not written. "debug", "info", "warning" or "error"; false for another word.
bool set_log_level(std::string_view name) noexcept;

/// How lines are written; false for another word.
///
///   text      "2026-11-30T19:40:00.123Z info hpsearchd: MESSAGE"
///   json      {"level":"info","msg":"MESSAGE","program":"hpsearchd","ts":"2026-11-30T19:40:00.123Z"}, and
///   the
///            fields of `about`
///   journald  "<6>MESSAGE": systemd's journal reads the priority and knows the time and the program itself
///   ""        journald if that journal reads the standard error (JOURNAL_STREAM), else text
bool set_log_format(std::string_view name) noexcept;

/// The things that a line is about. They are fields of a JSON line, beside its message, which names them too.
struct About {
  std::optional<std::uint64_t> experiment;
  std::optional<std::uint64_t> trial;
  std::optional<std::uint64_t> attempt;
  std::string worker;

  friend bool operator==(const About&, const About&) = default;
};

[[nodiscard]] About about(engine::ExperimentId experiment);
/// An attempt by its key: this folder does not see the engine's type.
template <class AttemptKey>
[[nodiscard]] About about(const AttemptKey& key) {
  return {key.experiment.number(), key.trial.number(), key.attempt.number(), {}};
}
[[nodiscard]] About about_worker(std::string name);

/// One line on stderr. Safe from any thread.
///
/// The first ones of equal lines in a minute are written; the others are counted, and when the minute is
/// over, one line says how often they came.
void log(Level level, std::string_view message, const About& about = {}) noexcept;

/// Writes the counts of equal lines whose minute is over; programs call it from time to time. `all`: also the
/// others, at the end of a program.
void write_repeats(bool all = false) noexcept;

/// How often this process has logged, by level. Any thread.
[[nodiscard]] std::array<std::pair<std::string_view, std::uint64_t>, 4> logged_lines() noexcept;

}  // namespace hpsearch::net
