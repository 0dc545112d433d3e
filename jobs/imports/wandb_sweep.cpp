#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fields/sections.hpp"
#include "hpsearch/engine/space/numbers.hpp"
#include "hpsearch/jobs/launch/entrypoint_start.hpp"
#include "imports/draft.hpp"

namespace hpsearch::jobs {
namespace {

constexpr double e = 2.718281828459045;
constexpr std::string_view interpreter = "python3";

/// The distribution of a parameter without `distribution`.
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

  ImportedExperiment imported() && {
    if (const std::string name = text_member(tree_, "name"); !name.empty()) {
      draft_.set("name", name);
    }
    if (const std::string text = text_member(tree_, "description"); !text.empty()) {
      draft_.set("description", text);
    }
    read_group(member_of(tree_, "parameters"), {});
    read_command();
    read_search();
    return std::move(draft_).finished();
  }

 private:
  void read_group(const Value& group, const std::vector<std::string>& above) {
    if (group.as_map() == nullptr) {
      draft_.refuse("parameters", "is " + quoted(group), "a map of parameters");
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
      draft_.refuse(std::move(path), "is " + quoted(parameter), "a value, values, or a range");
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
      const bool of_exponent = kind.ends_with("log_normal");
      if (kind.starts_with("q_")) {
        const double step = number_in(member_of(parameter, "q")).value_or(1);
        return normal_multiples(mean, deviation, of_exponent, step, is_whole(step));
      }
      return normal_range(mean, deviation, of_exponent);
    }
    if (kind == "beta" || kind == "q_beta") {
      const double step = number_in(member_of(parameter, "q")).value_or(1);
      ForeignRange range = kind == "beta" ? real_range(0, 1) : multiples_in(0, 1, step, is_whole(step));
      range.remark = "was a beta distribution: searched evenly";
      return range;
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
    return std::nullopt;
  }

  /// Translates the command. The program reads wandb.config and calls wandb.log(); if Python starts it,
  /// hpsearch's stand-in for wandb does both.
  void read_command() {
    program_ = text_member(tree_, "program");
    const Value::List* command = member_of(tree_, "command").as_list();
    if (command == nullptr) {
      words_ = {std::string(interpreter), "-m", std::string(stand_in_for_wandb), program(), "{args_eq}"};
      stands_in_ = true;
    } else {
      for (const Value& item : *command) {
        add_word(python_text(item));
      }
    }
    draft_.set("entrypoint", std::move(words_));
    if (!variables_.empty()) {
      draft_.set("environment.environment_variables", std::move(variables_));
    }
    if (command == nullptr && program_.empty()) {
      draft_.decide("entrypoint", "the file names no program");
    }
    draft_.decide(
        "entrypoint",
        stands_in_ ? "hpsearch.wandb stands in for wandb in the program; it needs the Python package hpsearch"
                   : "the program must find hpsearch.wandb as wandb: put the directory that `python3 -m "
                     "hpsearch.wandb --path` prints first on PYTHONPATH");
  }

  [[nodiscard]] std::string program() const { return program_.empty() ? "train.py" : program_; }

  void add_word(const std::string& word) {
    switch (behind_) {
      case Behind::env:
        if (add_variable(word)) {
          return;
        }
        behind_ = Behind::nothing;
        break;
      case Behind::python:
        if (word.size() > 1 && word.front() == '-' && word != "-m" && word != "-c") {
          words_.emplace_back(word);  // An option of Python.
          behind_ = word == "-W" || word == "-X" ? Behind::option : Behind::python;
          return;
        }
        if (word != "-c") {
          words_.emplace_back("-m");
          words_.emplace_back(std::string(stand_in_for_wandb));
          stands_in_ = true;
        }
        behind_ = Behind::nothing;
        break;
      case Behind::option:
        words_.emplace_back(with_literal_braces(word));
        behind_ = Behind::python;
        return;
      case Behind::nothing:
        break;
    }
    if (word == "${env}" || (words_.empty() && (word == "env" || word == "/usr/bin/env"))) {
      behind_ = Behind::env;  // A sweep's agent starts env for its environment; an attempt has that already.
    } else if (word == "${interpreter}" || is_python(word)) {
      words_.emplace_back(word == "${interpreter}" ? std::string(interpreter) : word);
      behind_ = stands_in_ ? Behind::nothing : Behind::python;
    } else if (word == "${program}") {
      words_.emplace_back(program());
    } else if (word == "${args}") {
      words_.emplace_back("{args_eq}");
    } else if (word == "${args_no_hyphens}") {
      words_.emplace_back("{args_no_hyphens}");
    } else if (word == "${args_json}") {
      words_.emplace_back("{args_json}");
    } else if (word == "${args_no_boolean_flags}") {
      words_.emplace_back("{args_eq}");
      draft_.make_booleans_flags();
    } else {
      words_.emplace_back(with_literal_braces(word));
      if (word.find("${") != std::string::npos) {
        draft_.decide("entrypoint", word + " is not replaced here");
      }
    }
  }

  /// Adds the variable of a word NAME=VALUE before the program of `env`.
  bool add_variable(const std::string& word) {
    const std::size_t equals = word.find('=');
    const bool is_one = equals != std::string::npos && equals > 0 && word.front() != '-' &&
                        word.find_first_of("/$ ") > equals;
    if (is_one) {
      variables_[word.substr(0, equals)] = word.substr(equals + 1);
    } else if (word.size() > 1 && word.front() == '-') {
      draft_.decide("entrypoint", "env " + word + " has no counterpart here");
      return true;
    }
    return is_one;
  }

  /// Whether the word starts Python: python, python3.11, /opt/venv/bin/python.
  static bool is_python(std::string_view word) {
    word.remove_prefix(word.rfind('/') + 1);  // npos + 1 is 0.
    return word.starts_with("python") && word.find_first_not_of("0123456789.", 6) == std::string_view::npos;
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
      read_early_terminate(early, search.max_length);
    }
    if (const auto target = number_in(member_of(metric, "target"))) {
      draft_.set("budget.target", *target);
    }
  }

