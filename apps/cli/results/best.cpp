#include "cli/client/answers.hpp"
#include "cli/client/which.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace hpsearch::cli {

using engine::Value;

int best(const BestOptions& options, const Output& output) {
  if (options.path || options.copy_to) {
    return best_path(options, output);
  }
  const Outcome<Reached> reached = reach_experiment(options.experiment.server, options.experiment.experiment,
                                                    Server::Need::readable, output);
  if (!reached) {
    return output.fail(reached.failure());
  }
  const Outcome<Value> answer = reached->server.client().get(experiment_target(reached->experiment, "/best"));
  if (!answer) {
    return output.fail(answer.failure());
  }
  if (output.json()) {
    output.data(*answer);
    return 0;
  }
  if (answer->is_null()) {
    output.print("no trial has reported the metric yet\n");
    return 0;
  }
  const auto trial = read_as<api::Trial>(*answer);
  if (!trial) {
    return output.fail(trial.failure());
  }
  const TakenCheckpoint checkpoint = checkpoint_of(*trial);
  const std::string measured = checkpoint.measured.empty() ? "" : " (" + checkpoint.measured + ")";
  output.print("trial       " + std::to_string(trial->trial.number()) + "\n" + "metric      " +
               metric_or_dash(trial->best_metric) + " at length " +
               std::to_string(engine::count(trial->best_step.value_or(engine::Units{}))) + "\n" +
               (checkpoint.path.empty() ? std::string("checkpoint  none was written\n")
                                        : "checkpoint  " + printable(checkpoint.path) + measured + "\n") +
               "hyperparameters:\n" + yaml_text(trial->hparams, 2));
  return 0;
}

}  // namespace hpsearch::cli
