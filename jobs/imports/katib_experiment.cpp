#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fields/sections.hpp"
#include "hpsearch/engine/space/numbers.hpp"
#include "imports/draft.hpp"

namespace hpsearch::jobs {
namespace {

constexpr std::string_view parameter_begin = "${trialParameters.";

/// "--lr" → "lr": older experiments name parameters like the options of their program.
std::string name_without_hyphens(std::string name) {
  name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
  return name;
}

class KatibExperiment {
 public:
  explicit KatibExperiment(const Value& tree) : spec_(member_of(tree, "spec")), tree_(tree) {}

  Result<ImportedExperiment> imported() && {
    if (const std::string name = text_member(member_of(tree_, "metadata"), "name"); !name.empty()) {
      draft_.set("name", name);
    }
    if (const Value::List* parameters = member_of(spec_, "parameters").as_list()) {
      for (const Value& parameter : *parameters) {
        read_parameter(parameter);
      }
    }
    if (!problem_.empty()) {
      return Error{engine::Errc::bad_request, problem_};
    }
    read_template();
    read_search();
    return std::move(draft_).finished();
  }

 private:
  void read_parameter(const Value& parameter) {
    const std::string name = name_without_hyphens(text_member(parameter, "name"));
    const Value& space = member_of(parameter, "feasibleSpace");
    std::optional<ForeignRange> range = range_of(text_member(parameter, "parameterType"), space);
    if (name.empty() || !range) {
      problem_ =
          "spec.parameters holds " + quoted(parameter) + ", which is no parameter with a feasibleSpace";
      return;
    }
    draft_.add({name}, *std::move(range));
  }

  static std::optional<ForeignRange> range_of(const std::string& type, const Value& space) {
    if (const Value::List* list = member_of(space, "list").as_list(); list != nullptr && !list->empty()) {
      return choices(type == "discrete" ? numbers_of(*list) : *list);
    }
    const std::optional<double> low = number_in(member_of(space, "min"));
    const std::optional<double> high = number_in(member_of(space, "max"));
    if (!low || !high || (type != "int" && type != "double")) {
      return std::nullopt;
    }
    const std::string distribution = text_member(space, "distribution");
    const std::optional<double> step = number_in(member_of(space, "step"));
    if (distribution == "logUniform") {
      return step ? stepped_range(*low, *high, *step, type == "int", Scale::log)
                  : logarithmic_range(*low, *high, type == "int");
    }
    ForeignRange range = step            ? stepped_range(*low, *high, *step, type == "int")
                         : type == "int" ? whole_range(*low, *high)
                                         : real_range(*low, *high);
    if (distribution == "normal" || distribution == "logNormal") {
      range.remark = "was a normal distribution between these ends: searched evenly";
    }
    return range;
  }

  /// Katib writes all values as text.
  static Value::List numbers_of(const Value::List& list) {
    Value::List values;
    for (const Value& value : list) {
      const std::optional<double> number = number_in(value);
      const auto whole = number ? engine::whole_number(Value(*number)) : std::nullopt;
      values.push_back(whole ? Value(*whole) : number ? Value(*number) : value);
    }
    return values;
  }

  void read_template() {
    const Value& trial = member_of(spec_, "trialTemplate");
    if (const Value::List* parameters = member_of(trial, "trialParameters").as_list()) {
      for (const Value& parameter : *parameters) {
        references_[text_member(parameter, "name")] =
            name_without_hyphens(text_member(parameter, "reference"));
      }
    }
    const std::string primary = text_member(trial, "primaryContainerName");
    const Value* container = container_in(member_of(trial, "trialSpec"), primary);
    if (container == nullptr) {
      draft_.set("entrypoint", Value::List{"python3", "train.py", "{args}"});
      draft_.decide("entrypoint", "the file has no container of a trial that could be read");
      return;
    }
    for (const char* key : {"command", "args"}) {
      if (const Value::List* words = member_of(*container, key).as_list()) {
        for (const Value& word : *words) {
          words_.push_back(with_parameters(python_text(word)));
        }
      }
    }
    Value::List words(words_.begin(), words_.end());
    if (words.empty()) {
      words = {"python3", "train.py", "{args}"};
      draft_.decide("entrypoint", "the container runs what its image says; write the command here");
    } else if (words_[0].find('/') != std::string::npos || words_.size() > 1) {
      draft_.decide("entrypoint",
                    "paths in it are those of the image; programs of yours lie beside this file");
    }
    draft_.set("entrypoint", std::move(words));
    read_container(*container);
  }

