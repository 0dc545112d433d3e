#include "imports/katib_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "fields/sections.hpp"
#include "hpsearch/engine/space/numbers.hpp"
#include "imports/katib_metrics.hpp"
#include "imports/katib_space.hpp"

namespace hpsearch::jobs {
namespace {

constexpr std::int64_t usual_parallel_trials = 3;  // Katib's default.

/// The number of a field, with the bounds of Kubernetes; adds a problem if it is another value.
std::optional<std::int64_t> whole_from(const Value& map, std::string_view at, std::string_view key,
                                       std::int64_t least, Draft& draft) {
  const Value& given = member_of(map, key);
  if (given.is_null()) {
    return std::nullopt;
  }
  const auto number = engine::whole_number(given);
  if (!number || *number < least || *number > std::numeric_limits<std::int32_t>::max()) {
    draft.refuse(path_below(at, key), "is " + quoted(given), "an integer from " + std::to_string(least));
    return std::nullopt;
  }
  return number;
}

/// The settings of an algorithm, which Katib writes as a list of name and value.
std::map<std::string, std::string> settings_of(const Value& algorithm) {
  std::map<std::string, std::string> settings;
  for (const Value& setting : list_member(algorithm, "algorithmSettings")) {
    settings[text_member(setting, "name")] = python_text(member_of(setting, "value"));
  }
  return settings;
}

class KatibSearch {
 public:
  KatibSearch(const Value& spec, const std::vector<std::string>& words, Draft& draft)
      : spec_(spec), words_(words), draft_(draft) {}

  void read() {
    const Value& objective = member_of(spec_, "objective");
    const Value& algorithm = member_of(spec_, "algorithm");
    const Value& stopping = member_of(spec_, "earlyStopping");
    Draft::Search search;
    read_objective(objective, search);
    read_algorithm_name(algorithm, search);
    search.stops_early = search.method == "hyperband" || stopping.as_map() != nullptr;
    if (const auto most = whole_from(spec_, "spec", "maxTrialCount", 1, draft_)) {
      search.max_trials = *most;
    }
    read_length(search);
    std::map<std::string, std::string> settings = settings_of(algorithm);
    if (search.method == "hyperband") {
      read_hyperband(settings, search);
    }
    draft_.search(search);
    read_settings(search.method, std::move(settings));
    if (stopping.as_map() != nullptr) {
      read_early_stopping(stopping, search.max_length);
    }
    draft_.set("searcher.max_concurrent_trials",
               whole_from(spec_, "spec", "parallelTrialCount", 1, draft_).value_or(usual_parallel_trials));
    if (const auto failed = whole_from(spec_, "spec", "maxFailedTrialCount", 0, draft_)) {
      draft_.set("budget.max_failed_trials", *failed + 1);  // Katib fails when there are more than these.
    }
    std::vector<std::string> metrics{search.metric};
    for (const Value& metric : list_member(objective, "additionalMetricNames")) {
      metrics.push_back(python_text(metric));
    }
    read_katib_metrics(member_of(spec_, "metricsCollectorSpec"), metrics, draft_);
  }

 private:
  void read_objective(const Value& objective, Draft::Search& search) {
    const std::string type = text_member(objective, "type");
    if (type != "minimize" && type != "maximize") {
      draft_.refuse("spec.objective.type", type.empty() ? "is missing" : "is " + quoted(Value(type)),
                    "minimize or maximize");
    }
    search.smaller_is_better = type != "maximize";
    search.metric = text_member(objective, "objectiveMetricName");
    if (search.metric.empty()) {
      draft_.refuse("spec.objective.objectiveMetricName", "is missing");
    }
    const Value& goal = member_of(objective, "goal");
    if (const auto number = number_in(goal)) {
      draft_.set("budget.target", *number);
    } else if (!goal.is_null()) {
      draft_.refuse("spec.objective.goal", "is " + quoted(goal), "a number");
    }
    const std::string best = search.smaller_is_better ? "min" : "max";
    for (const Value& strategy : list_member(objective, "metricStrategies")) {
      const std::string value = text_member(strategy, "value");
      if (text_member(strategy, "name") == search.metric && value != best) {
        draft_.decide("searcher.metric",
                      "metricStrategies takes the " + value + " value of a trial; here the best one counts");
      }
    }
  }

  void read_algorithm_name(const Value& algorithm, Draft::Search& search) {
    search.method = text_member(algorithm, "algorithmName");
    const std::string at = "spec.algorithm.algorithmName";
    const std::string instead =
        "random, grid, bayesianoptimization, tpe, multivariate-tpe, cmaes, sobol or hyperband";
    if (search.method.empty()) {
      draft_.refuse(at, "is missing", instead);
    } else if (search.method == "pbt") {
      draft_.refuse(at, "is \"pbt\", which changes hyperparameters while a trial trains", instead);
    } else if (search.method == "enas" || search.method == "darts") {
      draft_.refuse(at, "is " + quoted(Value(search.method)) + ", which searches for an architecture",
                    instead);
    }
  }

