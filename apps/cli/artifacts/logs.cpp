#include <re2/re2.h>

#include <optional>
#include <string>
#include <string_view>

#include "cli/artifacts/log_printer.hpp"
#include "cli/artifacts/log_source.hpp"
#include "cli/client/answers.hpp"
#include "cli/client/last_summary.hpp"
#include "cli/client/which.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/api/experiments.hpp"

namespace hpsearch::cli {

using engine::Value;

int logs(const LogsOptions& options, const Output& output) {
  const Outcome<Which> which = read_which(options.which, About::trial);
  if (!which) {
    return output.fail(which.failure());
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
  const Outcome<ExperimentPlace> place = place_of(options.server, which->experiment, output);
  if (!place) {
    return output.fail(place.failure());
  }
  if (place->server.state_dir) {
    const StateDirectory state(*place->server.state_dir);
    if (state.has_store() && !lock_holder(state.daemon() / "lock")) {
      Outcome<std::uint64_t> experiment = std::uint64_t{0};
      if (place->experiment) {
        experiment = read_number(*place->experiment, "experiment");
      } else if (const auto record = load_run_record(state); record && *record && (*record)->experiment) {
        experiment = *(*record)->experiment;
      } else {
        experiment = not_found_failure("which experiment? name it: hpsearch logs EXPERIMENT TRIAL");
      }
      if (!experiment) {
        return output.fail(experiment.failure());
      }
      if (const auto ended = last_summary(state)) {
        const auto summary = read_as<api::ExperimentSummary>(*ended);
        if (summary && summary->trials_total > 0 && *which->trial >= summary->trials_total) {
          return output.fail(not_found_failure(
              "experiment " + std::to_string(*experiment) + " has no trial " + std::to_string(*which->trial) +
              " (trials: 0 to " + std::to_string(summary->trials_total - 1) + ")"));
        }
      }
      const LeftLogs source(state, *experiment, *which->trial, shown.stream);
      return LogPrinter(source, shown, output).print_all();
    }
  }
  const Outcome<Reached> reached =
      reach_experiment(place->server, place->experiment, Server::Need::running, output);
  if (!reached) {
    return output.fail(reached.failure());
  }
  const DaemonLogs source(reached->server.client(), reached->experiment, *which->trial, shown.stream);
  return LogPrinter(source, shown, output).print_all();
}

}  // namespace hpsearch::cli
