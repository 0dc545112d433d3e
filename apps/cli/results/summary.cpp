#include "cli/results/summary.hpp"

#include <algorithm>
#include <utility>

#include "cli/artifacts/kept_files.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/text.hpp"
#include "cli/results/finalists.hpp"
#include "hpsearch/engine/base/amount.hpp"
#include "hpsearch/engine/config/metric_direction.hpp"
#include "hpsearch/proto/encoding/record.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

// For a search without results, whose failures are shown.
constexpr std::size_t most_examples = 100;

const api::Trial* find_trial(const std::vector<api::Trial>& trials, engine::TrialNumber number) {
  // Trials arrive by number, but the interface does not promise it.
  const auto found = std::find_if(trials.begin(), trials.end(),
                                  [number](const api::Trial& trial) { return trial.trial == number; });
  return found == trials.end() ? nullptr : &*found;
}

std::string remedy_for(const std::string& cause, const Summary& summary, const SummaryInput& input) {
  std::string remedy;
  if (cause.find("the search's metric is") != std::string::npos) {
    remedy = "let the program report \"" + summary.metric + "\" (a line HPSEARCH {\"step\": 1, \"" +
             summary.metric +
             "\": 0.5} on its standard output is enough), read it from what the program prints (metrics: {" +
             summary.metric + ": 'PATTERN WITH {number}'}), or name one of its metrics in searcher.metric";
  } else {
    const std::string& context = input.detail.context_directory;
    remedy = "start the program by hand" + (context.empty() ? std::string() : " in " + context) +
             " until it runs there";
  }
  if (input.go_on.empty()) {
    return remedy;
  }
  return remedy + (summary.state == "PAUSED"
                       ? "; then start a new search: " + input.go_on +
                             " --fresh, or, if the program need not change, continue this one: " + input.go_on
                       : "; then start a new search: " + input.go_on + " --fresh");
}

std::optional<Summary::Trouble> find_trouble(const Summary& summary, const SummaryInput& input) {
  if (input.trials.empty()) {
    return std::nullopt;
  }
  const bool paused_itself = summary.state == "PAUSED" && !summary.reason.empty();
  const api::Trial* example = nullptr;
  for (const api::Trial& trial : input.trials) {
    if (trial.state != engine::TrialState::failed && !paused_itself) {
      return std::nullopt;
    }
    const auto tells = [](const api::Trial& of) {
      return !of.last_failure.empty() || !of.reason.reason.detail.empty();
    };
    if (example == nullptr || (!tells(*example) && tells(trial))) {
      example = &trial;
    }
  }
  Summary::Trouble trouble;
  trouble.trial = example->trial.number();
  trouble.cause = paused_itself ? printable(summary.reason) : printable(example->reason.text);
  trouble.logs = input.logs.empty() ? "" : input.logs + " " + std::to_string(trouble.trial);
  // The first line says how the program ended, the rest is the end of its log.
  const std::string& failure = example->last_failure;
  const std::size_t end = failure.find('\n');
  const std::string how = failure.substr(0, end);
  if (!how.empty() && trouble.cause.find(printable(how)) == std::string::npos) {
    trouble.cause += (trouble.cause.empty() ? "" : "; ") + printable(how);
  }
  if (end != std::string::npos) {
    trouble.log_tail = last_lines(std::string_view(failure).substr(end + 1), 12);
  }
  trouble.remedy = remedy_for(trouble.cause, summary, input);
  return trouble;
}

bool stopped_by_search(const api::Trial& trial) {
  using Why = engine::Reason::Why;
  const Why why = trial.reason.reason.why;
  return trial.state == engine::TrialState::stopped && why != Why::early_exit && why != Why::user;
}

double whole(engine::Units units) {
  return static_cast<double>(engine::count(units));
}

/// The share of training that the searcher's decisions saved; null if it stopped no trial. A trial that
/// failed, was canceled or was stopped by a user saves nothing: its training is only missing. A trial whose
/// program ended without an order was trained in full, and shows how far such programs train.
std::optional<double> saved_by_stopping(const SummaryInput& input) {
  double longest = whole(input.detail.max_length);
  for (const api::Trial& trial : input.trials) {
    longest = trial.trains_no_further ? std::min(longest, whole(trial.reached)) : longest;
  }
  double trained = 0;
  double full = 0;
  bool is_stopped = false;
  for (const api::Trial& trial : input.trials) {
    const bool in_full = trial.state == engine::TrialState::completed || trial.trains_no_further;
    const bool early = !in_full && stopped_by_search(trial);
    if (in_full || early) {
      trained += whole(trial.trained);
      full += early ? std::max(longest, whole(trial.reached)) : whole(trial.reached);
    }
    is_stopped = is_stopped || early;
  }
  return is_stopped && full > 0 ? std::optional(1 - trained / full) : std::nullopt;
}

/// The length that was trained again, because an attempt began before the length of its trial.
std::uint64_t trained_again(const std::vector<api::Trial>& trials) {
  std::uint64_t again = 0;
  for (const api::Trial& trial : trials) {
    again += engine::count(trial.trained) - engine::count(std::min(trial.trained, trial.reached));
  }
  return again;
}

