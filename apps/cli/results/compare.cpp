#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/client/answers.hpp"
#include "cli/client/trial_pages.hpp"
#include "cli/client/which.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/space_table.hpp"
#include "cli/render/table.hpp"
#include "cli/render/text.hpp"
#include "cli/results/trial_columns.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/engine/base/amount.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

/// One experiment, as far as it can be compared.
struct Compared {
  std::string name;  ///< As given.
  Value detail;
  Value config;
  Value best;                       ///< The best trial, or null.
  api::Experiment experiment;       ///< Read from `detail`.
  std::optional<api::Trial> trial;  ///< Read from `best`.
  std::vector<Value> so_far;        ///< The best metric of the first i + 1 trials, or null.
};

Outcome<Compared> look_at(const std::string& given, const ServerOptions& options, const Output& output) {
  const Outcome<Reached> reached = reach_experiment(options, given, Server::Need::readable, output);
  if (!reached) {
    return reached.failure();
  }
  const Client& client = reached->server.client();
  Compared compared;
  compared.name = given;
  for (const auto& [part, to] : {std::pair<const char*, Value*>{"", &compared.detail},
                                 {"/config", &compared.config},
                                 {"/best", &compared.best}}) {
    const Outcome<Value> answer = client.get(experiment_target(reached->experiment, part));
    if (!answer) {
      return answer.failure();
    }
    *to = *answer;
  }
  auto experiment = read_as<api::Experiment>(compared.detail);
  auto best = read_as<std::optional<api::Trial>>(compared.best);
  if (!experiment || !best) {
    return experiment ? best.failure() : experiment.failure();
  }
  compared.experiment = *std::move(experiment);
  compared.trial = *std::move(best);
  const bool smaller = compared.experiment.smaller_is_better;
  const auto all = each_trial(
      [&client](const std::string& target) { return client.get(target); }, reached->experiment, {},
      [&](const Value& trial) {
        const Value metric = column_value(trial, "metric");
        const Value before = compared.so_far.empty() ? Value() : compared.so_far.back();
        const bool better =
            !metric.is_null() && (before.is_null() || (smaller ? metric.number_or(0) < before.number_or(0)
                                                               : metric.number_or(0) > before.number_or(0)));
        compared.so_far.push_back(better ? metric : before);
      });
  return all ? Outcome<Compared>(std::move(compared)) : Outcome<Compared>(all.failure());
}

double savings_of(const api::Experiment& experiment) {
  const auto full = static_cast<double>(experiment.length_full);
  return full > 0 ? 1 - static_cast<double>(experiment.length_trained) / full : 0;
}

/// The numbers of trials at which histories are shown: 1, 2, 5, 10, … up to the longest.
std::vector<std::size_t> places_of_history(const std::vector<Compared>& all) {
  std::size_t longest = 0;
  for (const Compared& one : all) {
    longest = std::max(longest, one.so_far.size());
  }
  std::vector<std::size_t> places;
  for (std::size_t decade = 1; decade <= longest; decade *= 10) {
    for (const std::size_t factor : {1U, 2U, 5U}) {
      if (decade * factor < longest) {
        places.push_back(decade * factor);
      }
    }
  }
  if (longest > 0) {
    places.push_back(longest);
  }
  return places;
}

/// Paths of the leaves in which the trees differ, each with one value per tree.
std::vector<std::pair<std::string, std::vector<Value>>> different_leaves(const std::vector<Value>& trees) {
  std::set<std::string> paths;
  std::vector<std::vector<std::pair<std::string, Value>>> leaves;
  for (const Value& tree : trees) {
    leaves.push_back(hparam_leaves(tree));
    for (const auto& [path, value] : leaves.back()) {
      paths.insert(path);
    }
  }
  std::vector<std::pair<std::string, std::vector<Value>>> different;
  for (const std::string& path : paths) {
    std::vector<Value> values;
    std::set<std::string> spelled;
    for (const auto& of_tree : leaves) {
      const auto found = std::find_if(of_tree.begin(), of_tree.end(),
                                      [&path](const auto& leaf) { return leaf.first == path; });
      values.push_back(found == of_tree.end() ? Value() : found->second);
      spelled.insert(engine::compact_json(values.back()));
    }
    if (spelled.size() > 1) {
      different.emplace_back(path, std::move(values));
    }
  }
  return different;
}

