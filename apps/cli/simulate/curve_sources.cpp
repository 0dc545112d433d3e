#include "cli/simulate/curve_sources.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/client/server.hpp"
#include "cli/client/trial_pages.hpp"
#include "cli/events/event_pages.hpp"
#include "cli/experiment/experiment_file.hpp"
#include "cli/render/text.hpp"
#include "cli/results/training_times.hpp"
#include "cli/run/recorded_exit.hpp"
#include "cli/surrogates/lcbench.hpp"
#include "cli/surrogates/synthetic.hpp"
#include "hpsearch/engine/sim/curve_table.hpp"
#include "hpsearch/engine/sim/expression.hpp"
#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;
using engine::sim::CurveTable;

constexpr std::size_t largest_table = 512UL * 1024 * 1024;

CurveTable::Missing missing(const SimulateOptions& options) {
  return options.cycle ? CurveTable::Missing::cycle : CurveTable::Missing::refuse;
}

template <class Curves>
Outcome<CurveSource> source(engine::Result<std::unique_ptr<Curves>> curves, const std::string& name,
                            std::string about) {
  if (!curves) {
    return usage_failure(name + ": " + printable(curves.error().message));
  }
  return CurveSource{std::move(*curves), std::move(about)};
}

Outcome<CurveSource> open_table(const std::string& path, const SimulateOptions& options) {
  const LoadedText loaded = load_text(path, FileLimits{.bytes = largest_table});
  if (!loaded.problem.empty()) {
    return usage_failure("--curves: " + path + ": " + loaded.problem);
  }
  if (loaded.text.size() > largest_table) {
    return usage_failure("--curves: " + path + " is larger than 512 MiB");
  }
  return source(CurveTable::parse(loaded.text, missing(options)), "--curves: " + path, "curves of " + path);
}

using Exits = std::map<engine::TrialNumber, engine::sim::RecordedExit>;

/// How far all trials were when users ended those that waited.
std::optional<Failure> look_up_waiting(const Client& client, std::uint64_t experiment, Exits& exits) {
  const bool any =
      std::any_of(exits.begin(), exits.end(), [](const auto& exit) { return exit.second.waiting_until; });
  if (!any) {
    return std::nullopt;
  }
  return each_event(client, experiment, [&exits, reached = std::uint64_t{0}](const Value& event) mutable {
    const std::string type = text_at(event, "type");
    reached += type == "length_reached" ? 1U : 0U;
    const auto exit = type == "trial_exited_early" ? exits.find(engine::TrialNumber(count_at(event, "trial")))
                                                   : exits.end();
    if (exit != exits.end() && exit->second.waiting_until) {
      exit->second.waiting_until = reached;
    }
  });
}

/// The steps of a trial with the last value at each: a step that was trained twice has two values.
Outcome<std::map<std::uint64_t, double>> measured_by(const Client& client, std::uint64_t experiment,
                                                     std::uint64_t trial, const std::string& metric) {
  const Outcome<Value::List> history =
      metrics_of_trial([&client](const std::string& page) { return client.get(page); }, experiment, trial);
  if (!history) {
    return history.failure();
  }
  std::map<std::uint64_t, double> measured;
  for (const Value& point : *history) {
    const Value& metrics = member(point, "metrics");
    const Value* value = metrics.as_map() != nullptr ? metrics.as_map()->find(metric) : nullptr;
    if (const auto number = value != nullptr ? proto::real_of(*value) : std::nullopt) {
      measured[count_at(point, "step")] = *number;
    }
  }
  return measured;
}

/// The history of an experiment's searcher metric for every trial, and how trials ended early. Includes their
/// times if --duration needs them.
Outcome<CurveSource> open_experiment(const std::string& id, const SimulateOptions& options,
                                     const Output& output) {
  const Outcome<Server> server = Server::reach(options.server, Server::Need::readable, output);
  if (!server) {
    return server.failure();
  }
  const Outcome<std::uint64_t> experiment = server->experiment(id);
  if (!experiment) {
    return experiment.failure();
  }
  const Outcome<Value> config = server->client().get(experiment_target(*experiment, "/config"));
  if (!config) {
    return config.failure();
  }
  const Value* metric = config->at_path("searcher.metric");
  const std::string name = metric != nullptr && metric->as_text() != nullptr ? *metric->as_text() : "";
  std::optional<TrainingTimes> times;
  if (options.duration == "curve") {
    times.emplace();
    if (const auto failure = each_event(server->client(), *experiment,
                                        [&times](const Value& event) { times->on_event(event); })) {
      return *failure;
    }
  }
  std::vector<std::pair<std::uint64_t, bool>> trials;  // With whether it ended early.
  const auto read = each_trial([&server](const std::string& target) { return server->client().get(target); },
                               *experiment, {},
                               [&trials](const Value& trial) {
                                 const bool early = text_at(member(trial, "reason"), "why") == "early_exit" ||
                                                    member(trial, "trains_no_further") == Value(true);
                                 trials.emplace_back(count_at(trial, "trial"), early);
                               });
  if (!read) {
    return read.failure();
  }
  std::vector<CurveTable::Point> points;
  Exits exits;
  for (const auto& [number, early] : trials) {
    const std::string target = experiment_target(*experiment, "/trials/" + std::to_string(number));
    const auto measured = measured_by(server->client(), *experiment, number, name);
    if (!measured) {
      return measured.failure();
    }
    double seconds = 0;  // Training that is repeated after a longer attempt must not run backwards.
    for (const auto& [step, value] : *measured) {
      seconds = std::max(seconds, times ? times->until(number, step).value_or(0) : 0);
      points.push_back({number, engine::Units{step}, value, times ? std::optional(seconds) : std::nullopt});
    }
    if (early) {
      const Outcome<Value> explained = server->client().get(target + "/explain");
      if (!explained) {
        return explained.failure();
      }
      const engine::Units reached{measured->empty() ? 0 : measured->rbegin()->first};
      if (auto exit = recorded_exit(list_at(*explained, "history"), reached)) {
        exits.emplace(engine::TrialNumber(number), *std::move(exit));
      }
    }
  }
  if (const auto failure = look_up_waiting(server->client(), *experiment, exits)) {
    return *failure;
  }
  const std::string about = "experiment " + std::to_string(*experiment);
  if (points.empty() && exits.empty()) {
    return usage_failure("--curves: " + about + ": it has no metrics");
  }
  Outcome<CurveSource> recorded = source(CurveTable::from_points(std::move(points), missing(options)),
                                         "--curves: " + about, "recorded curves of " + about);
  if (recorded) {
    recorded->recorded_exits = std::move(exits);
  }
  if (recorded && config->at_path("reproducibility.experiment_seed") != nullptr) {
    recorded->seed = count_at(*config->at_path("reproducibility"), "experiment_seed");
  }
  return recorded;
}

