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

void print_trials(const KeptFiles& kept, const Output& output) {
  const proto::KeptTrials all = kept.trials();
  if (output.json()) {
    Value::List trials;
    for (const proto::KeptTrial& one : all.trials) {
      trials.emplace_back(Value::Map{{"trial", number(one.trial.number())},
                                     {"files", number(one.files)},
                                     {"bytes", number(one.bytes)},
                                     {"metric", one.metric ? Value(*one.metric) : Value()},
                                     {"directory", kept.directory(one.trial.number()).string()}});
    }
    output.data(Value::Map{{"trials", std::move(trials)}, {"trials_dropped", number(all.dropped)}});
    return;
  }
  using Align = Table::Align;
  Table table({{"TRIAL", Align::right},
               {"FILES", Align::right},
               {"SIZE", Align::right},
               {"METRIC", Align::right},
               {"DIRECTORY"}});
  for (const proto::KeptTrial& one : all.trials) {
    table.add({std::to_string(one.trial.number()), std::to_string(one.files), bytes_text(one.bytes),
               one.metric ? metric_or_dash(Value(*one.metric)) : "-",
               kept.directory(one.trial.number()).string()});
  }
  const std::string text = kept_text(all, "");
  output.print(table.empty() && text.empty()
                   ? std::string("no program left a file in its working directory\n")
                   : (table.empty() ? "" : table.text()) + text + "\n");
}

void print_trial(const KeptFiles& kept, std::uint64_t trial, const Output& output) {
  const KeptFiles::OfTrial all = kept.of_trial(trial);
  if (output.json()) {
    Value::List files;
    for (const KeptFiles::File& file : all.files) {
      files.emplace_back(Value::Map{{"path", printable(file.path)}, {"bytes", number(file.bytes)}});
    }
    Value::List dropped;
    for (const proto::DroppedFile& file : all.dropped.files) {
      dropped.emplace_back(Value::Map{{"path", file.path}, {"bytes", number(file.bytes)}, {"why", file.why}});
    }
    output.data(Value::Map{{"directory", kept.directory(trial).string()},
                           {"files", std::move(files)},
                           {"dropped", std::move(dropped)},
                           {"dropped_unnamed", number(all.dropped.unnamed)}});
    return;
  }
  std::string text;
  if (!all.files.empty()) {
    Table table({{"SIZE", Table::Align::right}, {"FILE"}});
    for (const KeptFiles::File& file : all.files) {
      table.add({bytes_text(file.bytes), file.path});
    }
    text = table.text();
  }
  for (const proto::DroppedFile& file : all.dropped.files) {
    text += "not kept: " + printable(file.path) +
            (file.bytes > 0 ? " (" + bytes_text(file.bytes) + ")" : "") + ": " + printable(file.why) + "\n";
  }
  if (all.dropped.unnamed > 0) {
    text += "not kept: " + std::to_string(all.dropped.unnamed) + " more\n";
  }
  output.print(text.empty() ? "trial " + std::to_string(trial) +
                                  " left no file in its working directory, or has not ended yet\n"
                            : text);
}

/// "worker 3" for one of them.
std::string worker_text(const Value& entry) {
  return "worker " + std::to_string(count_at(entry, "worker"));
}

void print_daemons_trials(const Value& answer, const Output& output) {
  if (output.json()) {
    output.data(answer);
    return;
  }
  using Align = Table::Align;
  Table table({{"TRIAL", Align::right},
               {"FILES", Align::right},
               {"SIZE", Align::right},
               {"METRIC", Align::right},
               {"WORKER", Align::right},
               {"ON THE WORKER ONLY", Align::right}});
  for (const Value& one : list_at(answer, "trials")) {
    table.add({std::to_string(count_at(one, "trial")), std::to_string(count_at(one, "files")),
               bytes_text(count_at(one, "bytes")), metric_or_dash(member(one, "metric")),
               std::to_string(count_at(one, "worker")), std::to_string(count_at(one, "left"))});
  }
  output.print(table.empty() ? "the daemon has no files of this experiment\n" : table.text());
}

