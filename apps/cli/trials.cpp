#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "cli/server.hpp"
#include "cli/shapes.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "cli/trial_pages.hpp"
#include "cli/verbs.hpp"

namespace hpsearch::cli {

using engine::Value;

namespace {

/// Since its running program last said anything; "" when nobody told.
std::string silence_text(const Value& trial, double now) {
  const Value& heard = member(trial, "heard_at");
  return heard.is_number() ? duration_text(now - heard.number_or(now)) : "";
}

/// How its last failed attempt ended; what follows in the next lines is the end of that attempt's log.
std::string failure_text(const Value& trial) {
  const std::string failure = text_at(trial, "last_failure");
  return cut_to_width(failure.substr(0, failure.find('\n')), 60);
}

}  // namespace

int trials(const TrialsOptions& options, const Output& output) {
  const Outcome<Server> server = Server::reach(options.experiment.server, Server::Need::readable, output);
  if (!server) {
    return output.fail(server.failure());
  }
  const Outcome<std::uint64_t> experiment = server->experiment(options.experiment.experiment);
  if (!experiment) {
    return output.fail(experiment.failure());
  }
  Value::List list;
  const auto next =
      each_trial([&server](const std::string& target) { return server->client().get(target); }, *experiment,
                 {options.after, options.limit}, [&list](const Value& trial) { list.push_back(trial); });
  if (!next) {
    return output.fail(next.failure());
  }
  if (output.json()) {
    const Value more = *next ? Value(static_cast<std::int64_t>(**next)) : Value();
    output.data(Value::Map{{"next", more}, {"trials", std::move(list)}});
    return 0;
  }
  const double now = static_cast<double>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                             std::chrono::system_clock::now().time_since_epoch())
                                             .count()) /
                     1e3;
  using Align = Table::Align;
  const bool any_failed =
      std::any_of(list.begin(), list.end(), [](const Value& trial) { return !failure_text(trial).empty(); });
  std::vector<Table::Column> columns{{"TRIAL", Align::right},   {"STATE"},
                                     {"LENGTH", Align::right},  {"REACHED", Align::right},
                                     {"BEST", Align::right},    {"AT", Align::right},
                                     {"ATTEMPTS", Align::right}};
  const bool any_contact = std::any_of(
      list.begin(), list.end(), [](const Value& trial) { return member(trial, "heard_at").is_number(); });
  if (any_contact) {
    columns.push_back({"SILENT FOR", Align::right});
  }
  if (any_failed) {
    columns.push_back({"LAST FAILURE"});
  }
  columns.push_back({"HYPERPARAMETERS"});
  Table table(columns);
  for (const Value& trial : list) {
    const bool measured = !member(trial, "best_metric").is_null();
    std::vector<std::string> cells{std::to_string(count_at(trial, "trial")),
                                   text_at(trial, "state"),
                                   std::to_string(count_at(trial, "length")),
                                   std::to_string(count_at(trial, "reached")),
                                   metric_or_dash(member(trial, "best_metric")),
                                   measured ? std::to_string(count_at(trial, "best_step")) : "",
                                   std::to_string(count_at(trial, "attempts"))};
    if (any_contact) {
      cells.push_back(silence_text(trial, now));
    }
    if (any_failed) {
      cells.push_back(failure_text(trial));
    }
    cells.push_back(flat_text(member(trial, "hparams")));
    table.add(std::move(cells));
  }
  const char* none = options.after ? "no more trials\n" : "no trials yet\n";
  output.print(table.empty() ? std::string(none) : table.text(output.width()));
  if (*next) {
    output.message("there are more: --after " + std::to_string(**next));
  }
  return 0;
}

}  // namespace hpsearch::cli
