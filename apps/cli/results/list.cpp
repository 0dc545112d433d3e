#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/client/answers.hpp"
#include "cli/client/last_summary.hpp"
#include "cli/client/search_places.hpp"
#include "cli/client/server.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/table.hpp"
#include "cli/render/text.hpp"
#include "cli/render/waiting_note.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/engine/base/amount.hpp"
#include "hpsearch/io/files/state_home.hpp"
#include "hpsearch/io/http/http.hpp"
#include "hpsearch/proto/api/experiments.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;
using Align = Table::Align;

using Experiments = std::vector<api::ExperimentSummary>;

/// An unchanged answer, for JSON, and its struct.
struct Listed {
  Value::List answer;
  Experiments experiments;
};

Outcome<Listed> listed(const Client& client, const std::string& target) {
  const Outcome<Value> answer = client.get_list(target, "experiments");
  if (!answer) {
    return answer.failure();
  }
  Listed all{list_at(*answer, "experiments"), {}};
  for (const Value& one : all.answer) {
    auto experiment = read_as<api::ExperimentSummary>(one);
    if (!experiment) {
      return experiment.failure();
    }
    all.experiments.push_back(*std::move(experiment));
  }
  return all;
}

std::string best_text(const api::ExperimentSummary& experiment) {
  return experiment.best ? metric_text(experiment.best->metric) : "-";
}

/// The length at which the best result was measured: values of different lengths can't be compared.
std::string best_length_text(const api::ExperimentSummary& experiment) {
  return experiment.best ? engine::amount(experiment.best->step, printable(experiment.unit)) : "";
}

Table::Column state_column(const Output& output) {
  return {.title = "STATE", .paint = [&output](std::string_view state) { return output.paint_state(state); }};
}

std::string table_of(const Experiments& experiments, const Output& output) {
  Table table({{"ID", Align::right},
               state_column(output),
               {"PROGRESS", Align::right},
               {"BEST", Align::right},
               {"AT", Align::right},
               {"AGE", Align::right},
               {.title = "OWNER", .drop_if_equal = true},
               {.title = "PROJECT", .drop_if_equal = true},
               {.title = "NAME", .may_be_cut = true, .cut_in_middle = true},
               {"TRIALS"}});
  const double now = seconds_now();
  for (const api::ExperimentSummary& experiment : experiments) {
    table.add({std::to_string(experiment.id.number()), std::string(engine::name_of(experiment.state)),
               percent_text(experiment.progress.value_or(0)), best_text(experiment),
               best_length_text(experiment), age_text(now - experiment.created_at), experiment.owner,
               experiment.workspace + "/" + experiment.project,
               (experiment.starred ? "* " : "") + experiment.name, states_text(experiment.trials)});
  }
  return table.empty() ? std::string("no experiments yet\n") : table.text(output.width());
}

/// Why experiments do not run. One that no process uses waits for nothing.
std::string notes_of(const Experiments& experiments, bool in_use) {
  std::string notes;
  for (const api::ExperimentSummary& experiment : experiments) {
    const std::string name = "experiment " + std::to_string(experiment.id.number());
    const std::string reason = printable(experiment.reason);
    const std::string waits = in_use ? printable(experiment.waits_for.value_or("")) : "";
    notes += waits.empty() ? "" : name + " waits: " + waits + "\n";
    notes += experiment.state == engine::ExperimentState::paused && !reason.empty()
                 ? name + " paused itself: " + reason + "\n"
                 : "";
    const std::string failures = failures_text(experiment);
    notes += experiment.state == engine::ExperimentState::active && !failures.empty()
                 ? name + ": " + failures + "\n"
                 : "";
  }
  return notes;
}

/// The same of a daemon's experiments, and problems of its disk.
std::string notes_of(const Server& server, const Experiments& experiments) {
  std::string notes = notes_of(experiments, !server.is_ours());
  if (const std::string storage = storage_trouble(server.client()); !storage.empty()) {
    notes += storage + "\n";
  }
  return notes;
}

/// A search of this directory or of Python, read from its store.
struct SeenSearch {
  std::string name{};
  std::optional<api::ExperimentSummary> experiment{};  ///< Null: it has not begun, or is not readable.
  bool in_use = false;
  std::string problem{};  ///< Why it is not readable.
  std::string notes{};
  Value json{};
};

/// The experiments of the search, and whether a process uses it. If none does and the last run left no
/// summary, a daemon of our own reads the store.
Outcome<Listed> experiments_of(const SearchPlace& search, const Output& output, SeenSearch& seen) {
  if (const auto last = last_summary(StateDirectory(search.path))) {
    if (auto experiment = read_as<api::ExperimentSummary>(*last)) {
      seen.notes = notes_of({*experiment}, false);
      return Listed{{*last}, {*std::move(experiment)}};
    }
  }
  ServerOptions options;
  options.state_dir = search.path.string();
  const Outcome<Server> server = Server::reach(options, Server::Need::readable, output);
  if (!server) {
    return server.failure();
  }
  seen.in_use = !server->is_ours();
  Outcome<Listed> found = listed(server->client(), "/api/v1/experiments");
  seen.notes = found ? notes_of(*server, found->experiments) : "";
  return found;
}

SeenSearch look_at(const SearchPlace& search, const Output& output) {
  SeenSearch seen{.name = search.name};
  const Outcome<Listed> found = experiments_of(search, output, seen);
  Value::Map json;
  if (!found) {
    seen.problem = found.failure().message;
  } else if (!found->experiments.empty()) {
    seen.experiment = found->experiments.back();
    json = *found->answer.back().as_map();
  }
  json["search"] = search.name;
  json["state_dir"] = search.path.string();
  json["file"] = search.record.file;
  json["in_use"] = seen.in_use;
  json["problem"] = found ? Value() : Value(seen.problem);
  json["notes"] = seen.notes;
  seen.json = std::move(json);
  return seen;
}

