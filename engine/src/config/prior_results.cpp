#include "config/prior_results.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>

#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/engine/space/numbers.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::engine {

namespace {

constexpr std::size_t most_wrong_results = 100;
constexpr std::size_t most_named_parameters = 3;

/// Nothing where it is neither a number nor the absence of one. A number that JSON cannot spell comes as a
/// map of its class.
std::optional<double> metric_of(const Value* metric) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  if (metric == nullptr || metric->is_null()) {
    return none;
  }
  const Value::Map* spelled = metric->as_map();
  if (spelled != nullptr && spelled->size() == 1 && spelled->contains("class")) {
    return none;
  }
  return metric->is_number() ? std::optional(metric->number_or(none)) : std::nullopt;
}

/// Adds what is wrong to the section's problems.
std::optional<PriorResult> read_result(Section& section, const std::string& at, const Value& given) {
  const std::size_t before = section.findings().problems.size();
  const Value::Map* map = given.as_map();
  if (map == nullptr) {
    section.problem(at, "is " + quoted(given),
                    "a map of hparams, length and metric; only the command line reads searches and files");
    return std::nullopt;
  }
  PriorResult result;
  const Value* hparams = map->find("hparams");
  if (hparams == nullptr || hparams->as_map() == nullptr) {
    section.problem(at + ".hparams", hparams == nullptr ? "is missing" : "is " + quoted(*hparams),
                    "a map of hyperparameters");
  } else {
    result.hparams = *hparams;
  }
  const Value* length = map->find("length");
  const std::optional<std::int64_t> units = length == nullptr ? std::nullopt : whole_number(*length);
  if (!units || *units < 1) {
    section.problem(at + ".length", length == nullptr ? "is missing" : "is " + quoted(*length),
                    integers_between(1, most_integer));
  } else {
    result.length = Units{static_cast<std::uint64_t>(*units)};
  }
  const std::optional<double> metric = metric_of(map->find("metric"));
  if (!metric) {
    section.problem(at + ".metric", "is " + quoted(*map->find("metric")), "a number");
  } else {
    result.metric = *metric;
  }
  for (const auto& [key, value] : *map) {
    if (key != "hparams" && key != "length" && key != "metric") {
      section.problem(path_below(at, key), "is not known here", "hparams, length or metric");
    }
  }
  return section.findings().problems.size() == before ? std::optional(std::move(result)) : std::nullopt;
}

/// Maps configurations of earlier searches into a space.
class Mapping {
 public:
  explicit Mapping(const Space& space) : space_(space) {
    for (const Space::Leaf& leaf : space.leaves()) {
      known_.insert(leaf.path);
    }
  }

  /// Nothing where it lies outside; then missing() or outside() says why.
  [[nodiscard]] std::optional<Value> operator()(const Value& hparams) {
    missing_.clear();
    outside_.clear();
    note_unknown(hparams, "");
    const Value completed = space_.complete(only_known(hparams));
    std::vector<Value> values;
    for (const Space::Leaf& leaf : space_.leaves()) {
      const Value* value = completed.at_keys(leaf.keys);
      values.push_back(value == nullptr ? Value() : *value);
    }
    Value mapped = space_.configuration_of(values);
    const std::vector<bool> active = space_.active_in(mapped);
    for (std::size_t leaf = 0; leaf < active.size(); ++leaf) {
      if (active[leaf] && completed.at_keys(space_.leaves()[leaf].keys) == nullptr) {
        missing_ = space_.leaves()[leaf].path;
        return std::nullopt;
      }
    }
    Problems problems;
    space_.check(mapped, "hyperparameters", problems);
    if (!problems.empty()) {
      outside_ = problems.front().path + " " + problems.front().what;
      return std::nullopt;
    }
    return mapped;
  }

  [[nodiscard]] const std::string& missing() const noexcept { return missing_; }  ///< A parameter's path.
  [[nodiscard]] const std::string& outside() const noexcept { return outside_; }  ///< "… is 7"
  /// Parameters that the space doesn't have, of all configurations so far.
  [[nodiscard]] const std::set<std::string>& unknown() const noexcept { return unknown_; }

 private:
  [[nodiscard]] Value only_known(const Value& hparams) const {
    Value found = Value::Map();
    for (const Space::Leaf& leaf : space_.leaves()) {
      const Value* value = hparams.at_keys(leaf.keys);
      if (value == nullptr) {
        continue;
      }
      Value* here = &found;
      for (const std::string& key : leaf.keys) {
        if (here->as_map() == nullptr) {
          *here = Value::Map();
        }
        here = &(*here->as_map())[key];
      }
      *here = *value;
    }
    return found;
  }
  void note_unknown(const Value& value, const std::string& at) {
    const Value::Map* map = value.as_map();
    if (map == nullptr || known_.contains(at)) {
      if (!known_.contains(at)) {
        unknown_.insert(at);
      }
      return;
    }
    for (const auto& [key, member] : *map) {
      note_unknown(member, path_below(at, key));
    }
  }

