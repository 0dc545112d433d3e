#include "hpsearch/workers/core/hyperparameter_forms.hpp"

#include <algorithm>
#include <utility>

#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::workers {

using engine::BoolStyle;
using engine::Value;
using jobs::NamedBoolStyle;

namespace {

bool fits_pai(const HyperparameterForms::Hyperparameter& one) {
  return jobs::is_pai_name(one.name) && jobs::is_pai_value(*one.value);
}

/// The arguments that one hyperparameter becomes; a flag is there or not.
void append_arguments(const HyperparameterForms::Hyperparameter& one, bool with_equals,
                      std::vector<std::string>& to) {
  const bool* boolean = one.value->as_bool();
  if (boolean != nullptr && one.style == BoolStyle::flag) {
    if (*boolean) {
      to.push_back("--" + one.name);
    }
  } else if (with_equals) {
    to.push_back("--" + one.name + "=" + argument_text(*one.value, one.style));
  } else {
    to.push_back("--" + one.name);
    to.push_back(argument_text(*one.value, one.style));
  }
}

BoolStyle style_of(const std::vector<NamedBoolStyle>& styles, std::string_view name) {
  const auto found = std::find_if(styles.begin(), styles.end(),
                                  [&](const NamedBoolStyle& named) { return named.name == name; });
  return found == styles.end() ? BoolStyle::python : found->style;
}

void flatten(const std::string& prefix, const Value::Map& members, const std::vector<NamedBoolStyle>& styles,
             std::vector<HyperparameterForms::Hyperparameter>& to) {
  for (const auto& [key, value] : members) {
    std::string name = prefix.empty() ? key : prefix + "." + key;
    if (const Value::Map* inner = value.as_map()) {
      flatten(name, *inner, styles, to);
    } else {
      const BoolStyle style = style_of(styles, name);
      to.push_back({std::move(name), &value, style});
    }
  }
}

}  // namespace

HyperparameterForms::HyperparameterForms(const Value& hparams, const std::vector<NamedBoolStyle>& styles) {
  if (const Value::Map* members = hparams.as_map()) {
    flatten("", *members, styles, all_);
  }
}

const HyperparameterForms::Hyperparameter* HyperparameterForms::find(std::string_view name) const noexcept {
  const auto found =
      std::find_if(all_.begin(), all_.end(), [&](const auto& one) { return one.name == name; });
  return found == all_.end() ? nullptr : &*found;
}

std::vector<std::string> HyperparameterForms::arguments(bool with_equals) const {
  std::vector<std::string> arguments;
  for (const Hyperparameter& one : all_) {
    append_arguments(one, with_equals, arguments);
  }
  return arguments;
}

std::string HyperparameterForms::pai_user_args() const {
  std::string line;
  for (const Hyperparameter& one : all_) {
    if (fits_pai(one)) {
      std::vector<std::string> words;
      append_arguments(one, false, words);
      for (const std::string& word : words) {
        line.append(line.empty() ? "" : " ").append(shell_word(word));
      }
    }
  }
  return line;
}

std::string HyperparameterForms::pai_hps(bool as_strings) const {
  Value::Map map;
  for (const Hyperparameter& one : all_) {
    if (fits_pai(one)) {
      map[one.name] = as_strings ? Value(jobs::styled_text(*one.value, one.style)) : *one.value;
    }
  }
  return engine::python_json(Value(std::move(map)));
}

std::map<std::string, std::string> HyperparameterForms::variables() const {
  std::map<std::string, std::string> variables;
  for (const Hyperparameter& one : all_) {
    variables["HPSEARCH_HP_" + jobs::variable_part(one.name)] = jobs::styled_text(*one.value, one.style);
  }
  return variables;
}

std::map<std::string, std::string> HyperparameterForms::pai_variables() const {
  std::map<std::string, std::string> variables;
  for (const Hyperparameter& one : all_) {
    if (fits_pai(one)) {
      variables["PAI_HPS_" + jobs::variable_part(one.name)] = jobs::styled_text(*one.value, one.style);
    }
  }
  return variables;
}

}  // namespace hpsearch::workers
