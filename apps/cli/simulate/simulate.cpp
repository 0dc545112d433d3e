#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/client/server.hpp"
#include "cli/experiment/file_report.hpp"
#include "cli/experiment/known_searchers.hpp"
#include "cli/experiment/prior_results.hpp"
#include "cli/render/text.hpp"
#include "cli/simulate/curve_sources.hpp"
#include "cli/simulate/simulation_view.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/jobs/fields/submission.hpp"

namespace hpsearch::cli {
namespace {

namespace sim = engine::sim;

constexpr std::size_t most_listed = 40;
constexpr std::string_view exit_names[] = {"errored", "user_canceled", "user_stopped", "invalid_hp"};

Failure bad_exit(const std::string& given, const std::string& why) {
  return usage_failure("--exit " + given + ": " + why);
}

/// "7:1:errored".
Outcome<sim::EarlyExit> read_exit(const std::string& given) {
  const std::size_t first = given.find(':');
  const std::size_t second = first == std::string::npos ? first : given.find(':', first + 1);
  if (second == std::string::npos) {
    return bad_exit(given, "must be TRIAL:OP:REASON, as in 7:0:errored");
  }
  const Outcome<std::uint64_t> trial = read_number(given.substr(0, first), "TRIAL");
  const Outcome<std::uint64_t> op = read_number(given.substr(first + 1, second - first - 1), "OP");
  if (!trial || !op) {
    return bad_exit(given, (!trial ? trial : op).failure().message);
  }
  const std::string name = given.substr(second + 1);
  const auto reason = engine::exit_reason_named(name);
  if (!reason) {
    const std::string_view near = engine::nearest(name, exit_names);
    return bad_exit(given, "\"" + name +
                               "\" is not a reason (errored, user_canceled, user_stopped, invalid_hp)" +
                               (near.empty() ? "" : "; did you mean \"" + std::string(near) + "\"?"));
  }
  return sim::EarlyExit{engine::TrialNumber(*trial), *op, *reason};
}

sim::DurationModel duration_model(const std::optional<std::string>& given, const sim::Curves& curves) {
  if (!given) {
    return curves.has_times() ? sim::DurationModel::curve : sim::DurationModel::unit;
  }
  return *given == "op"      ? sim::DurationModel::op
         : *given == "curve" ? sim::DurationModel::curve
                             : sim::DurationModel::unit;
}

Outcome<sim::Options> read_options(const SimulateOptions& given, const engine::ExperimentConfig& config,
                                   const sim::Curves& curves) {
  sim::Options options;
  const std::uint64_t limit = config.searcher.max_concurrent_trials;
  options.workers = given.workers.value_or(config.searcher.name == "single" ? 1 : limit == 0 ? 16 : limit);
  options.duration = duration_model(given.duration, curves);
  if (options.duration == sim::DurationModel::curve && !curves.has_times()) {
    return usage_failure("--duration curve: these curves have no times; use unit or op");
  }
  if (given.report_every) {
    options.report_every = engine::Units{*given.report_every};
  }
  if (given.until_seconds) {
    if (!(*given.until_seconds >= 0)) {
      return usage_failure("--until " + engine::python_float(*given.until_seconds) +
                           ": must be a number of seconds of at least 0");
    }
    constexpr double longest = 4e12;  // The largest time of the simulator's clock.
    options.until = engine::Duration::micros(
        static_cast<std::int64_t>(std::nearbyint(std::min(*given.until_seconds, longest) * 1e6)));
  }
  for (const std::string& text : given.exits) {
    const Outcome<sim::EarlyExit> exit = read_exit(text);
    if (!exit) {
      return exit.failure();
    }
    for (std::size_t i = 0; i < options.exits.size(); ++i) {
      if (options.exits[i].trial == exit->trial && options.exits[i].op == exit->op) {
        return bad_exit(text, "the same operation ends by --exit " + given.exits[i] + " already");
      }
    }
    options.exits.push_back(*exit);
  }
  if (!(given.failure_rate >= 0 && given.failure_rate <= 1)) {
    return usage_failure("--failure-rate " + engine::python_float(given.failure_rate) +
                         ": must be a probability from 0 to 1");
  }
  options.failure_rate = given.failure_rate;
  const Outcome<std::uint64_t> failure_seed = read_number(given.failure_seed, "it");
  if (!failure_seed) {
    return usage_failure("--failure-seed " + printable(given.failure_seed) +
                         ": must be an integer from 0 to " + std::to_string(UINT64_MAX));
  }
  options.failure_seed = *failure_seed;
  return options;
}

/// An argument that would have no effect.
std::optional<Failure> option_without_effect(const SimulateOptions& given) {
  const std::string_view curves = given.curves ? std::string_view(*given.curves) : std::string_view();
  if (given.cycle &&
      (!given.curves || curves.starts_with("surrogate:") || curves.starts_with("synthetic:"))) {
    return usage_failure("--cycle is for recorded curves: a CSV file or experiment:ID as --curves");
  }
  if (given.data_directory && !curves.starts_with("surrogate:")) {
    return usage_failure("--data is for --curves surrogate:INSTANCE");
  }
  if (given.server.state_dir && !curves.starts_with("experiment:")) {
    return usage_failure("--state-dir is for --curves experiment:ID");
  }
  return std::nullopt;
}

/// A grid may have any size; refuses one whose simulation would not end or not fit into memory.
engine::Status fits(const engine::ExperimentConfig& config, const sim::Options& options) {
  const engine::SearcherKind* kind = engine::find_kind(known_searchers(), config.searcher.name);
  HPSEARCH_CHECK(kind != nullptr, "a config without problems names a searcher of the registry");
  const engine::Cardinality trials = kind->preview(config).trials;
  if (trials > options.most_trials && !options.until) {
    return engine::Error{engine::Errc::bad_request, "this search has " + engine::to_text(trials) +
                                                        " trials; a simulation without --until allows " +
                                                        std::to_string(options.most_trials)};
  }
  return engine::Done{};
}

}  // namespace

int simulate(const SimulateOptions& given, const Output& output) {
  ExperimentFile file = open_experiment_file(given.file.file, {given.file.seed, given.file.name});
  read_prior(file, given.server, output);
  if (!file.problems.empty()) {
    return report_problems(file, output);
  }
  if (const std::optional<Failure> failure = option_without_effect(given)) {
    return output.fail(*failure);
  }
  Outcome<CurveSource> source = open_curves(given, *file.config, output);
  if (!source) {
    return output.fail(source.failure());
  }
  if (source->seed) {
    // If neither the file nor --seed has one, trials get the hyperparameters that they had when they were
    // recorded.
    file.config = jobs::parse_submission(file.tree, known_searchers(), file.stem, *source->seed).config;
  }
  Outcome<sim::Options> options = read_options(given, *file.config, *source->curves);
  if (!options) {
    return output.fail(options.failure());
  }
  options->recorded_exits = std::move(source->recorded_exits);
  if (const engine::Status possible = fits(*file.config, *options); !possible) {
    return output.fail(usage_failure(possible.error().message));
  }
  const engine::Result<sim::Simulated> simulated =
      sim::simulate(engine::to_value(*file.config), known_searchers(), *source->curves, *options);
  if (!simulated) {
    return output.fail(usage_failure(simulated.error().message));
  }
  const Simulation simulation{*file.config, *simulated, sim::yardstick(*simulated, *source->curves),
                              options->duration, source->about};
  if (output.json()) {
    output.data(to_value(simulation));
  } else {
    output.print(to_text(simulation, most_listed, output.width()));
    for (const sim::EarlyExit& exit : simulated->unused_exits) {
      output.message("warning: --exit " + std::to_string(exit.trial.number()) + ":" +
                     std::to_string(exit.op) + ":" + std::string(engine::name_of(exit.reason)) +
                     " never happened: the trial had no such operation, or ended earlier");
    }
  }
  report_notes(file, output);
  if (file.config->searcher.source_trial_id || file.config->searcher.source_checkpoint_uuid) {
    output.message("note: simulated trials start from scratch; the checkpoint in searcher is ignored");
  }
  return 0;
}

}  // namespace hpsearch::cli
