#include "cli/file_report.hpp"
#include "cli/server.hpp"
#include "cli/submission.hpp"
#include "cli/verbs.hpp"

namespace hpsearch::cli {

using engine::Value;

int submit(const SubmitOptions& options, const Output& output) {
  const ExperimentFile file = open_experiment_file(options.file.file, {options.file.seed, options.file.name});
  if (!file.problems.empty()) {
    return report_problems(file, output);
  }
  report_notes(file, output);
  const Outcome<std::string> context = context_directory(options.context_directory, options.file.file);
  if (!context) {
    return output.fail(context.failure());
  }
  if (const auto fits = check_context_size(*context, options.context_limit); !fits) {
    return output.fail(fits.failure());
  }
  ServerOptions target = options.server;
  if (!target.server && !target.state_dir) {
    target.server = default_server;  // A new experiment never lands in somebody's private search by accident.
  }
  const Outcome<Server> server = Server::reach(target, Server::Need::running, output);
  if (!server) {
    return output.fail(server.failure());
  }
  const Outcome<std::uint64_t> experiment =
      submit_experiment(server->client(), file.tree, file.stem, *context, fresh_key());
  if (!experiment) {
    return output.fail(experiment.failure());
  }
  if (output.json()) {
    output.data(Value::Map{{"experiment", static_cast<std::int64_t>(*experiment)}});
  } else {
    output.print("experiment " + std::to_string(*experiment) + "\n");
  }
  return 0;
}

}  // namespace hpsearch::cli