/// The configuration with the range of each hyperparameter in words.
Value with_ranges_in_words(const Value& config) {
  const Value* written = config.at_path("hyperparameters");
  engine::Problems problems;
  engine::Problems notes;
  const engine::Space space = written == nullptr
                                  ? engine::Space()
                                  : engine::Space::parse(*written, "hyperparameters", problems, notes);
  if (written == nullptr || !problems.empty()) {
    return config;
  }
  Value::Map ranges;
  for (std::size_t leaf = 0; leaf < space.leaves().size(); ++leaf) {
    const auto* constant = std::get_if<engine::ConstParameter>(&space.leaves()[leaf].parameter);
    ranges[space.leaves()[leaf].path] =
        constant != nullptr ? constant->val : Value(range_in_words(space, leaf));
  }
  Value words = config;
  (*words.as_map())["hyperparameters"] = std::move(ranges);
  return words;
}

using Texts = std::vector<std::string>;

template <class Of>
void add_row(Table& table, const std::string& title, const std::vector<Compared>& all, const Of& of) {
  Texts cells{title};
  for (const Compared& one : all) {
    cells.push_back(of(one));
  }
  table.add(std::move(cells));
}

std::string differing(const std::string& title, const std::vector<Value>& trees,
                      const std::vector<Compared>& all) {
  std::vector<Table::Column> columns{{title}};
  for (const Compared& one : all) {
    columns.push_back({one.name, Table::Align::left, true});
  }
  Table table(columns);
  for (const auto& [path, values] : different_leaves(trees)) {
    Texts cells{path};
    for (const Value& value : values) {
      cells.push_back(cell_text(value));
    }
    table.add(std::move(cells));
  }
  return table.empty() ? "" : "\n" + table.text(80);
}

std::string text_of(const std::vector<Compared>& all) {
  std::vector<Table::Column> columns{{""}};
  for (const Compared& one : all) {
    columns.push_back({one.name, Table::Align::left, true});
  }
  Table facts(columns);
  add_row(facts, "state", all,
          [](const Compared& one) { return std::string(engine::name_of(one.experiment.state)); });
  add_row(facts, "searcher", all, [](const Compared& one) { return one.experiment.searcher; });
  add_row(facts, "trials", all,
          [](const Compared& one) { return std::to_string(one.experiment.trials_total); });
  add_row(facts, "best", all, [](const Compared& one) {
    return one.experiment.metric + " " + metric_or_dash(one.trial ? one.trial->best_metric : std::nullopt);
  });
  add_row(facts, "of trial", all, [](const Compared& one) {
    return one.trial ? std::to_string(one.trial->trial.number()) + " at " +
                           engine::amount(one.trial->best_step.value_or(engine::Units{}), one.experiment.unit)
                     : "-";
  });
  add_row(facts, "trained", all, [](const Compared& one) { return training_text(one.experiment); });
  add_row(facts, "saved", all, [](const Compared& one) {
    return (one.experiment.ran_unlogged ? "≤ " : "") + percent_text(savings_of(one.experiment));
  });
  add_row(facts, "slot time", all, [](const Compared& one) {
    return slot_time_text(one.experiment.slot_seconds, one.experiment.ran_unlogged);
  });
  std::string text = facts.text();

  columns.front().title = "BEST AFTER";
  Table history(columns);
  for (const std::size_t place : places_of_history(all)) {
    add_row(history, counted(place, "trial"), all, [place](const Compared& one) {
      return place <= one.so_far.size() ? metric_or_dash(one.so_far[place - 1]) : std::string();
    });
  }
  text += history.empty() ? "" : "\n" + history.text();

  std::vector<Value> hparams;
  std::vector<Value> configs;
  for (const Compared& one : all) {
    hparams.push_back(one.trial ? Value(one.trial->hparams) : Value());
    configs.push_back(with_ranges_in_words(one.config));
  }
  return text + differing("BEST HYPERPARAMETERS", hparams, all) + differing("EXPERIMENT FILE", configs, all);
}

Value json_of(const std::vector<Compared>& all) {
  Value::List list;
  for (const Compared& one : all) {
    Value::List so_far(one.so_far.begin(), one.so_far.end());
    list.emplace_back(Value::Map{{"name", one.name},
                                 {"experiment", one.detail},
                                 {"config", one.config},
                                 {"best", one.best},
                                 {"saved", savings_of(one.experiment)},
                                 {"best_after_trials", std::move(so_far)}});
  }
  return Value::Map{{"experiments", std::move(list)}};
}

}  // namespace

int compare(const CompareOptions& options, const Output& output) {
  std::vector<Compared> all;
  for (const std::string& given : options.which) {
    Outcome<Compared> one = look_at(given, options.server, output);
    if (!one) {
      return output.fail(one.failure());
    }
    all.push_back(std::move(*one));
  }
  if (output.json()) {
    output.data(json_of(all));
  } else {
    output.print(text_of(all));
  }
  return 0;
}

}  // namespace hpsearch::cli
