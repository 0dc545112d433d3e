#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fields/sections.hpp"
#include "imports/draft.hpp"
#include "imports/katib_search.hpp"
#include "imports/katib_space.hpp"
#include "imports/trial_program.hpp"

namespace hpsearch::jobs {
namespace {

constexpr std::string_view parameter_begin = "${trialParameters.";

std::string item(std::string_view list, std::size_t at) {
  return std::string(list) + "[" + std::to_string(at) + "]";
}

class KatibExperiment {
 public:
  explicit KatibExperiment(const Value& tree) : spec_(member_of(tree, "spec")), tree_(tree) {}

  ImportedExperiment imported() && {
    if (const std::string name = text_member(member_of(tree_, "metadata"), "name"); !name.empty()) {
      draft_.set("name", name);
    }
    if (!member_of(spec_, "nasConfig").is_null()) {
      draft_.refuse("spec.nasConfig", "searches for an architecture", "a search space in spec.parameters");
    }
    const Value::List& parameters = list_member(spec_, "parameters");
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      names_.push_back(read_katib_parameter(parameters[i], item("spec.parameters", i), draft_));
    }
    if (std::find(names_.begin(), names_.end(), "") != names_.end()) {
      names_.clear();  // They can't be compared with references.
    }
    read_template();
    read_katib_search(spec_, words_, draft_);
    return std::move(draft_).finished();
  }

 private:
  void read_template() {
    const Value& trial = member_of(spec_, "trialTemplate");
    const Value& job = member_of(trial, "trialSpec");
    read_references(trial);
    if (job.is_null()) {
      const Value& map = member_of(trial, "configMap");
      draft_.set("entrypoint", Value::List{"python3", "train.py", "{args}"});
      draft_.decide("entrypoint", map.is_null()
                                      ? "the file has no trialSpec, so it has no program"
                                      : "the trial's job is in " + text_member(map, "templatePath") +
                                            " of the ConfigMap " + text_member(map, "configMapName") +
                                            "; import again with that job as spec.trialTemplate.trialSpec");
      return;
    }
    const std::string primary = text_member(trial, "primaryContainerName");
    std::string role;
    if (const Value::Map* labels = member_of(trial, "primaryPodLabels").as_map()) {
      for (const auto& [label, value] : *labels) {
        role = label.ends_with("role") || label.ends_with("replica-type") ? python_text(value) : role;
      }
    }
    const TrialJob found = text_member(job, "kind") == "TrainJob" ? train_job(member_of(job, "spec"))
                                                                  : trial_job(job, primary, role);
    if (found.groups.empty()) {
      draft_.set("entrypoint", Value::List{"python3", "train.py", "{args}"});
      draft_.decide("entrypoint",
                    "no pod template was found in the " + found.kind + "; write the command here");
      return;
    }
    if (found.container.is_null()) {
      draft_.refuse("spec.trialTemplate.primaryContainerName",
                    primary.empty() ? "is missing" : "is " + quoted(Value(primary)),
                    "a container of the trial's job: " + container_names(found));
      return;
    }
    const TrialValues values{[this](std::string_view text) { return with_placeholders(text); }, {}};
    words_ = read_trial_program(found, values, draft_);
    for (const auto& [name, reference] : references_) {
      if (!used_.contains(name) && !reference.starts_with("${")) {
        draft_.decide("entrypoint", "${trialParameters." + name +
                                        "} is not in the command or its variables: " + "pass {" +
                                        name_without_hyphens(reference) + "} yourself");
      }
    }
  }

  void read_references(const Value& trial) {
    const Value::List& parameters = list_member(trial, "trialParameters");
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const std::string reference = text_member(parameters[i], "reference");
      references_[text_member(parameters[i], "name")] = reference;
      const bool is_known = reference.starts_with("${trialSpec.") ||
                            std::find(names_.begin(), names_.end(), reference) != names_.end();
      if (!is_known && !names_.empty()) {
        draft_.refuse(item("spec.trialTemplate.trialParameters", i) + ".reference",
                      reference.empty() ? "is missing" : "is " + quoted(Value(reference)),
                      "a name of spec.parameters: " + comma_list(names_));
      }
    }
  }

  /// ${trialParameters.learningRate} → {lr}
  std::string with_placeholders(std::string_view text) {
    std::string out;
    while (true) {
      const std::size_t at = text.find(parameter_begin);
      const std::size_t end = at == std::string_view::npos ? at : text.find('}', at);
      out += with_literal_braces(text.substr(0, end == std::string_view::npos ? end : at));
      if (end == std::string_view::npos) {
        return out;
      }
      const std::size_t name = at + parameter_begin.size();
      out += placeholder_for(std::string(text.substr(name, end - name)));
      text.remove_prefix(end + 1);
    }
  }

  std::string placeholder_for(const std::string& name) {
    const auto known = references_.find(name);
    if (known == references_.end()) {
      std::vector<std::string> names;
      for (const auto& [one, reference] : references_) {
        names.push_back(one);
      }
      draft_.refuse("spec.trialTemplate.trialSpec", "uses ${trialParameters." + name + "}",
                    "a name of spec.trialTemplate.trialParameters: " + comma_list(names));
      return "";
    }
    used_.insert(name);
    return known->second.starts_with("${") ? metadata(known->second)
                                           : "{" + name_without_hyphens(known->second) + "}";
  }

  /// ${trialSpec.Name} and other facts about the trial.
  std::string metadata(const std::string& reference) {
    const Value& job = member_of(member_of(spec_, "trialTemplate"), "trialSpec");
    const std::string key = reference.substr(2, reference.find_last_of('}') - 2);
    if (key == "trialSpec.Name") {
      draft_.decide("entrypoint", "the name of a trial is its number here: {trial_id}");
      return "{trial_id}";
    }
    if (key == "trialSpec.Namespace") {
      return with_literal_braces(text_member(member_of(tree_, "metadata"), "namespace"));
    }
    if (key == "trialSpec.Kind" || key == "trialSpec.APIVersion") {
      return with_literal_braces(text_member(job, key == "trialSpec.Kind" ? "kind" : "apiVersion"));
    }
    const std::size_t open = key.find('[');
    for (const char* map : {"labels", "annotations"}) {
      if (open != std::string::npos && key.size() > open + 1) {
        const std::string name = key.substr(open + 1, key.size() - open - 2);
        if (const Value& found = member_of(member_of(member_of(job, "metadata"), map), name);
            !found.is_null()) {
          return with_literal_braces(python_text(found));
        }
      }
    }
    draft_.decide("entrypoint", reference + " has no counterpart here");
    return "";
  }

  const Value& spec_;
  const Value& tree_;
  Draft draft_;
  std::vector<std::string> names_;                 // Names of parameters, as the file spells them.
  std::map<std::string, std::string> references_;  // Name in the template → parameter.
  std::set<std::string> used_;                     // Names in the template that the program gets.
  std::vector<std::string> words_;
};

}  // namespace

ImportedExperiment import_katib_experiment(const Value& tree) {
  return KatibExperiment(tree).imported();
}

}  // namespace hpsearch::jobs
