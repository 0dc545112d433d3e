#include "cli/server.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"

namespace hpsearch::cli {

using engine::Value;

int config(const ExperimentOptions& options, const Output& output) {
  const Outcome<Server> server = Server::reach(options.server, Server::Need::readable, output);
  if (!server) {
    return output.fail(server.failure());
  }
  const Outcome<std::uint64_t> experiment = server->experiment(options.experiment);
  if (!experiment) {
    return output.fail(experiment.failure());
  }
  const Outcome<Value> answer = server->client().get(experiment_target(*experiment, "/config"));
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
