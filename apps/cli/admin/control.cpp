#include "cli/client/which.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace hpsearch::cli {

using engine::Value;

int control(const std::string& what, const ExperimentOptions& options, std::optional<std::uint64_t> trial,
            const Output& output) {
  if (!options.experiment && !options.server.state_dir) {
    // On a daemon that others use, "the only one" may not be the one meant.
    return output.fail(usage_failure("name the experiment: hpsearch " + what + " ID"));
  }
  // An ID alone must not end a search that merely was the last one run here.
  const Outcome<Reached> reached =
      reach_experiment(options.server, options.experiment, Server::Need::running, output, Reach::shared);
  if (!reached) {
    return output.fail(reached.failure());
  }
  const std::string of_it = trial ? "/trials/" + std::to_string(*trial) : "";
  const Outcome<Value> answer =
      reached->server.client().post(experiment_target(reached->experiment, of_it + "/" + what), Value::Map{});
  if (!answer) {
    return output.fail(answer.failure());
  }
  if (output.json()) {
    output.data(*answer);
  } else if (trial) {
    output.print("trial " + std::to_string(*trial) + " of experiment " + std::to_string(reached->experiment) +
                 " is " + text_at(*answer, "state") + "\n");
  } else {
    output.print("experiment " + std::to_string(reached->experiment) + " is " + text_at(*answer, "state") +
                 " (trials: " + states_text(member(*answer, "trials")) + ")\n");
  }
  return 0;
}

}  // namespace hpsearch::cli
