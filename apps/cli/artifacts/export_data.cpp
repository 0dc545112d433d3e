#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/client/trial_pages.hpp"
#include "cli/client/which.hpp"
#include "cli/render/text.hpp"
#include "cli/results/trial_columns.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/views/csv_line.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

/// A number, finite or not, or the texts "nan", "inf".
Value plain(const Value& metric) {
  const std::optional<double> number = metric.is_number() ? std::nullopt : proto::real_of(metric);
  return number ? Value(*number) : metric;
}

void print_trials_as_csv(const Value::List& trials, const Output& output) {
  const std::vector<std::string> own = {"trial",    "id",          "state",          "length",
                                        "reached",  "best_metric", "best_step",      "metric",
                                        "attempts", "restarts",    "slot_seconds",   "created_at",
                                        "ended_at", "checkpoint",  "best_checkpoint"};
  std::vector<std::string> hparams = column_names(trials);
  hparams.erase(hparams.begin(), hparams.begin() + static_cast<std::ptrdiff_t>(trial_names().size()));
  std::vector<Value> header(own.begin(), own.end());
  for (const std::string& name : hparams) {
    header.emplace_back("hparams." + name);
  }
  output.print(views::csv_line(header));
  for (const Value& trial : trials) {
    std::vector<Value> cells;
    for (const std::string& name : own) {
      cells.push_back(plain(member(trial, name)));
    }
    const auto leaves = hparam_leaves(member(trial, "hparams"));
    for (const std::string& name : hparams) {
      Value cell;
      for (const auto& [path, value] : leaves) {
        cell = path == name ? value : cell;
      }
      cells.push_back(std::move(cell));
    }
    output.print(views::csv_line(cells));
  }
}

void print_points(const Value& trial, const Value::List& points, bool csv, const Output& output) {
  for (const Value& point : points) {
    if (!csv) {
      Value::Map line = *point.as_map();
      line["trial"] = member(trial, "trial");
      output.line(Value(std::move(line)));
      continue;
    }
    if (const Value::Map* metrics = member(point, "metrics").as_map()) {
      for (const auto& [name, value] : *metrics) {
        output.print(views::csv_line(
            {member(trial, "trial"), member(point, "attempt"), member(point, "step"), name, plain(value)}));
      }
    }
  }
}

}  // namespace

int export_data(const ExportOptions& options, const Output& output) {
  const Outcome<Reached> reached = reach_experiment(options.experiment.server, options.experiment.experiment,
                                                    Server::Need::readable, output);
  if (!reached) {
    return output.fail(reached.failure());
  }
  const auto get = [&reached](const std::string& target) { return reached->server.client().get(target); };
  Value::List trials;
  const auto all =
      each_trial(get, reached->experiment, {}, [&trials](const Value& trial) { trials.push_back(trial); });
  if (!all) {
    return output.fail(all.failure());
  }
  const bool csv = options.format == "csv";
  if (options.what == "trials" && csv) {
    print_trials_as_csv(trials, output);
    return 0;
  }
  if (options.what == "metrics" && csv) {
    output.print(views::csv_line({"trial", "attempt", "step", "metric", "value"}));
  }
  for (const Value& trial : trials) {
    if (options.what == "trials") {
      output.line(trial);
      continue;
    }
    const auto points = metrics_of_trial(get, reached->experiment, count_at(trial, "trial"));
    if (!points) {
      return output.fail(points.failure());
    }
    print_points(trial, *points, csv, output);
  }
  return 0;
}

}  // namespace hpsearch::cli
