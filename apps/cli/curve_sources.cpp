#include "cli/curve_sources.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/experiment_file.hpp"
#include "cli/server.hpp"
#include "cli/text.hpp"
#include "hpsearch/engine/sim/curve_table.hpp"
#include "hpsearch/engine/sim/expression.hpp"

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
    return usage_failure(name + ": " + curves.error().message);
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

/// The history of an experiment's searcher metric, of every trial.
Outcome<CurveSource> open_experiment(const std::string& id, const SimulateOptions& options, const Output& output) {
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
  const Outcome<Value> trials = server->client().get(experiment_target(*experiment, "/trials"));
  if (!trials) {
    return trials.failure();
  }
  std::vector<CurveTable::Point> points;
  for (const Value& trial : list_at(*trials, "trials")) {
    const std::uint64_t number = count_at(trial, "trial");
    const Outcome<Value> history =
        server->client().get(experiment_target(*experiment, "/trials/" + std::to_string(number) + "/metrics"));
    if (!history) {
      return history.failure();
    }
    std::map<std::uint64_t, double> measured;  // A step that was trained twice keeps its last value.
    for (const Value& point : list_at(*history, "metrics")) {
      const Value& metrics = member(point, "metrics");
      const Value* value = metrics.as_map() != nullptr ? metrics.as_map()->find(name) : nullptr;
      if (value != nullptr && value->is_number()) {
        measured[count_at(point, "step")] = value->number_or(std::numeric_limits<double>::quiet_NaN());
      }
    }
    for (const auto& [step, value] : measured) {
      points.push_back({number, engine::Units{step}, value, std::nullopt});
    }
  }
  const std::string about = "experiment " + std::to_string(*experiment);
  return source(CurveTable::from_points(std::move(points), missing(options)), "--curves: " + about,
                "recorded curves of " + about);
}

}  // namespace

Outcome<CurveSource> open_curves(const SimulateOptions& options, const engine::ExperimentConfig& config,
                                 const Output& output) {
  if (options.expression) {
    return source(engine::sim::Expression::parse(*options.expression, config.space), "--metric",
                  "metric " + *options.expression);
  }
  if (!options.curves) {
    return usage_failure("--metric or --curves must say what trials measure; see hpsearch simulate --help");
  }
  const std::string_view curves = *options.curves;
  const std::size_t colon = curves.find(':');
  const std::string_view kind = curves.substr(0, colon);
  const std::string name(colon == std::string_view::npos ? "" : curves.substr(colon + 1));
  if (colon != std::string_view::npos && kind == "experiment") {
    return open_experiment(name, options, output);
  }
  return open_table(*options.curves, options);
}

}  // namespace hpsearch::cli
