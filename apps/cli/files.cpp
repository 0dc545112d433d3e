#include <cstdint>
#include <string>
#include <utility>

#include "cli/kept_files.hpp"
#include "cli/server.hpp"
#include "cli/shapes.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

Value number(std::uint64_t count) {
  return static_cast<std::int64_t>(count);
}

struct Named {
  KeptFiles kept;
  std::uint64_t experiment = 0;
};

Outcome<Named> find(const Server& server, const std::optional<std::string>& experiment) {
  const Outcome<std::uint64_t> found = server.experiment(experiment);
  if (!found) {
    return found.failure();
  }
  Outcome<KeptFiles> kept = KeptFiles::of(server, *found);
  return kept ? Outcome<Named>(Named{*std::move(kept), *found}) : Outcome<Named>(kept.failure());
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

}  // namespace

int list_files(const FilesOptions& options, const Output& output) {
  const Outcome<Server> server = Server::reach(options.server, Server::Need::readable, output);
  if (!server) {
    return output.fail(server.failure());
  }
  const auto named =
      find(*server, options.which.empty() ? std::nullopt : std::optional(options.which.front()));
  if (!named) {
    return output.fail(named.failure());
  }
  if (options.which.size() < 2) {
    print_trials(named->kept, output);
    return 0;
  }
  const Outcome<std::uint64_t> trial = read_number(options.which.back(), "trial");
  if (!trial) {
    return output.fail(trial.failure());
  }
  print_trial(named->kept, *trial, output);
  return 0;
}

int take_files(const FilesOptions& options, const Output& output) {
  const std::size_t words = options.which.size() - (options.copies ? 1 : 0);  // The last is DIR.
  const Outcome<Server> server = Server::reach(options.server, Server::Need::readable, output);
  if (!server) {
    return output.fail(server.failure());
  }
  const auto named = find(*server, words == 2 ? std::optional(options.which.front()) : std::nullopt);
  if (!named) {
    return output.fail(named.failure());
  }
  const Outcome<std::uint64_t> trial = read_number(options.which[words - 1], "trial");
  if (!trial) {
    return output.fail(trial.failure());
  }
  const std::string place = named->kept.directory(*trial).string();
  if (named->kept.of_trial(*trial).files.empty()) {
    return output.fail(not_found_failure("no file of trial " + std::to_string(*trial) +
                                         " is kept; hpsearch files " + std::to_string(named->experiment) +
                                         " lists what is"));
  }
  if (!options.copies) {
    if (output.json()) {
      output.data(Value::Map{{"directory", place}});
    } else {
      output.print(place + "\n");
    }
    return 0;
  }
  const std::string& to = options.which.back();
  if (const auto copied = named->kept.copy(*trial, to); !copied) {
    return output.fail(copied.failure());
  }
  if (output.json()) {
    output.data(Value::Map{{"from", place}, {"path", to}});
  } else {
    output.print("the files of trial " + std::to_string(*trial) + " are in " + to + "\n");
  }
  return 0;
}

}  // namespace hpsearch::cli