  /// The number of reports of a trial: from the command, or the greatest value of a parameter for epochs.
  void read_length(Draft::Search& search) const {
    search.max_length = epochs_in(words_);
    search.counts_length_by = "the command";
    if (!search.max_length.is_null()) {
      return;
    }
    for (const auto& [name, range] : draft_.hyperparameters()) {
      Value greatest = range.as_map() == nullptr ? range : member_of(range, "maxval");
      for (const Value& value : list_member(range, "vals")) {
        const auto number = number_in(value);
        greatest = number && *number > greatest.number_or(0) ? Value(*number) : greatest;
      }
      const auto number = number_in(greatest);
      const auto whole = number ? engine::whole_number(Value(*number)) : std::nullopt;
      if (name.find("epoch") != std::string::npos && whole && *whole > 0) {
        search.max_length = Value::Map{{"epochs", *whole}};
        search.counts_length_by = "the greatest value of " + name;
      }
    }
  }

  /// Hyperband sets the parameter `resource_name` to at most `r_l`, and promotes one in `eta`.
  void read_hyperband(std::map<std::string, std::string>& settings, Draft::Search& search) {
    const auto longest = number_in(Value(settings["r_l"]));
    const auto length = longest ? engine::whole_number(Value(*longest)) : std::nullopt;
    if (!length || *length < 1) {
      draft_.refuse("spec.algorithm.algorithmSettings", "has r_l " + quoted(Value(settings["r_l"])),
                    "a whole number from 1");
      return;
    }
    search.max_length = Value::Map{{"epochs", *length}};
    search.counts_length_by = "r_l of hyperband";
    const std::string resource = name_without_hyphens(settings["resource_name"]);
    if (draft_.hyperparameters().contains(resource)) {
      ForeignRange full = constant(Value(*length));
      full.remark = "hyperband set it; a trial trains to r_l unless it is stopped before";
      draft_.add({resource}, std::move(full));
    }
    if (const auto eta = number_in(Value(settings["eta"])); eta && *eta > 1) {
      const auto whole = engine::whole_number(Value(*eta));
      draft_.set("searcher.divisor", whole ? Value(*whole) : Value(*eta));
    }
    for (const char* read : {"r_l", "resource_name", "eta"}) {
      settings.erase(read);
    }
  }

  void read_settings(const std::string& method, std::map<std::string, std::string> settings) {
    struct Setting {
      std::string_view algorithm;
      std::string_view name;
      const char* field;
    };
    constexpr std::array<Setting, 7> known{{
        {"", "random_state", "reproducibility.experiment_seed"},
        {"tpe", "gamma", "searcher.tpe.gamma"},
        {"tpe", "n_EI_candidates", "searcher.tpe.candidates"},
        {"tpe", "n_startup_trials", "searcher.tpe.initial_results"},
        {"multivariate-tpe", "n_ei_candidates", "searcher.tpe.candidates"},
        {"multivariate-tpe", "n_startup_trials", "searcher.tpe.initial_results"},
        {"bayesianoptimization", "n_initial_points", "searcher.model.initial_results"},
    }};
    for (const auto& given : settings) {  // clang 14 has no structured bindings in lambdas.
      const auto& name = given.first;
      const auto& text = given.second;
      const auto* const setting = std::find_if(known.begin(), known.end(), [&](const Setting& one) {
        return one.name == name && (one.algorithm.empty() || one.algorithm == method);
      });
      const auto number = number_in(Value(text));
      if (setting == known.end() || !number) {
        draft_.decide("searcher.name", "the setting " + name + "=" + text + " of " + method + " is left out");
        continue;
      }
      const auto whole = engine::whole_number(Value(*number));
      draft_.set(setting->field, whole ? Value(*whole) : Value(*number));
    }
  }

  /// The median rule stops about half of the trials, from `start_step` on.
  void read_early_stopping(const Value& stopping, const Value& max_length) {
    const std::string name = text_member(stopping, "algorithmName");
    if (name != "medianstop") {
      draft_.decide("searcher.name", "takes the place of the early stopping by " + quoted(Value(name)));
      return;
    }
    constexpr std::int64_t usual_start = 4;  // Katib's default.
    const std::map<std::string, std::string> settings = settings_of(stopping);
    const auto given = settings.find("start_step");
    const auto start =
        given == settings.end() ? usual_start : number_in(Value(given->second)).value_or(usual_start);
    draft_.set("searcher.divisor", 2);
    const auto longest = engine::whole_number(member_of(max_length, "epochs"));
    if (longest && start >= 1) {
      const double halvings = std::floor(std::log2(static_cast<double>(*longest) / start) + 1e-9);
      draft_.set("searcher.max_rungs", 1 + static_cast<std::int64_t>(std::clamp(halvings, 0.0, 20.0)));
    }
    draft_.decide(
        "searcher.name",
        "takes the place of medianstop: at each rung about half of the trials go on, and the first is "
        "not before start_step");
  }

  const Value& spec_;
  const std::vector<std::string>& words_;
  Draft& draft_;
};

}  // namespace

void read_katib_search(const Value& spec, const std::vector<std::string>& words, Draft& draft) {
  KatibSearch(spec, words, draft).read();
}

}  // namespace hpsearch::jobs
