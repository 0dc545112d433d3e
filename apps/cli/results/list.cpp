#include <chrono>
#include <utility>

#include "cli/client/search_places.hpp"
#include "cli/client/server.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/table.hpp"
#include "cli/render/text.hpp"
#include "cli/render/waiting_note.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/engine/base/amount.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;
using Align = Table::Align;

Value::List experiments_at(const Outcome<Value>& answer) {
  return answer ? list_at(*answer, "experiments") : Value::List();
}

std::string best_text(const Value& experiment) {
  return metric_or_dash(member(member(experiment, "best"), "metric"));
}

/// The length that the best result was measured at: values of different lengths can't be compared.
std::string best_length_text(const Value& experiment) {
  const Value& best = member(experiment, "best");
  return best.is_null()
             ? ""
             : engine::amount(engine::Units{count_at(best, "step")}, printable(text_at(experiment, "unit")));
}

std::string table_of(const Value::List& experiments, const Output& output) {
  Table table({{"ID", Align::right},
               {"STATE"},
               {"PROGRESS", Align::right},
               {"BEST", Align::right},
               {"AT", Align::right},
               {"CREATED"},
               {"OWNER"},
               {"PROJECT"},
               {"NAME"},
               {"TRIALS"}});
  for (const Value& experiment : experiments) {
    table.add({std::to_string(count_at(experiment, "id")), text_at(experiment, "state"),
               percent_text(number_at(experiment, "progress")), best_text(experiment),
               best_length_text(experiment), time_text(number_at(experiment, "created_at")),
               text_at(experiment, "owner"),
               text_at(experiment, "workspace") + "/" + text_at(experiment, "project"),
               text_at(experiment, "name"), states_text(member(experiment, "trials"))});
  }
  return table.empty() ? std::string("no experiments yet\n") : table.text(output.width());
}

/// Why experiments of a daemon do not run, and what is wrong with its disk.
std::string notes_of(const Server& server, const Value::List& experiments) {
  std::string notes;
  for (const Value& experiment : experiments) {
    const std::string name = "experiment " + std::to_string(count_at(experiment, "id"));
    const std::string reason = printable(text_at(experiment, "reason"));
    // A search whose daemon was started for this command waits for nothing: it does not run.
    const std::string waits = server.is_ours() ? "" : printable(text_at(experiment, "waits_for"));
    notes += waits.empty() ? "" : name + " waits: " + waits + "\n";
    notes += text_at(experiment, "state") == "PAUSED" && !reason.empty()
                 ? name + " paused itself: " + reason + "\n"
                 : "";
  }
  if (const std::string storage = storage_trouble(server.client()); !storage.empty()) {
    notes += storage + "\n";
  }
  return notes;
}

/// The state of a search in its store. A daemon of our own reads the store if no run uses it.
Value look_at(const SearchPlace& search, const Output& output) {
  ServerOptions options;
  options.state_dir = search.path.string();
  const Outcome<Server> server = Server::reach(options, Server::Need::readable, output);
  const auto answer = server ? server->client().get_list("/api/v1/experiments", "experiments")
                             : Outcome<Value>(server.failure());
  const Value::List experiments = experiments_at(answer);
  Value seen = experiments.empty() ? Value(Value::Map{}) : experiments.front();
  Value::Map& map = *seen.as_map();
  map["search"] = search.name;
  map["state_dir"] = search.path.string();
  map["file"] = search.record.file;
  map["in_use"] = server && !server->is_ours();
  map["problem"] = answer ? Value() : Value(answer.failure().message);
  map["notes"] = answer ? notes_of(*server, experiments) : std::string();
  return seen;
}

/// A search that no process uses does not run, whatever its store says.
std::string state_text(const Value& seen) {
  const std::string state = text_at(seen, "state");
  if (!member(seen, "problem").is_null()) {
    return "UNREADABLE";
  }
  if (state.empty()) {
    return "NOT BEGUN";
  }
  const bool lives = state == "ACTIVE" || state == "PAUSED" || state == "STOPPING";
  return lives && member(seen, "in_use") == Value(false) ? "NOT RUNNING" : state;
}

std::string table_of_searches(const Value::List& searches, const Output& output) {
  Table table({{"SEARCH", Align::left, true},
               {"STATE"},
               {"PROGRESS", Align::right},
               {"BEST", Align::right},
               {"AT", Align::right},
               {"CREATED"},
               {"TRIALS"}});
  for (const Value& seen : searches) {
    const bool known = count_at(seen, "id") != 0;
    table.add({text_at(seen, "search"), state_text(seen),
               known ? percent_text(number_at(seen, "progress")) : "", known ? best_text(seen) : "",
               best_length_text(seen), time_text(number_at(seen, "created_at")),
               known ? states_text(member(seen, "trials")) : text_at(seen, "problem")});
  }
  return table.text(output.width());
}

std::string target_of(const ListOptions& options) {
  return std::string("/api/v1/experiments") + (options.archived ? "?archived=true"
                                               : options.all    ? "?archived=all"
                                                                : "");
}

int list_daemon(const ListOptions& options, const Output& output) {
  const Outcome<Server> server = Server::reach(options.server, Server::Need::readable, output);
  const Outcome<Value> answer = server ? server->client().get_list(target_of(options), "experiments")
                                       : Outcome<Value>(server.failure());
  if (!answer) {
    return output.fail(answer.failure());
  }
  if (output.json()) {
    output.data(*answer);
  } else {
    const Value::List& experiments = list_at(*answer, "experiments");
    output.print(table_of(experiments, output) + notes_of(*server, experiments));
  }
  return 0;
}

}  // namespace

int list(const ListOptions& given, const Output& output) {
  const ServerOptions& options = given.server;
  const std::vector<SearchPlace> here =
      options.server || options.state_dir || given.archived ? std::vector<SearchPlace>() : searches_here();
  if (here.empty()) {
    return list_daemon(given, output);
  }
  Value::List searches;
  for (const SearchPlace& search : here) {
    searches.push_back(look_at(search, output));
  }
  const Outcome<Server> usual = Server::reach_shared(options, output);
  if (!usual) {
    return output.fail(usual.failure());
  }
  Client knocking = usual->client();
  knocking.set_timeout(std::chrono::milliseconds(500));
  const bool answers = static_cast<bool>(knocking.get("/api/v1/status"));
  const auto others = answers ? usual->client().get_list(target_of(given), "experiments")
                              : Outcome<Value>(Value(Value::Map{}));
  if (output.json()) {
    output.data(Value::Map{{"experiments", experiments_at(others)}, {"searches", std::move(searches)}});
    return 0;
  }
  output.print(table_of_searches(searches, output));
  for (const Value& seen : searches) {
    const std::string notes = text_at(seen, "notes");
    for (std::size_t begin = 0; begin < notes.size(); begin = notes.find('\n', begin) + 1) {
      output.print(printable(text_at(seen, "search")) + ": " +
                   notes.substr(begin, notes.find('\n', begin) - begin) + "\n");
    }
  }
  if (answers) {
    const Value::List experiments = experiments_at(others);
    output.print("\nat " + usual->client().address() + ":\n" + table_of(experiments, output) +
                 notes_of(*usual, experiments));
  }
  return 0;
}

}  // namespace hpsearch::cli
