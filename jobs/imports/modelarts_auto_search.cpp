#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fields/sections.hpp"
#include "hpsearch/engine/space/numbers.hpp"
#include "imports/draft.hpp"
#include "imports/regex_groups.hpp"

namespace hpsearch::jobs {
namespace {

/// The path of the `auto_search` section: in a job's `advanced_config`, at the top, or "" for the whole file.
std::string_view auto_search_in(const Value& tree) noexcept {
  for (const char* path : {"advanced_config.auto_search", "auto_search"}) {
    if (const Value* found = tree.at_path(path); found != nullptr && !found->is_null()) {
      return path;
    }
  }
  return "";
}

/// The pattern with `{number}` in place of its first group; nothing if it has no group.
std::optional<std::string> with_number(const std::string& regex) {
  const std::vector<RegexGroup> groups = capture_groups(regex);
  if (groups.empty()) {
    return std::nullopt;
  }
  return regex.substr(0, groups[0].begin) + "{number}" + regex.substr(groups[0].end);
}

/// ModelArts writes all values as text. If all of them are numbers, they become numbers.
Value::List values_of(const Value& parameter) {
  Value::List texts;
  Value::List numbers;
  for (const Value& value : list_member(parameter, "discrete_values")) {
    texts.push_back(value);
    if (const auto number = number_in(value)) {
      const auto whole = engine::whole_number(Value(*number));
      const bool written_whole =
          value.as_text() == nullptr || value.as_text()->find_first_of(".eE") == std::string::npos;
      numbers.push_back(whole && written_whole ? Value(*whole) : Value(*number));
    }
  }
  return numbers.size() == texts.size() ? numbers : texts;
}

std::optional<ForeignRange> range_of(const Value& parameter) {
  if (text_member(parameter, "param_type") == "discrete") {
    Value::List values = values_of(parameter);
    return values.empty() ? std::nullopt : std::optional(choices(std::move(values)));
  }
  const auto low = number_in(member_of(parameter, "lower_bound"));
  const auto high = number_in(member_of(parameter, "upper_bound"));
  if (!low || !high) {
    return std::nullopt;
  }
  const auto points = number_in(member_of(parameter, "discrete_points_num"));
  return points && *points > 1 ? stepped_range(*low, *high, (*high - *low) / (*points - 1), false)
                               : real_range(*low, *high);
}

struct Algorithm {
  std::string_view name;
  std::string_view sampler;
  /// The algorithm's parameters and our fields; "" if a parameter has no meaning here.
  std::vector<std::pair<std::string_view, std::string_view>> fields;
};

const std::vector<Algorithm>& algorithms() {
  static const std::vector<Algorithm> known = {
      {"bayes_opt_search",
       "model",
       {{"num_samples", "searcher.max_trials"}, {"kind", ""}, {"kappa", ""}, {"xi", ""}, {"seed", ""}}},
      {"tpe_search",
       "tpe",
       {{"num_samples", "searcher.max_trials"},
        {"gamma", "searcher.tpe.gamma"},
        {"n_initial_points", "searcher.tpe.initial_results"},
        {"seed", ""}}},
      {"anneal_search",
       "anneal",
       {{"num_samples", "searcher.max_trials"},
        {"avg_best_idx", "searcher.anneal.avg_best_idx"},
        {"shrink_coef", "searcher.anneal.shrink_coef"}}},
  };
  return known;
}

constexpr std::int64_t usual_samples = 20;  // ModelArts' default.

void read_algorithm(const Value& search, const std::string& at, Draft& draft) {
  const Value::List& configs = list_member(search, "algo_configs");
  if (configs.size() > 1) {
    std::vector<std::string> names;
    for (const Value& config : configs) {
      names.push_back(text_member(config, "name"));
    }
    draft.refuse(at, "names " + std::to_string(configs.size()) + " algorithms: " + comma_list(names),
                 "one algorithm, because a search here has one; import the file once for each");
    return;
  }
  const std::string name = configs.empty() ? "bayes_opt_search" : text_member(configs.front(), "name");
  draft.set("searcher.max_trials", usual_samples);
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.name != name) {
      continue;
    }
    draft.set("searcher.sampler", Value(algorithm.sampler));
    for (const Value& param : configs.empty() ? Value::List() : list_member(configs.front(), "params")) {
      const std::string key = text_member(param, "key");
      std::string_view field;
      for (const auto& [theirs, ours] : algorithm.fields) {
        field = theirs == key ? ours : field;
      }
      const auto number = number_in(member_of(param, "value"));
      if (field.empty() || !number) {
        draft.decide("searcher.sampler", key + " of " + name + " has no meaning here");
        continue;
      }
      const auto whole = engine::whole_number(Value(*number));
      draft.set(field, whole ? Value(*whole) : Value(*number));
    }
    return;
  }
  draft.refuse(at + "[0].name", "is " + quoted(Value(name)), "bayes_opt_search, tpe_search or anneal_search");
}

}  // namespace

