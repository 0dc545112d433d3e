#include <string>

#include "cli/client/which.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/table.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/proto/sentences/uncertain_number.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

std::string shares_text(const Value& importance) {
  if (const std::string reason = text_at(importance, "reason"); !reason.empty()) {
    return reason + "\n";
  }
  Table table({{"HYPERPARAMETER", Table::Align::left, true},
               {"IMPORTANCE", Table::Align::right},
               {"DEVIATION", Table::Align::right}});
  for (const Value& one : list_at(importance, "hyperparameters")) {
    table.add({text_at(one, "name"), sentences::fixed(100 * number_at(one, "share"), 0) + " %",
               sentences::fixed(100 * number_at(one, "deviation"), 0) + " %"});
  }
  const std::uint64_t others = count_at(importance, "others");
  std::string from = "from " + counted(count_at(importance, "results"), "result") + " of " +
                     printable(text_at(importance, "metric")) + " at length " +
                     std::to_string(count_at(importance, "length"));
  if (others > 0) {
    from += "; " + counted(others, "trial") + " that did not get so far, or diverged, count as worse";
  }
  if (text_at(importance, "method") == "forest") {
    from +=
        "\nThe sampler preferred a part of the space: a forest of regression trees is compared evenly over "
        "it.";
  }
  return from + "\n\n" + table.text();
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