Value count_of(std::uint64_t number) {
  return static_cast<std::int64_t>(number);
}

Value share_of(const std::optional<double>& share) {
  return share ? Value(*share) : Value();
}

}  // namespace

void SummaryInput::take(api::Trial trial) {
  const bool is_best = detail.best && detail.best->trial == trial.trial;
  const bool is_example = trial.state == engine::TrialState::failed || !trial.last_failure.empty();
  if (is_best || (is_example && trials.size() < most_examples)) {
    trials.push_back(std::move(trial));
    return;
  }
  api::Trial& counted = trials.emplace_back();
  counted.trial = trial.trial;
  counted.state = trial.state;
  counted.reached = trial.reached;
  counted.trained = trial.trained;
  counted.trains_no_further = trial.trains_no_further;
  counted.reason.reason.why = trial.reason.reason.why;
}

Summary summarize(const SummaryInput& input) {
  const api::Experiment& detail = input.detail;
  Summary out;
  out.experiment = detail.id.number();
  out.name = detail.name;
  out.state = engine::name_of(detail.state);
  out.reason = detail.reason;
  out.metric = detail.metric;
  out.unit = detail.unit;
  out.trials_by_state = detail.trials;
  out.trials = detail.trials_total;
  out.final_counts = by_length(detail.final_counts);
  out.length_trained = detail.length_trained;
  out.length_full = detail.length_full;
  out.length_unreported = detail.length_unreported;
  out.ran_unlogged = detail.ran_unlogged;
  out.training = training_text(detail);
  out.length_again = trained_again(input.trials);
  for (const std::string& doubt : detail.doubts) {
    out.notes.push_back(printable(doubt));
  }
  const std::optional<bool> by_name = engine::smaller_is_better_by_name(out.metric);
  if (by_name && *by_name != detail.smaller_is_better) {
    out.doubt = std::string(detail.smaller_is_better
                                ? "the lowest of a metric that by its name is better when larger"
                                : "the highest of a metric that by its name is better when smaller") +
                ": see searcher.smaller_is_better";
  }
  out.saved_share = saved_by_stopping(input);
  if (detail.best) {
    Summary::Best found;
    found.trial = detail.best->trial.number();
    found.metric = detail.best->metric;
    found.step = engine::count(detail.best->step);
    if (const api::Trial* trial = find_trial(input.trials, detail.best->trial)) {
      found.hparams = trial->hparams;
      found.checkpoint = checkpoint_of(*trial);
    }
    out.best = std::move(found);
  }
  out.finalists = detail.finalists;
  out.slots = input.slots;
  out.slot_seconds = detail.slot_seconds;
  const double first = detail.first_lease_at.value_or(0);
  const double last = detail.last_release_at.value_or(0);
  const double span = last - first - input.idle_seconds;
  if (first > 0 && span > 0 && input.slots > 0) {
    out.busy_share = std::clamp(out.slot_seconds / (static_cast<double>(input.slots) * span), 0.0, 1.0);
  }
  out.wall_seconds = input.wall_seconds;
  out.engine_seconds = input.engine_seconds;
  if (input.wall_seconds > 0) {
    out.engine_share = input.engine_seconds / input.wall_seconds;
  }
  out.kept = input.kept;
  out.kept_at = input.kept_at;
  out.trouble = find_trouble(out, input);
  for (const api::Note& note : out.trouble ? std::vector<api::Note>() : detail.notes) {
    out.notes.push_back("trial " + std::to_string(note.trial.number()) + ": " + printable(note.text));
  }
  return out;
}

Value to_value(const Summary& summary) {
  Value best;
  if (summary.best) {
    best = Value::Map{{"trial", count_of(summary.best->trial)},
                      {"metric", summary.best->metric},
                      {"step", count_of(summary.best->step)},
                      {"hparams", summary.best->hparams},
                      {"checkpoint", summary.best->checkpoint.path}};
  }
  Value trouble;
  if (summary.trouble) {
    trouble = Value::Map{{"trial", count_of(summary.trouble->trial)},
                         {"cause", summary.trouble->cause},
                         {"log_tail", summary.trouble->log_tail},
                         {"logs", summary.trouble->logs},
                         {"remedy", summary.trouble->remedy}};
  }
  Value files;
  if (!summary.kept.trials.empty() || summary.kept.dropped > 0) {
    files = Value::Map{{"directory", summary.kept_at},
                       {"trials", count_of(summary.kept.trials.size())},
                       {"trials_dropped", count_of(summary.kept.dropped)}};
  }
  Value::Map finals;
  for (const auto& [length, trials] : summary.final_counts) {
    finals[std::to_string(length)] = count_of(trials);
  }
  return Value::Map{{"experiment", count_of(summary.experiment)},
                    {"name", summary.name},
                    {"state", summary.state},
                    {"reason", summary.reason},
                    {"metric", summary.metric},
                    {"unit", summary.unit},
                    {"best", std::move(best)},
                    {"finalists", proto::encode_value(summary.finalists)},
                    {"trials", proto::encode_value(summary.trials_by_state)},
                    {"trials_total", count_of(summary.trials)},
                    {"final_counts", std::move(finals)},
                    {"length_trained", proto::count_value(summary.length_trained)},
                    {"length_full", proto::count_value(summary.length_full)},
                    {"length_unreported", count_of(summary.length_unreported)},
                    {"ran_unlogged", summary.ran_unlogged},
                    {"length_again", count_of(summary.length_again)},
                    {"saved_share", share_of(summary.saved_share)},
                    {"notes", Value::List(summary.notes.begin(), summary.notes.end())},
                    {"doubt", summary.doubt},
                    {"slots", count_of(summary.slots)},
                    {"slot_seconds", summary.slot_seconds},
                    {"slot_busy_share", share_of(summary.busy_share)},
                    {"wall_seconds", summary.wall_seconds},
                    {"engine_seconds", summary.engine_seconds},
                    {"engine_share", share_of(summary.engine_share)},
                    {"files", std::move(files)},
                    {"trouble", std::move(trouble)}};
}