  void read_container(const Value& container) {
    if (const std::string image = text_member(container, "image"); !image.empty()) {
      draft_.set("environment.image", image);
      draft_.decide("environment.image", "without this line the program runs on the worker itself");
    }
    for (const auto& variable : member_of(container, "env").as_list() != nullptr
                                    ? *member_of(container, "env").as_list()
                                    : Value::List()) {
      const std::string name = text_member(variable, "name");
      const std::string* value = member_of(variable, "value").as_text();
      if (name.empty() || value == nullptr || is_reserved_variable(name) || !is_variable_name(name)) {
        draft_.decide("environment",
                      "the variable " + (name.empty() ? quoted(variable) : name) + " is left out");
        continue;
      }
      variables_[name] = *value;
    }
    if (!variables_.empty()) {
      draft_.set("environment.environment_variables", variables_);
    }
    const Value& limits = member_of(member_of(container, "resources"), "limits");
    const auto gpus = number_in(member_of(limits, "nvidia.com/gpu"));
    if (const auto slots = gpus ? engine::whole_number(Value(*gpus)) : std::nullopt; slots && *slots > 1) {
      draft_.set("resources.slots_per_trial", *slots);
    }
  }

  /// The container with that name, or the first one, in a job of any kind.
  static const Value* container_in(const Value& node, const std::string& primary) {
    if (const Value::List* containers = member_of(node, "containers").as_list();
        containers != nullptr && !containers->empty()) {
      for (const Value& container : *containers) {
        if (text_member(container, "name") == primary) {
          return &container;
        }
      }
      return &containers->front();
    }
    if (node.as_map() == nullptr) {
      return nullptr;
    }
    for (const auto& [key, member] : *node.as_map()) {
      if (const Value* found = container_in(member, primary)) {
        return found;
      }
    }
    return nullptr;
  }

  /// ${trialParameters.learningRate} → {lr}
  std::string with_parameters(std::string_view text) {
    std::string out;
    while (true) {
      const std::size_t at = text.find(parameter_begin);
      const std::size_t end = at == std::string_view::npos ? at : text.find('}', at);
      out += with_literal_braces(text.substr(0, end == std::string_view::npos ? end : at));
      if (end == std::string_view::npos) {
        return out;
      }
      const std::size_t name = at + parameter_begin.size();
      const std::string given(text.substr(name, end - name));
      const auto known = references_.find(given);
      const std::string meant = known == references_.end() ? given : known->second;
      if (draft_.hyperparameters().contains(meant)) {
        out += "{" + meant + "}";
      } else {
        draft_.decide("entrypoint", "${trialParameters." + given + "} is no parameter of the search");
      }
      text.remove_prefix(end + 1);
    }
  }

  void read_search() {
    const Value& objective = member_of(spec_, "objective");
    const Value& algorithm = member_of(spec_, "algorithm");
    Draft::Search search;
    search.method = text_member(algorithm, "algorithmName");
    search.stops_early =
        search.method == "hyperband" || member_of(spec_, "earlyStopping").as_map() != nullptr;
    search.metric = text_member(objective, "objectiveMetricName");
    if (search.metric.empty()) {
      search.metric = "loss";
      draft_.decide("searcher.metric", "the file names no metric");
    }
    search.smaller_is_better = text_member(objective, "type") != "maximize";
    if (const auto most = engine::whole_number(member_of(spec_, "maxTrialCount")); most && *most > 0) {
      search.max_trials = *most;
    }
    search.max_length = epochs_in(words_);
    search.counts_length_by = "the command";
    read_settings(member_of(algorithm, "algorithmSettings"), search);
    draft_.search(search);
    if (const auto at_once = engine::whole_number(member_of(spec_, "parallelTrialCount"));
        at_once && *at_once > 0) {
      draft_.set("searcher.max_concurrent_trials", *at_once);
    }
    if (const auto failed = engine::whole_number(member_of(spec_, "maxFailedTrialCount"));
        failed && *failed > 0) {
      draft_.set("budget.max_failed_trials", *failed);
    }
    if (const auto goal = number_in(member_of(objective, "goal"))) {
      draft_.set("budget.target", *goal);
    }
    read_metrics(search.metric);
  }

  /// Reads the longest run of Hyperband.
  static void read_settings(const Value& settings, Draft::Search& search) {
    const Value::List* list = settings.as_list();
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      const std::string name = text_member((*list)[i], "name");
      const auto value = number_in(member_of((*list)[i], "value"));
      const auto length = value ? engine::whole_number(Value(*value)) : std::nullopt;
      if (name == "r_l" && length && *length >= 1) {
        search.max_length = Value::Map{{"epochs", *length}};
        search.counts_length_by = "r_l of hyperband";
      }
    }
  }

  /// Katib's default collector reads name=value from the output. Other collectors aren't translated.
  void read_metrics(const std::string& metric) {
    draft_.set("metrics", Value::Map{{metric, metric + "={number}"}});
    const std::string kind =
        text_member(member_of(member_of(spec_, "metricsCollectorSpec"), "collector"), "kind");
    draft_.decide("metrics", kind.empty() || kind == "StdOut"
                                 ? "what the program prints; a step is one such line"
                                 : "the file collects by " + kind + "; here the program's output is read");
  }

  const Value& spec_;
  const Value& tree_;
  Draft draft_;
  std::map<std::string, std::string> references_;  // Name in the template → parameter.
  std::vector<std::string> words_;
  Value::Map variables_;
  std::string problem_;
};

}  // namespace

Result<ImportedExperiment> import_katib_experiment(const Value& tree) {
  return KatibExperiment(tree).imported();
}

}  // namespace hpsearch::jobs
