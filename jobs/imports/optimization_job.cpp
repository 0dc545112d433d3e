#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fields/sections.hpp"
#include "hpsearch/engine/space/numbers.hpp"
#include "imports/draft.hpp"
#include "imports/trial_program.hpp"

namespace hpsearch::jobs {
namespace {

constexpr std::string_view variable_begin = "KUBEFLOW_TRAINER_OPT_";

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
  return text;
}

/// An OptimizationJob of trainer.kubeflow.org/v1alpha1. Drafts of this API had other fields; they are
/// refused.
class OptimizationJob {
 public:
  explicit OptimizationJob(const Value& tree) : spec_(member_of(tree, "spec")), tree_(tree) {}

  ImportedExperiment imported() && {
    if (const std::string name = text_member(member_of(tree_, "metadata"), "name"); !name.empty()) {
      draft_.set("name", name);
    }
    refuse_other_fields();
    const Value::List& parameters = list_member(spec_, "parameters");
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      read_parameter(parameters[i], "spec.parameters[" + std::to_string(i) + "]");
    }
    read_program();
    read_search();
    return std::move(draft_).finished();
  }

 private:
  void refuse_other_fields() {
    constexpr std::array<std::string_view, 6> known{"objectives", "searchAlgorithm", "parameters",
                                                    "numTrials",  "parallelTrials",  "trainJobTemplate"};
    if (const Value::Map* fields = spec_.as_map()) {
      for (const auto& [key, value] : *fields) {
        if (std::find(known.begin(), known.end(), key) == known.end()) {
          draft_.refuse(path_below("spec", key), "is no field of trainer.kubeflow.org/v1alpha1",
                        any_of(known));
        }
      }
    }
  }

  void read_parameter(const Value& parameter, const std::string& at) {
    const std::string name = text_member(parameter, "name");
    const Value& space = member_of(parameter, "searchSpace");
    if (name.empty()) {
      draft_.refuse(at + ".name", "is missing");
      return;
    }
    std::optional<ForeignRange> range;
    if (const Value::List& values = list_member(member_of(space, "categorical"), "choices");
        !values.empty()) {
      range = choices(values);
    }
    for (const char* kind : {"uniform", "logUniform"}) {
      const Value& ends = member_of(space, kind);
      const auto low = number_in(member_of(ends, "min"));
      const auto high = number_in(member_of(ends, "max"));
      if (low && high && *low <= *high) {
        const bool whole = text_member(ends, "type") == "Int";
        range = std::string_view(kind) == "logUniform" ? logarithmic_range(*low, *high, whole)
                : whole                                ? whole_range(*low, *high)
                                                       : real_range(*low, *high);
      }
    }
    if (!range) {
      draft_.refuse(at + ".searchSpace", space.is_null() ? "is missing" : "is " + quoted(space),
                    "uniform or logUniform with min and max, or categorical with choices");
      return;
    }
    draft_.add({name}, *std::move(range));
    values_.variables[std::string(variable_begin) + name] = "{" + name + "}";
    values_.variables[std::string(variable_begin) + upper(name)] = "{" + name + "}";
  }

  void read_program() {
    values_.text = [](std::string_view text) { return with_literal_braces(text); };
    const TrialJob job = train_job(member_of(member_of(spec_, "trainJobTemplate"), "spec"));
    words_ = read_trial_program(job, values_, draft_);
  }

  void read_search() {
    Draft::Search search;
    const Value::List& objectives = list_member(spec_, "objectives");
    const Value objective = objectives.empty() ? Value() : objectives.front();
    search.metric = text_member(objective, "metric");
    if (search.metric.empty()) {
      draft_.refuse("spec.objectives", "names no metric", "one objective with metric and direction");
    }
    const std::string direction = text_member(objective, "direction");
    if (!direction.empty() && direction != "Minimize" && direction != "Maximize") {
      draft_.refuse("spec.objectives[0].direction", "is " + quoted(Value(direction)), "Minimize or Maximize");
    }
    search.smaller_is_better = direction != "Maximize";
    const Value& algorithm = member_of(spec_, "searchAlgorithm");
    search.method = member_of(algorithm, "grid").is_null() ? "random" : "grid";
    search.max_trials = number_of("numTrials");
    search.max_length = epochs_in(words_);
    search.counts_length_by = "the command";
    draft_.search(search);
    draft_.set("searcher.max_concurrent_trials", number_of("parallelTrials"));
    if (const auto seed = engine::whole_number(member_of(member_of(algorithm, "random"), "seed"))) {
      draft_.set("reproducibility.experiment_seed", *seed);
    }
    draft_.decide("searcher.metric", "the program reports it to Kubeflow; call hpsearch.report(step, " +
                                         search.metric + "=…), or print it and set metrics");
  }

  /// A number of trials; 1 if the file has none, as in Kubeflow.
  std::int64_t number_of(std::string_view key) {
    const Value& given = member_of(spec_, key);
    const auto number = given.is_null() ? std::optional<std::int64_t>(1) : engine::whole_number(given);
    if (!number || *number < 1) {
      draft_.refuse(path_below("spec", key), "is " + quoted(given), "an integer from 1");
    }
    return number.value_or(1);
  }

  const Value& spec_;
  const Value& tree_;
  Draft draft_;
  TrialValues values_;
  std::vector<std::string> words_;
};

}  // namespace

ImportedExperiment import_optimization_job(const Value& tree) {
  return OptimizationJob(tree).imported();
}

}  // namespace hpsearch::jobs
