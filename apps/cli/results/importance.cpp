#include <string>

#include "cli/client/answers.hpp"
#include "cli/client/which.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/table.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/proto/api/charts.hpp"
#include "hpsearch/proto/sentences/uncertain_number.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

std::string shares_text(const api::Importance& importance) {
  if (!importance.reason.empty()) {
    return importance.reason + "\n";
  }
  Table table({{"HYPERPARAMETER", Table::Align::left, true},
               {"IMPORTANCE", Table::Align::right},
               {"DEVIATION", Table::Align::right},
               {""}});
  for (const api::HparamShare& one : importance.hyperparameters) {
    table.add({one.name, sentences::fixed(100 * one.share, 0) + " %",
               sentences::fixed(100 * one.deviation, 0) + " %", share_bar(one.share)});
  }
  std::string from = "from " + counted(importance.results, "result") + " of " + printable(importance.metric) +
                     " at length " + std::to_string(importance.length.value_or(0));
  if (importance.others > 0) {
    from +=
        "; " + counted(importance.others, "trial") + " that did not get so far, or diverged, count as worse";
  }
  if (importance.method == "forest") {
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
  return show_answer<api::Importance>(
      shares, output, [&](const api::Importance& importance) { output.print(shares_text(importance)); });
}

}  // namespace hpsearch::cli
