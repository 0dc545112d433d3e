#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/space/numbers.hpp"
#include "imports/draft.hpp"
#include "sections.hpp"

namespace hpsearch::jobs {
namespace {

constexpr double e = 2.718281828459045;
constexpr std::string_view interpreter = "python3";

/// What a parameter without `distribution` is drawn from.
std::string usual_distribution(const Value& parameter) {
  if (!member_of(parameter, "value").is_null() || parameter.as_map()->contains("value")) {
    return "constant";
  }
  if (parameter.as_map()->contains("values")) {
    return "categorical";
  }
  const bool whole = member_of(parameter, "min").as_integer() != nullptr &&
                     member_of(parameter, "max").as_integer() != nullptr;
  return whole ? "int_uniform" : "uniform";
}

std::string lower(std::string text) {
  for (char& c : text) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text;
}

class Sweep {
 public:
  explicit Sweep(const Value& tree) : tree_(tree) {}

  Result<ImportedExperiment> imported() && {
    if (const std::string name = text_member(tree_, "name"); !name.empty()) {
      draft_.set("name", name);
    }
    if (const std::string text = text_member(tree_, "description"); !text.empty()) {
      draft_.set("description", text);
    }
    read_group(member_of(tree_, "parameters"), {});
    if (!problem_.empty()) {
      return Error{engine::Errc::bad_request, problem_};
    }
    read_command();
    read_search();
    return std::move(draft_).finished();
  }

 private:
  void read_group(const Value& group, const std::vector<std::string>& above) {
    if (group.as_map() == nullptr) {
      problem_ = "parameters is not a map";
      return;
    }
    for (const auto& [name, parameter] : *group.as_map()) {
      std::vector<std::string> keys = above;
      keys.push_back(name);
      if (parameter.as_map() == nullptr) {
        draft_.add(keys, constant(parameter));
      } else if (parameter.as_map()->contains("parameters")) {
        read_group(member_of(parameter, "parameters"), keys);
      } else {
        read_parameter(parameter, keys);
      }
    }
  }

  void read_parameter(const Value& parameter, const std::vector<std::string>& keys) {
    std::optional<ForeignRange> range = range_of(parameter);
    if (!range) {
      std::string path = "parameters";
      for (const std::string& key : keys) {
        path += "." + key;
      }
      problem_ = path + " is " + quoted(parameter) + ", which is no value, no values and no range";
      return;
    }
    if (keys.size() == 1 && keys[0].find("epoch") != std::string::npos) {
      const Value fixed = range->value;
      if (const auto whole = engine::whole_number(fixed); whole && *whole > 0) {
        epochs_ = Value::Map{{"epochs", *whole}};
        epochs_by_ = "the parameter " + keys[0];
      }
    }
    draft_.add(keys, *std::move(range));
  }

  static std::optional<ForeignRange> range_of(const Value& parameter) {
    const std::string given = text_member(parameter, "distribution");
    const std::string kind = given.empty() ? usual_distribution(parameter) : given;
    if (kind == "constant") {
      return constant(member_of(parameter, "value"));
    }
    if (kind == "categorical" || kind == "categorical_w_probabilities") {
      const Value::List* values = member_of(parameter, "values").as_list();
      if (values == nullptr || values->empty()) {
        return std::nullopt;
      }
      ForeignRange range = choices(*values);
      if (parameter.as_map()->contains("probabilities")) {
        range.remark = "had probabilities: all values are equally likely here";
      }
      return range;
    }
    if (kind.ends_with("normal")) {
      const double mean = number_in(member_of(parameter, "mu")).value_or(0);
      const double deviation = number_in(member_of(parameter, "sigma")).value_or(1);
      return normal_range(mean, deviation, kind.ends_with("log_normal"));
    }
    const std::optional<double> low = number_in(member_of(parameter, "min"));
    const std::optional<double> high = number_in(member_of(parameter, "max"));
    if (!low || !high) {
      return std::nullopt;
    }
    return between(kind, *low, *high, number_in(member_of(parameter, "q")).value_or(1));
  }

  static bool is_whole(double step) { return step == std::floor(step); }

