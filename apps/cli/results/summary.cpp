#include "cli/results/summary.hpp"

#include <algorithm>

#include "cli/artifacts/kept_files.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/text.hpp"
#include "cli/results/finalists.hpp"
#include "hpsearch/engine/base/amount.hpp"
#include "hpsearch/engine/config/metric_direction.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

// Of a search that came to nothing, whose failures may be shown.
constexpr std::size_t most_examples = 100;

const Value* find_trial(const Value::List& trials, std::uint64_t number) {
  // Trials come in order of their numbers, but nobody has promised that.
  const auto found = std::find_if(trials.begin(), trials.end(), [number](const Value& trial) {
    return count_at(trial, "trial") == number;
  });
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
    const std::string context = text_at(input.detail, "context_directory");
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
  const Value* example = nullptr;
  for (const Value& trial : input.trials) {
    if (text_at(trial, "state") != "FAILED" && !paused_itself) {
      return std::nullopt;
    }
    const auto tells = [](const Value& of) {
      return !text_at(of, "last_failure").empty() || !text_at(member(of, "reason"), "detail").empty();
    };
    if (example == nullptr || (!tells(*example) && tells(trial))) {
      example = &trial;
    }
  }
  Summary::Trouble trouble;
  trouble.trial = count_at(*example, "trial");
  trouble.cause = paused_itself ? printable(summary.reason) : reason_text(member(*example, "reason"));
  trouble.logs = input.logs.empty() ? "" : input.logs + " " + std::to_string(trouble.trial);
  // The first line says how the program ended, the rest is the end of its log.
  const std::string failure = text_at(*example, "last_failure");
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

bool stopped_by_search(const Value& trial) {
  const std::string why = text_at(member(trial, "reason"), "why");
  return text_at(trial, "state") == "STOPPED" && why != "early_exit" && why != "user";
}

bool trains_no_further(const Value& trial) {
  return member(trial, "trains_no_further") == Value(true);
}

/// The share of training that the searcher's decisions saved; nothing if it stopped no trial. A trial that
/// failed, was canceled or was stopped by somebody else saves nothing, it is just missing. One whose program
/// ended by itself was trained in full, and shows how far such programs train.
std::optional<double> saved_by_stopping(const SummaryInput& input) {
  double longest = number_at(input.detail, "max_length");
  for (const Value& trial : input.trials) {
    longest = trains_no_further(trial) ? std::min(longest, number_at(trial, "reached")) : longest;
  }
  double trained = 0;
  double full = 0;
  bool is_stopped = false;
  for (const Value& trial : input.trials) {
    const bool in_full = text_at(trial, "state") == "COMPLETED" || trains_no_further(trial);
    const bool early = !in_full && stopped_by_search(trial);
    if (in_full || early) {
      trained += number_at(trial, "trained");
      full += early ? std::max(longest, number_at(trial, "reached")) : number_at(trial, "reached");
    }
    is_stopped = is_stopped || early;
  }
  return is_stopped && full > 0 ? std::optional(1 - trained / full) : std::nullopt;
}

/// The length that was trained again, because an attempt began before the length of its trial.
std::uint64_t trained_again(const Value::List& trials) {
  std::uint64_t again = 0;
  for (const Value& trial : trials) {
    const std::uint64_t trained = count_at(trial, "trained");
    again += trained - std::min(trained, count_at(trial, "reached"));
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

void SummaryInput::take(const Value& trial) {
  const std::uint64_t number = count_at(trial, "trial");
  const Value& best = member(detail, "best");
  const bool told = (!best.is_null() && count_at(best, "trial") == number) ||
                    ((text_at(trial, "state") == "FAILED" || !text_at(trial, "last_failure").empty()) &&
                     trials.size() < most_examples);
  if (told) {
    trials.push_back(trial);
  } else {
    trials.emplace_back(Value::Map{{"trial", member(trial, "trial")},
                                   {"state", member(trial, "state")},
                                   {"reached", member(trial, "reached")},
                                   {"trained", member(trial, "trained")},
                                   {"trains_no_further", member(trial, "trains_no_further")},
                                   {"reason", Value::Map{{"why", member(member(trial, "reason"), "why")}}}});
  }
}

Summary summarize(const SummaryInput& input) {
  const Value& detail = input.detail;
  Summary out;
  out.experiment = count_at(detail, "id");
  out.name = text_at(detail, "name");
  out.state = text_at(detail, "state");
  out.reason = text_at(detail, "reason");
  out.metric = text_at(detail, "metric");
  out.unit = text_at(detail, "unit");
  out.trials_by_state = member(detail, "trials");
  out.trials = count_at(detail, "trials_total");
  out.final_counts = by_length(member(detail, "final_counts"));
  out.length_trained = count_at(detail, "length_trained");
  out.length_full = count_at(detail, "length_full");
  out.length_unreported = count_at(detail, "length_unreported");
  out.ran_unlogged = ran_unlogged(detail);
  out.training = training_text(detail);
  out.length_again = trained_again(input.trials);
  for (const Value& doubt : list_at(detail, "doubts")) {
    out.notes.push_back(printable(doubt.as_text() != nullptr ? *doubt.as_text() : std::string()));
  }
  const bool smaller = member(detail, "smaller_is_better") == Value(true);
  const std::optional<bool> by_name = engine::smaller_is_better_by_name(out.metric);
  if (by_name && *by_name != smaller && member(detail, "smaller_is_better") != Value()) {
    out.doubt = std::string(smaller ? "the lowest of a metric that by its name is better when larger"
                                    : "the highest of a metric that by its name is better when smaller") +
                ": see searcher.smaller_is_better";
  }
  out.saved_share = saved_by_stopping(input);
  if (const Value& best = member(detail, "best"); !best.is_null()) {
    Summary::Best found;
    found.trial = count_at(best, "trial");
    found.metric = number_at(best, "metric");
    found.step = count_at(best, "step");
    if (const Value* trial = find_trial(input.trials, found.trial)) {
      found.hparams = member(*trial, "hparams");
      found.checkpoint = checkpoint_of(*trial);
    }
    out.best = std::move(found);
  }
  out.finalists = list_at(detail, "finalists");
  out.slots = input.slots;
  out.slot_seconds = number_at(detail, "slot_seconds");
  const double first = number_at(detail, "first_lease_at");
  const double last = number_at(detail, "last_release_at");
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
  for (const Value& note : out.trouble ? Value::List() : list_at(detail, "notes")) {
    out.notes.push_back("trial " + std::to_string(count_at(note, "trial")) + ": " +
                        printable(text_at(note, "text")));
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
                    {"finalists", summary.finalists},
                    {"trials", summary.trials_by_state},
                    {"trials_total", count_of(summary.trials)},
                    {"final_counts", std::move(finals)},
                    {"length_trained", count_of(summary.length_trained)},
                    {"length_full", count_of(summary.length_full)},
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
