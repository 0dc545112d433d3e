#include <re2/re2.h>

#include <optional>
#include <string>
#include <string_view>

#include "cli/log_printer.hpp"
#include "cli/log_source.hpp"
#include "cli/server.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::cli {

using engine::Value;

int logs(const LogsOptions& options, const Output& output) {
  const Outcome<std::uint64_t> trial = read_number(options.which.back(), "trial");
  if (!trial) {
    return output.fail(trial.failure());
  }
  std::optional<re2::RE2> wanted;
  if (options.grep) {
    wanted.emplace(*options.grep, re2::RE2::Quiet);
    if (!wanted->ok()) {
      return output.fail(usage_failure("--grep: the regular expression " +
                                       engine::compact_json(Value(*options.grep)) +
                                       " cannot be used: " + wanted->error()));
    }
  }
  std::optional<std::string> named;
  if (options.which.size() == 2) {
    named = options.which.front();
  }
  ShownLog shown;
  shown.attempt = options.attempt;
  shown.stream = {options.standard_error ? "stderr" : "stdout", options.rank};
  shown.tail = options.tail;
  shown.follow = options.follow;
  shown.raw = options.raw;
  if (wanted) {
    shown.wanted = [&wanted](std::string_view line) {
      return re2::RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), *wanted);
    };
  }
  if (options.server.state_dir) {
    const StateDirectory state(*options.server.state_dir);
    if (state.has_store() && !lock_holder(state.daemon() / "lock")) {
      Outcome<std::uint64_t> experiment = std::uint64_t{0};
      if (named) {
        experiment = read_number(*named, "experiment");
      } else if (const auto record = load_run_record(state); record && *record && (*record)->experiment) {
        experiment = *(*record)->experiment;
      } else {
        experiment = not_found_failure("which experiment? name it: hpsearch logs EXPERIMENT TRIAL");
      }
      if (!experiment) {
        return output.fail(experiment.failure());
      }
      const LeftLogs source(state, *experiment, *trial, shown.stream);
      return LogPrinter(source, shown, output).print_all();
    }
  }
  const Outcome<Server> server = Server::reach(options.server, Server::Need::running, output);
  if (!server) {
    return output.fail(server.failure());
  }
  const Outcome<std::uint64_t> experiment = server->experiment(named);
  if (!experiment) {
    return output.fail(experiment.failure());
  }
  const DaemonLogs source(server->client(), *experiment, *trial, shown.stream);
  return LogPrinter(source, shown, output).print_all();
}

}  // namespace hpsearch::cli
