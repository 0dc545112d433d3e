#include "cli/server.hpp"
#include "cli/shapes.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"

namespace hpsearch::cli {

using engine::Value;

int trials(const ExperimentOptions& options, const Output& output) {
  const Outcome<Server> server = Server::reach(options.server, Server::Need::readable, output);
  if (!server) {
    return output.fail(server.failure());
  }
  const Outcome<std::uint64_t> experiment = server->experiment(options.experiment);
  if (!experiment) {
    return output.fail(experiment.failure());
  }
  const Outcome<Value> answer = server->client().get(experiment_target(*experiment, "/trials"));
  if (!answer) {
    return output.fail(answer.failure());
  }
  if (output.json()) {
    output.data(*answer);
    return 0;
  }
  using Align = Table::Align;
  Table table({{"TRIAL", Align::right},
               {"STATE"},
               {"LENGTH", Align::right},
               {"REACHED", Align::right},
               {"BEST", Align::right},
               {"AT", Align::right},
               {"ATTEMPTS", Align::right},
               {"HYPERPARAMETERS"}});
  for (const Value& trial : list_at(*answer, "trials")) {
    const bool measured = !member(trial, "best_metric").is_null();
    table.add({std::to_string(count_at(trial, "trial")), text_at(trial, "state"),
               std::to_string(count_at(trial, "length")), std::to_string(count_at(trial, "reached")),
               metric_or_dash(member(trial, "best_metric")),
               measured ? std::to_string(count_at(trial, "best_step")) : "",
               std::to_string(count_at(trial, "attempts")), flat_text(member(trial, "hparams"))});
  }
  output.print(table.empty() ? std::string("no trials yet\n") : table.text(output.width()));
  return 0;
}

}  // namespace hpsearch::cli