  static std::optional<ForeignRange> between(const std::string& kind, double low, double high, double step) {
    if (kind == "int_uniform") {
      return whole_range(low, high);
    }
    if (kind == "uniform") {
      return real_range(low, high);
    }
    if (kind == "q_uniform") {
      return multiples_in(low, high, step, is_whole(step));
    }
    if (kind == "log_uniform") {
      return exponent_range(e, low, high);
    }
    if (kind == "q_log_uniform") {
      return multiples_in(std::exp(low), std::exp(high), step, is_whole(step), Scale::log);
    }
    if (kind == "inv_log_uniform") {
      return exponent_range(e, -high, -low);
    }
    if (kind == "log_uniform_values" || kind == "inv_log_uniform_values") {
      return logarithmic_range(low, high);
    }
    if (kind == "q_log_uniform_values") {
      return multiples_in(low, high, step, is_whole(step), Scale::log);
    }
    if (kind == "beta" || kind == "q_beta") {
      ForeignRange range = real_range(low, high);
      range.remark = "was a beta distribution: searched evenly";
      return range;
    }
    return std::nullopt;
  }

  /// A program of a sweep reads wandb.config and calls wandb.log().
  void read_command() {
    const std::string program = text_member(tree_, "program");
    const Value::List* command = member_of(tree_, "command").as_list();
    Value::List words;
    if (command == nullptr) {
      words = {std::string(interpreter), "-m", "hpsearch.wandb", program.empty() ? "train.py" : program,
               "{args_eq}"};
    } else {
      for (const Value& item : *command) {
        add_word(python_text(item), program, words);
      }
    }
    draft_.set("entrypoint", std::move(words));
    if (command == nullptr && program.empty()) {
      draft_.decide("entrypoint", "the file names no program");
    }
    draft_.decide("entrypoint",
                  "hpsearch.wandb stands in for wandb in the program; it needs the Python package hpsearch");
  }

  void add_word(const std::string& word, const std::string& program, Value::List& words) {
    if (word == "${env}") {
      return;  // What a sweep's agent starts `/usr/bin/env` for, an attempt has.
    }
    if (word == "${interpreter}" || word == "python" || word == "python3") {
      words.emplace_back(word == "python" ? word : std::string(interpreter));
    } else if (word == "${program}") {
      const bool runs_python = !words.empty() && words.back().as_text()->starts_with("python");
      if (runs_python) {
        words.emplace_back("-m");
        words.emplace_back("hpsearch.wandb");
      }
      words.emplace_back(program.empty() ? "train.py" : program);
    } else if (word == "${args}") {
      words.emplace_back("{args_eq}");
    } else if (word == "${args_no_hyphens}") {
      words.emplace_back("{args_no_hyphens}");
    } else if (word == "${args_json}") {
      words.emplace_back("{args_json}");
    } else if (word == "${args_no_boolean_flags}") {
      words.emplace_back("{args_eq}");
      draft_.decide("entrypoint", "a boolean that is a flag (--name or nothing) needs bool_style: flag");
    } else {
      words.emplace_back(with_literal_braces(word));
      if (word.find("${") != std::string::npos) {
        draft_.decide("entrypoint", word + " is not replaced here");
      }
    }
  }

  void read_search() {
    const Value& metric = member_of(tree_, "metric");
    Draft::Search search;
    search.method = lower(text_member(tree_, "method"));
    search.metric = text_member(metric, "name");
    search.smaller_is_better = lower(text_member(metric, "goal")) != "maximize";
    if (search.metric.empty()) {
      search.metric = "loss";
      draft_.decide("searcher.metric", "the file names no metric");
    }
    if (const auto cap = engine::whole_number(member_of(tree_, "run_cap")); cap && *cap > 0) {
      search.max_trials = *cap;
    }
    const Value& early = member_of(tree_, "early_terminate");
    search.stops_early = early.as_map() != nullptr;
    search.max_length = epochs_;
    search.counts_length_by = epochs_by_;
    if (const auto most = engine::whole_number(member_of(early, "max_iter")); most && *most > 0) {
      search.max_length = Value::Map{{"epochs", *most}};
      search.counts_length_by = "early_terminate.max_iter";
    }
    draft_.search(search);
    if (search.stops_early) {
      if (const auto eta = number_in(member_of(early, "eta")); eta && *eta > 1) {
        draft_.set("searcher.divisor", member_of(early, "eta"));
      }
    }
    if (const auto target = number_in(member_of(metric, "target"))) {
      draft_.set("budget.target", *target);
    }
  }

  const Value& tree_;
  Draft draft_;
  Value epochs_;
  std::string epochs_by_;
  std::string problem_;
};

}  // namespace

Result<ImportedExperiment> import_wandb_sweep(const Value& tree) {
  return Sweep(tree).imported();
}

}  // namespace hpsearch::jobs
