#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "cli/artifacts/kept_files.hpp"
#include "cli/client/daemon_files.hpp"
#include "cli/client/server.hpp"
#include "cli/client/which.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/table.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

Value number(std::uint64_t count) {
  return static_cast<std::int64_t>(count);
}

/// The trials in the form of the daemon's answer, each with its directory.
Value trials_here(const KeptFiles& kept) {
  const proto::KeptTrials all = kept.trials();
  Value::List trials;
  for (const proto::KeptTrial& one : all.trials) {
    trials.emplace_back(Value::Map{{"trial", number(one.trial.number())},
                                   {"files", number(one.files)},
                                   {"bytes", number(one.bytes)},
                                   {"metric", one.metric ? Value(*one.metric) : Value()},
                                   {"directory", kept.directory(one.trial.number()).string()}});
  }
  return Value::Map{{"trials", std::move(trials)}, {"trials_dropped", number(all.dropped)}};
}

Value trial_here(const KeptFiles& kept, std::uint64_t trial) {
  const KeptFiles::OfTrial all = kept.of_trial(trial);
  Value::List files;
  for (const KeptFiles::File& file : all.files) {
    files.emplace_back(Value::Map{{"path", printable(file.path)}, {"bytes", number(file.bytes)}});
  }
  Value::List dropped;
  for (const proto::DroppedFile& file : all.dropped.files) {
    dropped.emplace_back(Value::Map{{"path", file.path}, {"bytes", number(file.bytes)}, {"why", file.why}});
  }
  return Value::Map{{"directory", kept.directory(trial).string()},
                    {"files", std::move(files)},
                    {"dropped", std::move(dropped)},
                    {"dropped_unnamed", number(all.dropped.unnamed)}};
}

std::string trials_text(const Value& answer, bool here) {
  using Align = Table::Align;
  std::vector<Table::Column> columns{
      {"TRIAL", Align::right}, {"FILES", Align::right}, {"SIZE", Align::right}, {"METRIC", Align::right}};
  if (here) {
    columns.push_back({"DIRECTORY"});
  } else {
    columns.push_back({"WORKER", Align::right});
    columns.push_back({"ON THE WORKER ONLY", Align::right});
  }
  Table table(std::move(columns));
  for (const Value& one : list_at(answer, "trials")) {
    table.add({std::to_string(count_at(one, "trial")), std::to_string(count_at(one, "files")),
               bytes_text(count_at(one, "bytes")), metric_or_dash(member(one, "metric")),
               here ? text_at(one, "directory") : std::to_string(count_at(one, "worker")),
               std::to_string(count_at(one, "left"))});
  }
  return table.empty() ? "" : table.text();
}

/// Lines about files that are not in the list.
std::string missing_text(const Value& answer, const std::string& key, const std::string& what) {
  std::string text;
  for (const Value& file : list_at(answer, key)) {
    const std::uint64_t bytes = count_at(file, "bytes");
    text += (key == "left" ? "on worker " + std::to_string(count_at(file, "worker")) + " only" : what) +
            ": " + printable(text_at(file, "path")) + (bytes > 0 ? " (" + bytes_text(bytes) + ")" : "") +
            ": " + printable(text_at(file, "why")) + "\n";
  }
  const std::uint64_t more = count_at(answer, key + "_unnamed");
  return more > 0 ? text + what + ": " + std::to_string(more) + " more\n" : text;
}

std::string trial_text(const Value& answer) {
  Table table({{"SIZE", Table::Align::right}, {"FILE"}});
  for (const Value& file : list_at(answer, "files")) {
    table.add({bytes_text(count_at(file, "bytes")), text_at(file, "path")});
  }
  return (table.empty() ? "" : table.text()) + missing_text(answer, "left", "on the workers only") +
         missing_text(answer, "dropped", "not kept");
}

/// Prints `answer` as JSON, or the text; `nothing` if the text is empty.
int print(const Value& answer, const std::string& text, const std::string& nothing, const Output& output) {
  if (output.json()) {
    output.data(answer);
  } else {
    output.print(text.empty() ? nothing + "\n" : text);
  }
  return 0;
}

int list_on_daemon(const Server& server, std::uint64_t experiment, std::optional<std::uint64_t> trial,
                   const Output& output) {
  const DaemonFiles files(server.client(), experiment);
  const Outcome<Value> answer = trial ? files.of_trial(*trial) : files.trials();
  if (!answer) {
    return output.fail(answer.failure());
  }
  return trial ? print(*answer, trial_text(*answer),
                       "the daemon has no files of trial " + std::to_string(*trial), output)
               : print(*answer, trials_text(*answer, false), "the daemon has no files of this experiment",
                       output);
}

void tell_copied(std::uint64_t trial, const std::string& from, const std::string& to, const Output& output) {
  if (output.json()) {
    output.data(Value::Map{{"from", from}, {"path", to}});
  } else {
    output.print("the files of trial " + std::to_string(trial) + " are in " + to + "\n");
  }
}

