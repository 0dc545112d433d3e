#include "hpsearch/jobs/imports/imports.hpp"

#include <algorithm>

#include "imports/draft.hpp"

namespace hpsearch::jobs {
namespace {

bool has(const Value& map, std::string_view key) noexcept {
  return map.as_map() != nullptr && map.as_map()->contains(key);
}

template <class Is>
bool all_members(const Value& map, Is is) noexcept {
  return map.as_map() != nullptr && !map.as_map()->empty() &&
         std::all_of(map.as_map()->begin(), map.as_map()->end(),
                     [&](const auto& member) { return is(member.second); });
}

bool is_nni_range(const Value& value) noexcept {
  return member_of(value, "_type").as_text() != nullptr && has(value, "_value");
}

bool is_optuna_range(const Value& value) noexcept {
  return (has(value, "low") && has(value, "high")) || member_of(value, "choices").as_list() != nullptr;
}

/// The space stands at the top, or under one name.
bool holds_optuna_space(const Value& tree) noexcept {
  return all_members(tree, is_optuna_range) || (tree.as_map() != nullptr && tree.as_map()->size() == 1 &&
                                                all_members(tree.as_map()->begin()->second, is_optuna_range));
}

bool is_wandb_parameter(const Value& value) noexcept {
  return has(value, "value") || has(value, "values") || has(value, "distribution") ||
         has(value, "parameters") || (has(value, "min") && has(value, "max"));
}

}  // namespace

std::string_view name_of(ForeignFile kind) noexcept {
  switch (kind) {
    case ForeignFile::wandb_sweep:
      return "a W&B sweep";
    case ForeignFile::katib_experiment:
      return "a Katib experiment";
    case ForeignFile::optimization_job:
      return "a Kubeflow OptimizationJob";
    case ForeignFile::nni_experiment:
      return "an NNI experiment";
    case ForeignFile::nni_space:
      return "an NNI search space";
    case ForeignFile::modelarts_auto_search:
      return "a ModelArts auto search";
    case ForeignFile::optuna_space:
      return "a search space in Optuna's words";
  }
  return "";
}

std::optional<ForeignFile> foreign_file(const Value& tree) noexcept {
  if (tree.as_map() == nullptr || has(tree, "searcher") || has(tree, "entrypoint")) {
    return std::nullopt;
  }
  const std::string api = text_member(tree, "apiVersion");
  if (text_member(tree, "kind") == "Experiment" && api.starts_with("kubeflow.org/")) {
    return ForeignFile::katib_experiment;
  }
  if (text_member(tree, "kind") == "OptimizationJob" && api.find("kubeflow.org/") != std::string::npos) {
    return ForeignFile::optimization_job;
  }
  if (is_modelarts_auto_search(tree)) {
    return ForeignFile::modelarts_auto_search;
  }
  if (all_members(member_of(tree, "parameters"), is_wandb_parameter)) {
    return ForeignFile::wandb_sweep;
  }
  const bool has_trial = has(tree, "trialCommand") || has(member_of(tree, "trial"), "command");
  const bool has_space =
      has(tree, "searchSpace") || has(tree, "searchSpaceFile") || has(tree, "searchSpacePath");
  if (has_trial && (has_space || has(tree, "tuner"))) {
    return ForeignFile::nni_experiment;
  }
  if (all_members(tree, is_nni_range)) {
    return ForeignFile::nni_space;
  }
  return holds_optuna_space(tree) ? std::optional(ForeignFile::optuna_space) : std::nullopt;
}

ImportedExperiment import_experiment(const Value& tree) {
  const std::optional<ForeignFile> kind = foreign_file(tree);
  if (!kind) {
    ImportedExperiment none;
    none.problems.push_back(
        {"",
         "is none of the files that can be imported: a W&B sweep (method, parameters), a Katib experiment "
         "(kind: Experiment), a Kubeflow OptimizationJob (kind: OptimizationJob), an NNI experiment "
         "(trialCommand) or search space (_type, _value), a ModelArts job with auto_search (reward_attrs, "
         "search_params), or a space in Optuna's words (type, low, high)",
         ""});
    return none;
  }
  switch (*kind) {
    case ForeignFile::wandb_sweep:
      return import_wandb_sweep(tree);
    case ForeignFile::katib_experiment:
      return import_katib_experiment(tree);
    case ForeignFile::optimization_job:
      return import_optimization_job(tree);
    case ForeignFile::nni_experiment:
      return import_nni_experiment(tree);
    case ForeignFile::nni_space:
      return import_nni_space(tree);
    case ForeignFile::modelarts_auto_search:
      return import_modelarts_auto_search(tree);
    case ForeignFile::optuna_space:
      break;
  }
  return import_optuna_space(tree);
}

}  // namespace hpsearch::jobs
