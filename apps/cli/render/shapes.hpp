#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/proto/api/experiments.hpp"
#include "hpsearch/proto/api/trials.hpp"

namespace hpsearch::cli {

// Texts for parts of the daemon's answers.

/// The progress of an experiment's trials: "108 of 243 epochs", or "≥ 108 of 243 epochs (unknown for 3
/// trials)".
[[nodiscard]] std::string training_text(const api::Experiment& detail);

/// "2h 5m", or "≥ 2h 5m" if attempts may have run that the daemon doesn't know: its store was restored.
[[nodiscard]] std::string slot_time_text(double seconds, bool ran_unlogged);

/// "12 running, 3 paused, 1 completed": states without trials are left out; "none yet" if there are no
/// trials.
[[nodiscard]] std::string states_text(const std::map<std::string, std::uint64_t>& trials_by_state);

/// "3 attempts failed in the same way, trial 7 last: exit status 1: KeyError"; "" if no two did.
[[nodiscard]] std::string failures_text(const api::ExperimentSummary& experiment);

/// "starred; labels good, wide; note: …"; "nothing is written about it".
[[nodiscard]] std::string annotation_text(bool starred, const std::vector<std::string>& labels,
                                          const std::string& note);

/// "commit 3f2a91c of main, with uncommitted changes".
[[nodiscard]] std::string git_text(const api::GitState& git);

/// A bar of at most 30 columns for a share, 0 to 1.
[[nodiscard]] std::string share_bar(double share);

/// The lines of a program's log, each prefixed with "  | ".
[[nodiscard]] std::string quoted_lines(std::string_view text);

/// A metric of an answer: "0.972222", "nan", or "-" if there is none.
[[nodiscard]] std::string metric_or_dash(const engine::Value& metric);
[[nodiscard]] std::string metric_or_dash(const std::optional<api::Metric>& metric);

/// The checkpoint to use from a trial: the best measured one, otherwise the latest.
struct TakenCheckpoint {
  std::string path;      ///< "" = none was written.
  std::string measured;  ///< "0.985 at 81", or "" if it was not measured.
};
[[nodiscard]] TakenCheckpoint checkpoint_of(const api::Trial& trial);

/// "checkpoint 3/0/1-9 of trial 0 of experiment 3, trained to 9 (PATH)": the checkpoint that an experiment's
/// trials start from.
[[nodiscard]] std::string source_text(const api::SourceCheckpoint& source);

/// The members of a map of length → count, by length. The map sorts its keys as text.
[[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>> by_length(
    const std::map<std::string, std::uint64_t>& counts);

}  // namespace hpsearch::cli