/// A search that no process uses does not run, whatever its store contains.
std::string state_text(const SeenSearch& seen) {
  if (!seen.experiment) {
    return seen.problem.empty() ? "NOT BEGUN" : "UNREADABLE";
  }
  return engine::is_ended(seen.experiment->state) || seen.in_use
             ? std::string(engine::name_of(seen.experiment->state))
             : "NOT RUNNING";
}

std::string table_of_searches(const std::vector<SeenSearch>& searches, const Output& output) {
  Table table({{.title = "SEARCH", .may_be_cut = true, .cut_in_middle = true},
               state_column(output),
               {"PROGRESS", Align::right},
               {"BEST", Align::right},
               {"AT", Align::right},
               {"AGE", Align::right},
               {"TRIALS"}});
  const double now = seconds_now();
  for (const SeenSearch& seen : searches) {
    if (const auto& experiment = seen.experiment) {
      table.add({seen.name, state_text(seen), percent_text(experiment->progress.value_or(0)),
                 best_text(*experiment), best_length_text(*experiment),
                 age_text(now - experiment->created_at), states_text(experiment->trials)});
    } else {
      table.add({seen.name, state_text(seen), "", "", "", "", seen.problem});
    }
  }
  return table.text(output.width());
}

void print_searches(const std::vector<SeenSearch>& searches, const Output& output) {
  if (searches.empty()) {
    return;
  }
  output.print(table_of_searches(searches, output));
  for (const SeenSearch& seen : searches) {
    const std::string& notes = seen.notes;
    for (std::size_t begin = 0; begin < notes.size(); begin = notes.find('\n', begin) + 1) {
      output.print(printable(seen.name) + ": " + notes.substr(begin, notes.find('\n', begin) - begin) + "\n");
    }
  }
}

Value json_of(std::vector<SeenSearch>& searches) {
  Value::List all;
  for (SeenSearch& search : searches) {
    all.push_back(std::move(search.json));
  }
  return all;
}

std::string target_of(const ListOptions& options) {
  std::string target = std::string("/api/v1/experiments?archived=") + (options.archived ? "true"
                                                                       : options.all    ? "all"
                                                                                        : "false");
  target += options.starred ? "&starred=true" : "";
  target += options.label ? "&label=" + net::percent_encoded(*options.label) : "";
  return target;
}

/// Searches of this directory don't wait long for a daemon that does not answer.
Outcome<Listed> listed_soon(const Server& server, const std::string& target) {
  Client client = server.client();
  client.set_timeout(std::chrono::milliseconds(500));
  const auto answer = client.get("/api/v1/status");
  return answer ? listed(server.client(), target) : Outcome<Listed>(answer.failure());
}

/// Why the usual daemon's experiments are missing from the list; "" if no daemon runs at the default address,
/// which is usual where searches run without one.
std::string why_not_listed(const Outcome<Server>& usual, const Failure& failure) {
  const std::string address = usual ? usual->client().address() : "";
  const bool none_runs = failure.exit == Exit::unreachable && address == default_server;
  return none_runs ? ""
                   : "the experiments " + (usual ? "at " + address : std::string("of the usual daemon")) +
                         " are not listed: " + failure.message;
}

int list_daemon(const ListOptions& options, const Output& output) {
  const Outcome<Server> server = Server::reach(options.server, Server::Need::readable, output);
  const Outcome<Listed> all =
      server ? listed(server->client(), target_of(options)) : Outcome<Listed>(server.failure());
  if (!all) {
    return output.fail(all.failure());
  }
  if (output.json()) {
    output.data(Value(Value::Map{{"experiments", all->answer}}));
  } else {
    output.print(table_of(all->experiments, output) + notes_of(*server, all->experiments));
  }
  return 0;
}

}  // namespace

int list(const ListOptions& given, const Output& output) {
  const ServerOptions& options = given.server;
  const bool of_daemon =
      options.server || options.state_dir || given.archived || given.starred || given.label;
  const std::vector<SearchPlace> here = of_daemon ? std::vector<SearchPlace>() : searches_here();
  const std::vector<SearchPlace> python = of_daemon ? std::vector<SearchPlace>() : searches_of_python();
  if (here.empty() && python.empty()) {
    return list_daemon(given, output);
  }
  std::vector<SeenSearch> searches;
  std::vector<SeenSearch> of_python;
  for (const SearchPlace& search : here) {
    searches.push_back(look_at(search, output));
  }
  for (const SearchPlace& search : python) {
    of_python.push_back(look_at(search, output));
  }
  const Outcome<Server> usual = Server::reach_shared(options, output);
  const Outcome<Listed> others = usual ? listed_soon(*usual, target_of(given)) : usual.failure();
  const std::string problem = others ? "" : why_not_listed(usual, others.failure());
  if (!problem.empty()) {
    output.message("hpsearch: " + problem);
  }
  if (output.json()) {
    output.data(Value::Map{{"experiments", others ? others->answer : Value::List()},
                           {"problem", problem.empty() ? Value() : Value(problem)},
                           {"searches", json_of(searches)},
                           {"searches_of_python", json_of(of_python)}});
    return 0;
  }
  print_searches(searches, output);
  if (!of_python.empty()) {
    output.print(std::string(searches.empty() ? "" : "\n") + "of Python, in " +
                 printable(files::StateHome::of_python().string()) + ":\n");
    print_searches(of_python, output);
  }
  if (others) {
    output.print("\nat " + usual->client().address() + ":\n" + table_of(others->experiments, output) +
                 notes_of(*usual, others->experiments));
  }
  return 0;
}

}  // namespace hpsearch::cli