  const Space& space_;
  std::set<std::string> known_;
  std::set<std::string> unknown_;
  std::string missing_;
  std::string outside_;
};

/// How many results were left out for one reason, and what the first of them shows.
struct LeftOut {
  std::size_t count = 0;
  std::string first;

  void add(const std::string& shows) {
    if (count++ == 0) {
      first = shows;
    }
  }
};

std::string some_names(const std::set<std::string>& names) {
  std::string text;
  std::size_t named = 0;
  for (const std::string& name : names) {
    if (named == most_named_parameters) {
      return text + " and " + std::to_string(names.size() - named) + " more";
    }
    text += (named++ == 0 ? "" : ", ") + name;
  }
  return text;
}

}  // namespace

namespace kind {

std::optional<std::vector<PriorResult>> PriorResults::read(Section& section, std::string_view key) const {
  const Value::List* list = section.list(key);
  if (list == nullptr) {
    return std::nullopt;
  }
  if (list->size() > most_prior_results) {
    section.problem(key, "has " + std::to_string(list->size()) + " results",
                    "at most " + std::to_string(most_prior_results) +
                        ": leave out a search, or name a file with some of the results");
    return std::nullopt;
  }
  std::vector<PriorResult> results;
  const std::size_t enough = section.findings().problems.size() + most_wrong_results;
  for (std::size_t i = 0; i < list->size() && section.findings().problems.size() < enough; ++i) {
    const std::string at = std::string(key) + "[" + std::to_string(i) + "]";
    if (std::optional<PriorResult> result = read_result(section, at, (*list)[i])) {
      results.push_back(*std::move(result));
    }
  }
  return results;
}

Value PriorResults::write(const std::vector<PriorResult>& results) const {
  Value::List list;
  for (const PriorResult& result : results) {
    list.emplace_back(Value::Map{{"hparams", result.hparams},
                                 {"length", static_cast<std::int64_t>(count(result.length))},
                                 {"metric", result.metric}});
  }
  return list;
}

std::string PriorResults::range() const {
  return "list of names of searches and files, or of maps of `hparams`, `length` and `metric`; up to 2,000 "
         "results";
}

Value PriorResults::schema() const {
  const Value result = Value::Map{
      {"type", "object"},
      {"properties", Value::Map{{"hparams", Value::Map{{"type", "object"}}},
                                {"length", Value::Map{{"type", "integer"}, {"minimum", 1}}},
                                {"metric", Value::Map{{"type", Value::List{"number", "object", "null"}}}}}},
      {"required", Value::List{"hparams", "length"}},
      {"additionalProperties", false}};
  return Value::Map{
      {"type", "array"},
      {"items",
       Value::Map{{"anyOf", Value::List{Value::Map{{"type", Value::List{"string", "integer"}}}, result}}}}};
}

}  // namespace kind

void keep_usable_prior(ExperimentConfig& config, Findings& findings) {
  std::vector<PriorResult>& prior = config.searcher.prior;
  if (prior.empty()) {
    return;
  }
  LeftOut unmeasured;
  LeftOut too_long;
  LeftOut lacking;
  LeftOut outside;
  Mapping mapped(config.space);
  std::vector<PriorResult> usable;
  for (PriorResult& result : prior) {
    std::optional<Value> hparams;
    if (!std::isfinite(result.metric)) {
      unmeasured.add("");
    } else if (result.length > config.searcher.max_length) {
      too_long.add(std::to_string(count(result.length)) + " " + config.unit);
    } else if (hparams = mapped(result.hparams); hparams) {
      usable.push_back({*std::move(hparams), result.length, result.metric});
    } else if (!mapped.missing().empty()) {
      lacking.add(mapped.missing());
    } else {
      outside.add(mapped.outside());
    }
  }
  std::string why;
  const auto tell = [&why](const LeftOut& left_out, std::string_view reason) {
    if (left_out.count > 0) {
      why += (why.empty() ? "; left out: " : ", ") + std::to_string(left_out.count) + " " +
             std::string(reason) + (left_out.first.empty() ? "" : " (the first: " + left_out.first + ")");
    }
  };
  tell(outside, "outside the space");
  tell(lacking, "without a parameter of the space");
  tell(too_long, "longer than max_length");
  tell(unmeasured, "without a finite metric");
  std::string what = std::to_string(usable.size()) + " of " + std::to_string(prior.size()) +
                     " earlier results are used" + why;
  if (!mapped.unknown().empty()) {
    what += "; parameters that this search doesn't have are ignored: " + some_names(mapped.unknown());
  }
  findings.notes.push_back({"searcher.prior", std::move(what), ""});
  prior = std::move(usable);
}

}  // namespace hpsearch::engine
