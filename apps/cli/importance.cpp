#include <string>

#include "cli/shapes.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "cli/which.hpp"
#include "hpsearch/sentences/uncertain_number.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

std::string shares_text(const Value& importance) {
  if (const std::string reason = text_at(importance, "reason"); !reason.empty()) {
    return reason + "\n";
  }
  Table table({{"HYPERPARAMETER", Table::Align::left, true}, {"IMPORTANCE", Table::Align::right}});
  for (const Value& one : list_at(importance, "hyperparameters")) {
    table.add({text_at(one, "name"), sentences::fixed(100 * number_at(one, "share"), 0) + " %"});
  }
  return "from " + counted(count_at(importance, "results"), "result") + " of " +
         printable(text_at(importance, "metric")) + " at length " +
         std::to_string(count_at(importance, "length")) + "\n\n" + table.text();
}

}  // namespace

int importance(const ExperimentOptions& options, const Output& output) {
  const Outcome<Reached> reached =
      reach_experiment(options.server, options.experiment, Server::Need::readable, output);
  if (!reached) {
    return output.fail(reached.failure());
  }
  const Outcome<Value> shares =
      reached->server.client().get(experiment_target(reached->experiment, "/importance"));
  if (!shares) {
    return output.fail(shares.failure());
  }
  if (output.json()) {
    output.data(*shares);
  } else {
    output.print(shares_text(*shares));
  }
  return 0;
}

}  // namespace hpsearch::cli
