#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/client/trial_pages.hpp"
#include "cli/client/which.hpp"
#include "cli/render/curve_plot.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/table.hpp"
#include "cli/render/text.hpp"
#include "cli/results/trial_columns.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/views/csv_line.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

constexpr std::size_t usual_width = 80;
constexpr std::size_t plot_height = 16;

struct Curve {
  Value trial;
  std::map<std::uint64_t, double> points;  ///< The last value of each step, over all attempts.
};

/// The requested trial, or the best ones, the best first.
Outcome<Value::List> wanted_trials(const Reached& reached, const CurvesOptions& options,
                                   bool smaller_is_better) {
  const Client& client = reached.server.client();
  Value::List trials;
  if (options.trial) {
    const Outcome<Value> one =
        client.get(experiment_target(reached.experiment, "/trials/" + std::to_string(*options.trial)));
    if (!one) {
      return one.failure();
    }
    trials.push_back(*one);
    return trials;
  }
  const auto all =
      each_trial([&client](const std::string& target) { return client.get(target); }, reached.experiment, {},
                 [&trials](const Value& trial) { trials.push_back(trial); });
  if (!all) {
    return all.failure();
  }
  sort_best_first(trials, smaller_is_better);
  if (trials.size() > options.top) {
    trials.resize(static_cast<std::size_t>(options.top));
  }
  return trials;
}

std::map<std::uint64_t, double> points_of(const Value::List& reports, const std::string& metric) {
  std::map<std::uint64_t, double> points;
  for (const Value& report : reports) {
    const Value& value = member(member(report, "metrics"), metric);
    if (const auto number = proto::real_of(value)) {
      points[count_at(report, "step")] = *number;
    }
  }
  return points;
}

char sign_of(std::size_t place) {
  constexpr std::string_view signs = "*o+x#@%&";
  return signs[place % signs.size()];
}

void print_plot(const std::vector<Curve>& curves, const std::string& metric, const std::string& unit,
                const Output& output) {
  std::vector<PlottedCurve> plotted;
  for (const Curve& curve : curves) {
    PlottedCurve line{sign_of(plotted.size()), {}};
    for (const auto& [step, value] : curve.points) {
      if (value == value && value - value == 0) {  // Only finite values.
        line.points.emplace_back(static_cast<double>(step), value);
      }
    }
    plotted.push_back(std::move(line));
  }
  const std::size_t width = output.width() > 0 ? output.width() : usual_width;
  // Without colours, signs tell curves apart.
  const std::string plot = output.colored() ? colored_plot_text(plotted, width, plot_height, output)
                                            : plot_text(plotted, width, plot_height);
  if (plot.empty()) {
    output.print("no trial has reported " + printable(metric) + " yet\n");
    return;
  }
  output.print(printable(metric) + " by " + printable(unit) + "\n" + plot);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    output.print((output.colored() ? output.paint(curve_color(i), "●") : std::string(1, sign_of(i))) +
                 " trial " + std::to_string(count_at(curves[i].trial, "trial")) + ": " +
                 printable(flat_text(member(curves[i].trial, "hparams"))) + "\n");
  }
}

void print_table(const std::vector<Curve>& curves, const std::string& unit, const Output& output) {
  std::vector<Table::Column> columns{{unit, Table::Align::right}};
  std::map<std::uint64_t, std::vector<std::string>> rows;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    columns.push_back({"trial " + std::to_string(count_at(curves[i].trial, "trial")), Table::Align::right});
    for (const auto& [step, value] : curves[i].points) {
      std::vector<std::string>& cells = rows[step];
      cells.resize(curves.size());
      cells[i] = metric_text(value);
    }
  }
  Table table(columns);
  for (const auto& [step, cells] : rows) {
    std::vector<std::string> row{std::to_string(step)};
    row.insert(row.end(), cells.begin(), cells.end());
    table.add(std::move(row));
  }
  output.print(table.text());
}

}  // namespace

int curves(const CurvesOptions& options, const Output& output) {
  const Outcome<Reached> reached = reach_experiment(options.experiment.server, options.experiment.experiment,
                                                    Server::Need::readable, output);
  if (!reached) {
    return output.fail(reached.failure());
  }
  const Client& client = reached->server.client();
  const Outcome<Value> detail = client.get(experiment_target(reached->experiment));
  if (!detail) {
    return output.fail(detail.failure());
  }
  const std::string metric = options.metric.value_or(text_at(*detail, "metric"));
  const auto trials = wanted_trials(*reached, options, member(*detail, "smaller_is_better") == Value(true));
  if (!trials) {
    return output.fail(trials.failure());
  }
  std::vector<Curve> all;
  std::vector<std::string> reported;
  for (const Value& trial : *trials) {
    const auto reports = metrics_of_trial([&client](const std::string& target) { return client.get(target); },
                                          reached->experiment, count_at(trial, "trial"));
    if (!reports) {
      return output.fail(reports.failure());
    }
    for (const Value& report : *reports) {
      if (const Value::Map* metrics = member(report, "metrics").as_map()) {
        for (const auto& [name, value] : *metrics) {
          if (std::find(reported.begin(), reported.end(), name) == reported.end()) {
            reported.push_back(name);
          }
        }
      }
    }
    all.push_back({trial, points_of(*reports, metric)});
  }
  const bool known =
      reported.empty() || std::find(reported.begin(), reported.end(), metric) != reported.end();
  if (options.metric && !known) {
    std::string names;
    for (const std::string& name : reported) {
      names += (names.empty() ? "" : ", ") + printable(name);
    }
    return output.fail(
        usage_failure("--metric: no trial reported \"" + printable(metric) + "\" (" + names + ")"));
  }
  const std::string unit = text_at(*detail, "unit");
  if (output.json() || options.format == "csv") {
    Value::List list;
    std::string csv = views::csv_line({"trial", "step", metric});
    for (const Curve& curve : all) {
      Value::List points;
      for (const auto& [step, value] : curve.points) {
        points.emplace_back(Value::List{static_cast<std::int64_t>(step), value});
        csv += views::csv_line({member(curve.trial, "trial"), static_cast<std::int64_t>(step), value});
      }
      list.emplace_back(Value::Map{{"trial", member(curve.trial, "trial")},
                                   {"hparams", member(curve.trial, "hparams")},
                                   {"points", std::move(points)}});
    }
    if (output.json()) {
      output.data(Value::Map{{"metric", metric}, {"unit", unit}, {"curves", std::move(list)}});
    } else {
      output.print(csv);
    }
  } else if (options.format == "table") {
    print_table(all, unit, output);
  } else {
    print_plot(all, metric, unit, output);
  }
  return 0;
}

}  // namespace hpsearch::cli
