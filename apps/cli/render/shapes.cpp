#include "cli/render/shapes.hpp"

#include <algorithm>
#include <optional>

#include "cli/render/text.hpp"
#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/experiment/experiment_state.hpp"
#include "hpsearch/engine/searcher.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/sentences/reason.hpp"
#include "hpsearch/proto/sentences/words.hpp"

namespace hpsearch::cli {

using engine::Value;

std::string reason_text(const Value& reason) {
  if (const std::string text = text_at(reason, "text"); !text.empty()) {
    return printable(text);
  }
  const auto why = engine::why_named(text_at(reason, "why"));
  if (!why) {
    return printable(text_at(reason, "detail"));
  }
  engine::Reason out;
  out.why = *why;
  out.detail = text_at(reason, "detail");
  if (member(reason, "bracket").is_number()) {
    out.bracket = static_cast<std::uint32_t>(count_at(reason, "bracket"));
  }
  if (member(reason, "rung").is_number()) {
    out.rung = static_cast<std::uint32_t>(count_at(reason, "rung"));
  }
  if (member(reason, "rank").is_number()) {
    out.rank = count_at(reason, "rank");
  }
  if (member(reason, "size").is_number()) {
    out.size = count_at(reason, "size");
  }
  if (member(reason, "keep").is_number()) {
    out.keep = count_at(reason, "keep");
  }
  if (const std::optional<double> cutoff = proto::real_of(member(reason, "cutoff"))) {
    out.cutoff = *cutoff;
  }
  return printable(sentences::describe(out));
}

std::string training_text(const Value& detail) {
  std::string unknown;
  if (const std::uint64_t unreported = count_at(detail, "length_unreported"); unreported > 0) {
    unknown = "unknown for " + sentences::counted(unreported, "trial");
  }
  if (ran_unlogged(detail)) {
    unknown += (unknown.empty() ? "" : "; ") + std::string("what ran between backup and restore is unknown");
  }
  return (unknown.empty() ? "" : "≥ ") + std::to_string(count_at(detail, "length_trained")) + " of " +
         std::to_string(count_at(detail, "length_full")) + " " + printable(text_at(detail, "unit")) +
         (unknown.empty() ? "" : " (" + unknown + ")");
}

bool has_ended(const Value& detail) {
  const auto state = engine::experiment_state_named(text_at(detail, "state"));
  return state && engine::is_ended(*state);
}

bool ran_unlogged(const Value& answer) {
  return member(answer, "ran_unlogged") == Value(true);
}

std::string slot_time_text(const Value& answer) {
  return (ran_unlogged(answer) ? "≥ " : "") + duration_text(number_at(answer, "slot_seconds"));
}

std::string states_text(const Value& trials_by_state) {
  std::string out;
  for (const std::string_view state :
       {"RUNNING", "PENDING", "PAUSED", "COMPLETED", "STOPPED", "FAILED", "CANCELED"}) {
    const std::uint64_t number = count_at(trials_by_state, state);
    if (number == 0) {
      continue;
    }
    std::string word(state);
    std::transform(word.begin(), word.end(), word.begin(), [](char c) { return static_cast<char>(c + 32); });
    out += (out.empty() ? "" : ", ") + std::to_string(number) + " " + word;
  }
  return out.empty() ? "none yet" : out;
}

TakenCheckpoint checkpoint_of(const Value& trial) {
  TakenCheckpoint taken{text_at(trial, "best_checkpoint"), ""};
  if (taken.path.empty()) {
    taken.path = text_at(trial, "checkpoint");
  } else if (const Value& metric = member(trial, "best_checkpoint_metric"); !metric.is_null()) {
    taken.measured =
        metric_or_dash(metric) + " at " + std::to_string(count_at(trial, "best_checkpoint_step"));
  }
  return taken;
}

std::string source_text(const Value& source) {
  return "checkpoint " + printable(text_at(source, "id")) + " of trial " +
         std::to_string(count_at(source, "trial")) + " of experiment " +
         std::to_string(count_at(source, "experiment")) + ", trained to " +
         std::to_string(count_at(source, "step")) + " (" + printable(text_at(source, "path")) + ")";
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

std::vector<std::pair<std::uint64_t, std::uint64_t>> by_length(const Value& counts) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> out;
  if (const Value::Map* map = counts.as_map()) {
    for (const auto& [key, number] : *map) {
      out.emplace_back(engine::number_in<std::uint64_t>(key).value_or(0), count_at(counts, key));
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace hpsearch::cli
