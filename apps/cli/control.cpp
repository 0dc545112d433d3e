#include "cli/server.hpp"
#include "cli/shapes.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"

namespace hpsearch::cli {

using engine::Value;

int control(const std::string& what, const ExperimentOptions& options, std::optional<std::uint64_t> trial,
            const Output& output) {
  if (!options.experiment && !options.server.state_dir) {
    // On a daemon that others use, "the only one" may not be the one meant.
    return output.fail(usage_failure("name the experiment: hpsearch " + what + " ID"));
  }
  // An ID alone must not end a search that merely was the last one run here.
  const Outcome<Server> server = Server::reach_shared(options.server, output);
  if (!server) {
    return output.fail(server.failure());
  }
  const Outcome<std::uint64_t> experiment = server->experiment(options.experiment);
  if (!experiment) {
    return output.fail(experiment.failure());
  }
  const std::string of_it = trial ? "/trials/" + std::to_string(*trial) : "";
  const Outcome<Value> answer =
      server->client().post(experiment_target(*experiment, of_it + "/" + what), Value::Map{});
  if (!answer) {
    return output.fail(answer.failure());
  }
  if (output.json()) {
    output.data(*answer);
  } else if (trial) {
    output.print("trial " + std::to_string(*trial) + " of experiment " + std::to_string(*experiment) +
                 " is " + text_at(*answer, "state") + "\n");
  } else {
    output.print("experiment " + std::to_string(*experiment) + " is " + text_at(*answer, "state") +
                 " (trials: " + states_text(member(*answer, "trials")) + ")\n");
  }
  return 0;
}

}  // namespace hpsearch::cli