  /// W&B stops a run at once if it is not among the best 1/eta of the runs that reached the same iteration:
  /// max_iter / eta, max_iter / eta², … (s of them), or min_iter, min_iter · eta, ….
  void read_early_terminate(const Value& early, const Value& max_length) {
    constexpr double usual_eta = 3;
    const double given = number_in(member_of(early, "eta")).value_or(usual_eta);
    const double eta = given > 1 ? given : usual_eta;
    draft_.set("searcher.divisor",
               given > 1 && !member_of(early, "eta").is_null() ? member_of(early, "eta") : Value(3));
    draft_.set("searcher.stop_once", true);
    if (const std::string type = lower(text_member(early, "type")); !type.empty() && type != "hyperband") {
      draft_.decide("searcher.name", "early_terminate is of the type " + type + ", which is not known here");
    }
    if (member_of(early, "strict") == Value(true)) {
      draft_.decide("searcher.stop_once", "early_terminate.strict has no counterpart here");
    }
    const auto epochs = engine::whole_number(member_of(epochs_, "epochs"));
    const auto longest = engine::whole_number(member_of(max_length, "epochs"));
    if (epochs && longest && *epochs != *longest) {
      draft_.decide("searcher.max_length", epochs_by_ + " is " + std::to_string(*epochs) +
                                               ": W&B lets a run train on after max_iter");
    }
    const auto brackets = engine::whole_number(member_of(early, "s"));
    const auto first = engine::whole_number(member_of(early, "min_iter"));
    if (brackets && *brackets > 0) {
      set_rungs(*brackets + 1, longest, eta);
    } else if (first && *first > 0 && member_of(early, "max_iter").is_null()) {
      begin_at(*first, longest, eta);
    }
  }

  /// Sets the rungs of the searcher async_halving: the longest length divided by powers of eta.
  void set_rungs(std::int64_t rungs, std::optional<std::int64_t> longest, double eta) {
    const double most =
        longest ? 1 + std::floor(std::log(static_cast<double>(*longest)) / std::log(eta) + 1e-9) : 100;
    draft_.set("searcher.name", "async_halving");
    draft_.set("searcher.num_rungs", static_cast<std::int64_t>(std::min(static_cast<double>(rungs), most)));
  }

  void begin_at(std::int64_t first, std::optional<std::int64_t> longest, double eta) {
    constexpr double usual_steps = 2;  // For a file that doesn't give the length of a run.
    const auto from = static_cast<double>(first);
    if (!longest) {
      longest = std::llround(from * std::pow(eta, usual_steps));
      draft_.set("searcher.max_length", Value::Map{{"epochs", *longest}});
    }
    const double steps =
        std::max(0.0, std::floor(std::log(static_cast<double>(*longest) / from) / std::log(eta) + 1e-9));
    set_rungs(static_cast<std::int64_t>(steps) + 1, longest, eta);
    const std::int64_t begins = std::llround(static_cast<double>(*longest) / std::pow(eta, steps));
    if (begins != first) {
      draft_.decide("searcher.num_rungs", "early_terminate.min_iter is " + std::to_string(first) +
                                              "; with this max_length the first rung is at " +
                                              std::to_string(begins));
    }
  }

  const Value& tree_;
  Draft draft_;
  std::string program_;
  Value::List words_;
  Value::Map variables_;
  enum class Behind : std::uint8_t { nothing, env, python, option } behind_ = Behind::nothing;
  bool stands_in_ = false;  ///< hpsearch.wandb starts the program.
  Value epochs_;
  std::string epochs_by_;
};

}  // namespace

ImportedExperiment import_wandb_sweep(const Value& tree) {
  return Sweep(tree).imported();
}

}  // namespace hpsearch::jobs
