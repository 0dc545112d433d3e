#include "cli/client/which.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace hpsearch::cli {

using engine::Value;

int config(const ExperimentOptions& options, const Output& output) {
  const Outcome<Reached> reached =
      reach_experiment(options.server, options.experiment, Server::Need::readable, output);
  if (!reached) {
    return output.fail(reached.failure());
  }
  const Outcome<Value> answer =
      reached->server.client().get(experiment_target(reached->experiment, "/config"));
  if (!answer) {
    return output.fail(answer.failure());
  }
  if (output.json()) {
    output.data(*answer);
  } else {
    output.print(yaml_text(*answer));
  }
  return 0;
}

}  // namespace hpsearch::cli