std::string data_directory(const SimulateOptions& options) {
  const char* environment = std::getenv("HPSEARCH_LCBENCH_DIR");
  return options.data_directory.value_or(environment == nullptr ? "" : environment);
}

/// Trainings on one of the surrogate's data sets.
Outcome<CurveSource> open_surrogate(const std::string& instance, const SimulateOptions& options,
                                    const engine::ExperimentConfig& config) {
  using surrogates::LcBench;
  if (config.searcher.smaller_is_better) {
    return usage_failure("the surrogate returns accuracies: set searcher.smaller_is_better to false");
  }
  const std::string directory = data_directory(options);
  if (directory.empty()) {
    return usage_failure("--curves surrogate:" + instance +
                         " needs its data: set the directory with --data or HPSEARCH_LCBENCH_DIR");
  }
  const std::string manifest_path = directory + "/lcbench_manifest.json";
  const std::string weights_path = directory + "/lcbench_weights.f32";
  const FileLimits limits{.bytes = 64UL * 1024 * 1024};
  const LoadedText manifest = load_text(manifest_path, limits);
  const LoadedText weights = load_text(weights_path, limits);
  if (!manifest.problem.empty() || !weights.problem.empty()) {
    const bool no_manifest = !manifest.problem.empty();
    return usage_failure("the surrogate's data: " + (no_manifest ? manifest_path + ": " + manifest.problem
                                                                 : weights_path + ": " + weights.problem));
  }
  engine::Result<LcBench> read = LcBench::read(manifest.text, std::as_bytes(std::span(weights.text)));
  if (!read) {
    return usage_failure(directory + ": " + read.error().message);
  }
  const auto model = std::make_shared<const LcBench>(std::move(*read));
  const auto place = model->find(instance);
  if (!place) {
    std::string known;
    for (const LcBench::Instance& one : model->instances()) {
      known += (known.empty() ? "" : ", ") + one.id + " (" + one.name + ")";
    }
    return usage_failure("the surrogate has no instance \"" + instance + "\" (" + known + ")");
  }
  return CurveSource{std::make_unique<surrogates::LcBenchCurves>(model, *place),
                     "LCBench surrogate of " + model->instances()[*place].name};
}

Outcome<CurveSource> open_synthetic(const std::string& name, const engine::ExperimentConfig& config) {
  const auto kind = surrogates::synthetic_named(name);
  if (!kind) {
    return usage_failure("--curves synthetic:" + name + ": unknown kind (power, crossing, diverging)");
  }
  return CurveSource{
      std::make_unique<surrogates::SyntheticCurves>(*kind, config.space, config.searcher.max_length,
                                                    config.searcher.goal(), config.experiment_seed),
      "synthetic curves (" + name + ")"};
}

}  // namespace

Outcome<CurveSource> open_curves(const SimulateOptions& options, const engine::ExperimentConfig& config,
                                 const Output& output) {
  if (options.expression) {
    return source(engine::sim::Expression::parse(*options.expression, config.space), "--metric",
                  "metric " + *options.expression);
  }
  if (!options.curves) {
    return usage_failure("--metric or --curves is required; see hpsearch simulate --help");
  }
  const std::string_view curves = *options.curves;
  const std::size_t colon = curves.find(':');
  const std::string_view kind = curves.substr(0, colon);
  const std::string name(colon == std::string_view::npos ? "" : curves.substr(colon + 1));
  if (colon != std::string_view::npos && kind == "experiment") {
    return open_experiment(name, options, output);
  }
  if (colon != std::string_view::npos && kind == "surrogate") {
    return open_surrogate(name, options, config);
  }
  if (colon != std::string_view::npos && kind == "synthetic") {
    return open_synthetic(name, config);
  }
  return open_table(*options.curves, options);
}

}  // namespace hpsearch::cli