namespace {

std::string savings_text(const Summary& summary) {
  const std::optional<double>& share = summary.saved_share;
  if (!share) {
    return "";
  }
  return *share < 0 ? "; early stopping saved nothing"
                    : "; early stopping saved " + std::string(summary.ran_unlogged ? "≤ " : "") +
                          percent_text(*share);
}

}  // namespace

std::string to_text(const Summary& summary, const Output& output) {
  std::string out;
  const auto line = [&out, &output](const std::string& name, const std::string& text) {
    constexpr std::size_t column = 14;
    out += output.paint(Output::Color::dim, name) +
           std::string(name.size() < column ? column - name.size() : 1, ' ') + text + "\n";
  };
  const std::string unit = printable(summary.unit);
  line("experiment", std::to_string(summary.experiment) + ", " + printable(summary.name) + ": " +
                         output.paint_state(summary.state) +
                         (summary.reason.empty() ? "" : " (" + printable(summary.reason) + ")"));
  line("trials", std::to_string(summary.trials) + ": " + states_text(summary.trials_by_state));
  std::string finals;
  for (const auto& [length, trials] : summary.final_counts) {
    finals += (finals.empty() ? "" : ", ") + std::to_string(length) + ": " + std::to_string(trials);
  }
  if (!finals.empty()) {
    line("final lengths", finals + " (" + unit + ": trials)");
  }
  line("training", summary.training +
                       (summary.length_again > 0
                            ? "; " + std::to_string(summary.length_again) + " of them again, after a restart"
                            : "") +
                       savings_text(summary));
  if (summary.busy_share) {
    line("slots", std::to_string(summary.slots) + ", busy " + percent_text(*summary.busy_share) +
                      " between first and last trial");
  }
  line("wall time", duration_text(summary.wall_seconds) +
                        (summary.engine_share ? ", engine " + percent_text(*summary.engine_share) : ""));
  const auto print_files = [&] {
    if (const std::string text = kept_text(summary.kept, summary.kept_at); !text.empty()) {
      line("files", text);
    }
  };
  if (summary.best) {
    const Summary::Best& best = *summary.best;
    line("best",
         output.paint(Output::Color::bold, printable(summary.metric) + " " + metric_text(best.metric)) +
             ", trial " + std::to_string(best.trial) + " at " +
             engine::amount(engine::Units{best.step}, unit) +
             (summary.doubt.empty() ? "" : output.paint(Output::Color::yellow, " (" + summary.doubt + ")")));
    for (const std::string& finalist : finalist_lines(summary.finalists)) {
      line(finalist.starts_with("1. ") ? "finalists" : "", finalist);
    }
    line("checkpoint",
         best.checkpoint.path.empty()
             ? "none was written"
             : printable(best.checkpoint.path) + (best.checkpoint.measured.empty()
                                                      ? ""
                                                      : " (" + best.checkpoint.measured + " " + unit + ")"));
    print_files();
    out += output.paint(Output::Color::dim, "hyperparameters:") + "\n" + yaml_text(best.hparams, 2);
  } else {
    line("best", "none: no trial reported a finite " + printable(summary.metric));
    print_files();
  }
  for (const std::string& note : summary.notes) {
    out += output.paint(Output::Color::yellow, "note: ") + note + "\n";
  }
  if (summary.trouble) {
    const Summary::Trouble& trouble = *summary.trouble;
    const bool paused = summary.state == "PAUSED";
    out += "\n" +
           output.paint(Output::Color::red, paused ? "the search paused itself" : "every trial failed") +
           "; trial " + std::to_string(trouble.trial) + ", for example: " + trouble.cause + "\n";
    if (!trouble.log_tail.empty()) {
      out += "the end of its log:\n";
      out += quoted_lines(trouble.log_tail) + "\n";
    }
    if (!trouble.logs.empty()) {
      out += "the whole log: " + trouble.logs + "\n";
    }
    out += "what to do: " + trouble.remedy + "\n";
  }
  return out;
}

}  // namespace hpsearch::cli
