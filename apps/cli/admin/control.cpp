#include "cli/client/answers.hpp"
#include "cli/client/last_summary.hpp"
#include "cli/client/which.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace hpsearch::cli {

using engine::Value;

int control(const std::string& what, const ControlOptions& options, const Output& output) {
  const ExperimentOptions& wanted = options.experiment;
  const std::optional<std::uint64_t>& trial = options.trial;
  if (!wanted.experiment && !wanted.server.state_dir) {
    // A daemon may have other users, whose only experiment may be a different one.
    return output.fail(usage_failure("name the experiment: hpsearch " + what + " ID"));
  }
  // An ID without a daemon must not end a search that only happened to run last in this directory.
  const Outcome<Reached> reached =
      reach_experiment(wanted.server, wanted.experiment, Server::Need::running, output, Reach::shared);
  if (!reached) {
    return output.fail(reached.failure());
  }
  const bool ends = (what == "cancel" || what == "kill") && !trial;
  if (ends && !options.yes) {
    const auto experiment =
        read_as<api::ExperimentSummary>(reached->server.client().get(experiment_target(reached->experiment)));
    if (!experiment) {
      return output.fail(experiment.failure());
    }
    const std::string question = "End experiment " + std::to_string(reached->experiment) + ", " +
                                 printable(experiment->name) +
                                 " (trials: " + states_text(experiment->trials) +
                                 ")? It can't go on afterwards; hpsearch pause keeps it.";
    if (!engine::is_ended(experiment->state) && !output.ask(question).value_or(true)) {
      return output.fail(usage_failure("nothing was ended"));
    }
  }
  if (const auto& state = reached->server.run_state()) {
    forget_last_summary(*state);
  }
  const std::string of_it = trial ? "/trials/" + std::to_string(*trial) : "";
  const Outcome<Value> answer =
      reached->server.client().post(experiment_target(reached->experiment, of_it + "/" + what), Value::Map{});
  const std::string experiment = "experiment " + std::to_string(reached->experiment);
  if (trial) {
    return show_answer<api::Trial>(answer, output, [&](const api::Trial& now) {
      output.print("trial " + std::to_string(*trial) + " of " + experiment + " is " +
                   std::string(engine::name_of(now.state)) + "\n");
    });
  }
  return show_answer<api::ExperimentSummary>(answer, output, [&](const api::ExperimentSummary& now) {
    output.print(experiment + " is " + std::string(engine::name_of(now.state)) +
                 " (trials: " + states_text(now.trials) + ")\n");
  });
}

}  // namespace hpsearch::cli
