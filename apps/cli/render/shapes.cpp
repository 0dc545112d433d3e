#include "cli/render/shapes.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "cli/render/text.hpp"
#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/sentences/words.hpp"

namespace hpsearch::cli {

using engine::Value;

std::string training_text(const api::Experiment& detail) {
  std::string unknown;
  if (detail.length_unreported > 0) {
    unknown = "unknown for " + sentences::counted(detail.length_unreported, "trial");
  }
  if (detail.ran_unlogged) {
    unknown += (unknown.empty() ? "" : "; ") + std::string("what ran between backup and restore is unknown");
  }
  return (unknown.empty() ? "" : "≥ ") + engine::to_text(detail.length_trained) + " of " +
         engine::to_text(detail.length_full) + (detail.unit.empty() ? "" : " " + printable(detail.unit)) +
         (unknown.empty() ? "" : " (" + unknown + ")");
}

std::string slot_time_text(double seconds, bool ran_unlogged) {
  return (ran_unlogged ? "≥ " : "") + duration_text(seconds);
}

std::string states_text(const std::map<std::string, std::uint64_t>& trials_by_state) {
  std::string out;
  for (const std::string_view state :
       {"RUNNING", "PENDING", "PAUSED", "COMPLETED", "STOPPED", "FAILED", "CANCELED"}) {
    std::string word(state);
    const auto found = trials_by_state.find(word);
    const std::uint64_t number = found == trials_by_state.end() ? 0 : found->second;
    if (number == 0) {
      continue;
    }
    std::transform(word.begin(), word.end(), word.begin(), [](char c) { return static_cast<char>(c + 32); });
    out += (out.empty() ? "" : ", ") + std::to_string(number) + " " + word;
  }
  return out.empty() ? "none yet" : out;
}

TakenCheckpoint checkpoint_of(const api::Trial& trial) {
  TakenCheckpoint taken{trial.best_checkpoint, ""};
  if (taken.path.empty()) {
    taken.path = trial.checkpoint;
  } else if (trial.best_checkpoint_metric) {
    taken.measured = metric_text(*trial.best_checkpoint_metric) + " at " +
                     std::to_string(engine::count(trial.best_checkpoint_step));
  }
  return taken;
}

std::string source_text(const api::SourceCheckpoint& source) {
  return "checkpoint " + printable(source.id) + " of trial " + std::to_string(source.trial.number()) +
         " of experiment " + std::to_string(source.experiment.number()) + ", trained to " +
         std::to_string(engine::count(source.step)) + " (" + printable(source.path) + ")";
}

std::string failures_text(const api::ExperimentSummary& experiment) {
  const std::optional<api::CommonFailure>& failure = experiment.common_failure;
  return failure ? std::to_string(failure->attempts) + " attempts failed in the same way, trial " +
                       std::to_string(failure->trial.number()) + " last: " + printable(failure->why)
                 : "";
}

std::string annotation_text(bool starred, const std::vector<std::string>& labels, const std::string& note) {
  std::string out = starred ? "starred" : "";
  for (const std::string& label : labels) {
    out += (&label != labels.data() ? ", " : out.empty() ? "labels " : "; labels ") + printable(label);
  }
  out += note.empty() ? "" : (out.empty() ? "note: " : "; note: ") + printable(note);
  return out.empty() ? "nothing is written about it" : out;
}

std::string git_text(const api::GitState& git) {
  return "commit " + printable(git.commit.substr(0, 7)) +
         (git.branch.empty() ? "" : " of " + printable(git.branch)) +
         (git.dirty ? ", with uncommitted changes" : "");
}

std::string share_bar(double share) {
  constexpr double columns = 30;
  return std::string(static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * columns)), '#');
}

std::string quoted_lines(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += (out.empty() ? "  | " : "\n  | ") + printable(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::string metric_or_dash(const Value& metric) {
  const std::optional<double> number = proto::real_of(metric);
  return number ? metric_text(*number) : "-";
}

std::string metric_or_dash(const std::optional<api::Metric>& metric) {
  return metric ? metric_text(*metric) : "-";
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> by_length(
    const std::map<std::string, std::uint64_t>& counts) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> out;
  for (const auto& [length, number] : counts) {
    out.emplace_back(engine::number_in<std::uint64_t>(length).value_or(0), number);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace hpsearch::cli