Failure none_kept(std::uint64_t experiment, std::uint64_t trial, const std::string& where) {
  return not_found_failure("no file of trial " + std::to_string(trial) + " is kept" + where +
                           "; hpsearch files " + std::to_string(experiment) + " lists what is");
}

int take_from_daemon(const Server& server, std::uint64_t experiment, std::uint64_t trial,
                     FilesOptions::Take take, const std::string& to, const Output& output) {
  const DaemonFiles files(server.client(), experiment);
  const Outcome<Value> there = files.of_trial(trial);
  if (!there) {
    return output.fail(there.failure());
  }
  if (list_at(*there, "files").empty()) {
    return output.fail(none_kept(experiment, trial, " at the daemon"));
  }
  const auto left_out = take == FilesOptions::Take::archive ? files.save(trial, to) : files.copy(trial, to);
  if (!left_out) {
    return output.fail(left_out.failure());
  }
  print_links_left_out(*left_out, output);
  if (const std::size_t left = list_at(*there, "left").size() + count_at(*there, "left_unnamed"); left > 0) {
    output.message(std::to_string(left) + " files are on the workers only; hpsearch files " +
                   std::to_string(experiment) + " " + std::to_string(trial) + " names them");
  }
  tell_copied(trial, server.client().address(), to, output);
  return 0;
}

/// The number of a trial's latest attempt: of these are the files that a run's worker keeps.
Outcome<std::uint64_t> latest_attempt(const Server& server, std::uint64_t experiment, std::uint64_t trial) {
  const Outcome<Value> answer =
      server.client().get(experiment_target(experiment, "/trials/" + std::to_string(trial)));
  return answer ? Outcome<std::uint64_t>(count_at(*answer, "attempts")) : answer.failure();
}

}  // namespace

int list_files(const FilesOptions& options, const Output& output) {
  const Outcome<Which> which = read_which(options.which, About::either);
  if (!which) {
    return output.fail(which.failure());
  }
  const Outcome<Reached> reached =
      reach_experiment(options.server, which->experiment, Server::Need::readable, output);
  if (!reached) {
    return output.fail(reached.failure());
  }
  const Server& server = reached->server;
  if (!KeptFiles::are_here(server)) {
    return list_on_daemon(server, reached->experiment, which->trial, output);
  }
  const Outcome<KeptFiles> kept = KeptFiles::of(server, reached->experiment);
  if (!kept) {
    return output.fail(kept.failure());
  }
  if (which->trial) {
    const Value answer = trial_here(*kept, *which->trial);
    return print(answer, trial_text(answer),
                 "trial " + std::to_string(*which->trial) +
                     " left no file in its working directory, or has not ended yet",
                 output);
  }
  const Value answer = trials_here(*kept);
  const std::string sum = kept_text(kept->trials(), "");
  return print(answer, sum.empty() ? "" : trials_text(answer, true) + sum + "\n",
               "no program left a file in its working directory", output);
}

int take_files(const FilesOptions& options, const Output& output) {
  const bool has_place = options.take != FilesOptions::Take::path;
  const auto words_end = options.which.end() - (has_place ? 1 : 0);  // The last word is the place.
  const Outcome<Which> which = read_which({options.which.begin(), words_end}, About::trial);
  if (!which) {
    return output.fail(which.failure());
  }
  const Outcome<Reached> reached =
      reach_experiment(options.server, which->experiment, Server::Need::readable, output);
  if (!reached) {
    return output.fail(reached.failure());
  }
  const Server& server = reached->server;
  const std::uint64_t trial = *which->trial;
  const std::string& to = options.which.back();
  if (!KeptFiles::are_here(server) && has_place) {
    return take_from_daemon(server, reached->experiment, trial, options.take, to, output);
  }
  const Outcome<KeptFiles> kept = KeptFiles::of(server, reached->experiment);
  if (!kept) {
    return output.fail(kept.failure());
  }
  const std::string place = kept->directory(trial).string();
  if (kept->of_trial(trial).files.empty()) {
    return output.fail(none_kept(reached->experiment, trial, ""));
  }
  if (!has_place) {
    if (output.json()) {
      output.data(Value::Map{{"directory", place}});
    } else {
      output.print(place + "\n");
    }
    return 0;
  }
  const auto attempt = latest_attempt(server, reached->experiment, trial);
  const auto left_out = options.take != FilesOptions::Take::archive ? kept->copy(trial, to)
                        : attempt                                   ? kept->save(trial, *attempt, to)
                                  : Outcome<LinksLeftOut>(attempt.failure());
  if (!left_out) {
    return output.fail(left_out.failure());
  }
  print_links_left_out(*left_out, output);
  tell_copied(trial, place, to, output);
  return 0;
}

}  // namespace hpsearch::cli