void print_daemons_trial(const Value& answer, std::uint64_t trial, const Output& output) {
  if (output.json()) {
    output.data(answer);
    return;
  }
  std::string text;
  if (!list_at(answer, "files").empty()) {
    Table table({{"SIZE", Table::Align::right}, {"FILE"}});
    for (const Value& file : list_at(answer, "files")) {
      table.add({bytes_text(count_at(file, "bytes")), text_at(file, "path")});
    }
    text = table.text();
  }
  const auto name = [&text](const std::string& what, const Value& file) {
    const std::uint64_t bytes = count_at(file, "bytes");
    text += what + ": " + printable(text_at(file, "path")) +
            (bytes > 0 ? " (" + bytes_text(bytes) + ")" : "") + ": " + printable(text_at(file, "why")) + "\n";
  };
  for (const Value& file : list_at(answer, "left")) {
    name("on " + worker_text(file) + " only", file);
  }
  if (const std::uint64_t more = count_at(answer, "left_unnamed"); more > 0) {
    text += "on the workers only: " + std::to_string(more) + " more\n";
  }
  for (const Value& file : list_at(answer, "dropped")) {
    name("not kept", file);
  }
  if (const std::uint64_t more = count_at(answer, "dropped_unnamed"); more > 0) {
    text += "not kept: " + std::to_string(more) + " more\n";
  }
  output.print(text.empty() ? "the daemon has no files of trial " + std::to_string(trial) + "\n" : text);
}

int list_on_daemon(const Server& server, std::uint64_t experiment, std::optional<std::uint64_t> trial,
                   const Output& output) {
  const DaemonFiles files(server.client(), experiment);
  const Outcome<Value> answer = trial ? files.of_trial(*trial) : files.trials();
  if (!answer) {
    return output.fail(answer.failure());
  }
  if (trial) {
    print_daemons_trial(*answer, *trial, output);
  } else {
    print_daemons_trials(*answer, output);
  }
  return 0;
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
                     const std::string& to, const Output& output) {
  const DaemonFiles files(server.client(), experiment);
  const Outcome<Value> there = files.of_trial(trial);
  if (!there) {
    return output.fail(there.failure());
  }
  if (list_at(*there, "files").empty()) {
    return output.fail(none_kept(experiment, trial, " at the daemon"));
  }
  const auto left_out = files.copy(trial, to);
  if (!left_out) {
    return output.fail(left_out.failure());
  }
  tell_links_left_out(*left_out, output);
  if (const std::size_t left = list_at(*there, "left").size() + count_at(*there, "left_unnamed"); left > 0) {
    output.message(std::to_string(left) + " files are on the workers only; hpsearch files " +
                   std::to_string(experiment) + " " + std::to_string(trial) + " names them");
  }
  tell_copied(trial, server.client().address(), to, output);
  return 0;
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
  if (!server.run_state()) {
    return list_on_daemon(server, reached->experiment, which->trial, output);
  }
  const Outcome<KeptFiles> kept = KeptFiles::of(server, reached->experiment);
  if (!kept) {
    return output.fail(kept.failure());
  }
  if (which->trial) {
    print_trial(*kept, *which->trial, output);
  } else {
    print_trials(*kept, output);
  }
  return 0;
}

int take_files(const FilesOptions& options, const Output& output) {
  const auto words_end = options.which.end() - (options.copies ? 1 : 0);  // The last is DIR.
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
  if (!server.run_state() && options.copies) {
    return take_from_daemon(server, reached->experiment, trial, to, output);
  }
  const Outcome<KeptFiles> kept = KeptFiles::of(server, reached->experiment);
  if (!kept) {
    return output.fail(kept.failure());
  }
  const std::string place = kept->directory(trial).string();
  if (kept->of_trial(trial).files.empty()) {
    return output.fail(none_kept(reached->experiment, trial, ""));
  }
  if (!options.copies) {
    if (output.json()) {
      output.data(Value::Map{{"directory", place}});
    } else {
      output.print(place + "\n");
    }
    return 0;
  }
  const auto left_out = kept->copy(trial, to);
  if (!left_out) {
    return output.fail(left_out.failure());
  }
  tell_links_left_out(*left_out, output);
  tell_copied(trial, place, to, output);
  return 0;
}

}  // namespace hpsearch::cli
