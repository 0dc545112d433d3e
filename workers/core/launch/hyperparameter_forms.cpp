#include "hpsearch/workers/core/launch/hyperparameter_forms.hpp"

#include <algorithm>
#include <utility>

namespace hpsearch::workers {

using engine::BoolStyle;
using engine::Value;
using jobs::NamedBoolStyle;

namespace {

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

std::vector<std::string> HyperparameterForms::arguments_of(const Hyperparameter& one, jobs::ArgumentForm form,
                                                           const std::string& name, const std::string& text) {
  const bool* boolean = one.value->as_bool();
  if (boolean != nullptr && one.style == BoolStyle::flag && form != jobs::ArgumentForm::no_hyphens) {
    return *boolean ? std::vector{"--" + name} : std::vector<std::string>{};
  }
  return jobs::argument_words(form, name, text);
}

std::vector<std::string> HyperparameterForms::arguments_of(const Hyperparameter& one,
                                                           jobs::ArgumentForm form) {
  return arguments_of(one, form, one.name, argument_text(*one.value, one.style));
}

std::map<std::string, std::string> HyperparameterForms::variables() const {
  std::map<std::string, std::string> variables;
  for (const Hyperparameter& one : all_) {
    variables["HPSEARCH_HP_" + jobs::variable_part(one.name)] = jobs::styled_text(*one.value, one.style);
  }
  return variables;
}

}  // namespace hpsearch::workers