bool is_modelarts_auto_search(const Value& tree) noexcept {
  const std::string_view at = auto_search_in(tree);
  const Value& search = at.empty() ? tree : *tree.at_path(at);
  return member_of(search, "reward_attrs").as_list() != nullptr &&
         member_of(search, "search_params").as_list() != nullptr;
}

ImportedExperiment import_modelarts_auto_search(const Value& tree) {
  const std::string_view at = auto_search_in(tree);
  const Value& search = at.empty() ? tree : *tree.at_path(at);
  Draft draft;
  const Value& algorithm = member_of(tree, "algorithm");
  for (const Value& parameter : list_member(algorithm, "parameters")) {
    draft.add({text_member(parameter, "name")}, constant(member_of(parameter, "value")));
  }
  for (const Value& parameter : list_member(search, "search_params")) {
    const std::string name = text_member(parameter, "name");
    std::optional<ForeignRange> range = range_of(parameter);
    if (!name.empty() && range) {
      draft.add({name}, *std::move(range));
    } else {
      draft.refuse(path_below(at, "search_params"), "has " + quoted(parameter),
                   "a name, and either lower_bound and upper_bound, or discrete_values");
    }
  }
  const Value::List& rewards = list_member(search, "reward_attrs");
  const std::string metric = rewards.empty() ? "" : text_member(rewards.front(), "name");
  if (metric.empty()) {
    draft.refuse(path_below(at, "reward_attrs"), "names no metric");
    return std::move(draft).finished();
  }
  const std::string boot_file = text_member(algorithm, "boot_file");
  draft.set("entrypoint", Value::List{"python3", boot_file.empty() ? "train.py" : boot_file, "{args_eq}"});
  if (boot_file.empty()) {
    draft.decide("entrypoint", "the file does not name the program");
  }
  Draft::Search wanted;
  wanted.method = "random";
  wanted.metric = metric;
  wanted.smaller_is_better = text_member(rewards.front(), "mode") == "min";
  draft.search(wanted, Draft::Trials::are_said_elsewhere);
  read_algorithm(search, path_below(at, "algo_configs"), draft);
  for (const Value& reward : rewards) {
    const std::string name = text_member(reward, "name");
    const std::string regex = text_member(reward, "regex");
    if (const auto pattern = with_number(regex); !regex.empty() && pattern) {
      draft.set("metrics." + name, *pattern);
    } else {
      draft.decide("metrics",
                   "the pattern of " + name + " has no group that holds the number: " + quoted(Value(regex)));
    }
  }
  if (rewards.size() > 1) {
    draft.decide("searcher.metric", "the first of " + std::to_string(rewards.size()) +
                                        " metrics: a search decides by one, the others are recorded");
  }
  if (!member_of(search, "skip_search_params").is_null()) {
    draft.decide("hyperparameters",
                 "skip_search_params is not read: combinations that it excludes are tried");
  }
  return std::move(draft).finished();
}

}  // namespace hpsearch::jobs
