#include "hpsearch/workers/core/adapters/pai/pai_forms.hpp"

#include <utility>

#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::workers {

using engine::Value;

namespace {

bool fits_pai(const HyperparameterForms::Hyperparameter& one) {
  return jobs::is_pai_name(one.name) && jobs::is_pai_value(*one.value);
}

}  // namespace

std::string pai_user_args(const HyperparameterForms& forms) {
  std::string line;
  for (const HyperparameterForms::Hyperparameter& one : forms.all()) {
    if (fits_pai(one)) {
      for (const std::string& word : HyperparameterForms::arguments_of(one, jobs::ArgumentForm::pair)) {
        line.append(line.empty() ? "" : " ").append(shell_word(word));
      }
    }
  }
  return line;
}

std::string pai_hps(const HyperparameterForms& forms, bool as_strings) {
  Value::Map map;
  for (const HyperparameterForms::Hyperparameter& one : forms.all()) {
    if (fits_pai(one)) {
      map[one.name] = as_strings ? Value(jobs::styled_text(*one.value, one.style)) : *one.value;
    }
  }
  return engine::python_json(Value(std::move(map)));
}

std::map<std::string, std::string> pai_variables(const HyperparameterForms& forms) {
  std::map<std::string, std::string> variables;
  for (const HyperparameterForms::Hyperparameter& one : forms.all()) {
    if (fits_pai(one)) {
      variables["PAI_HPS_" + jobs::variable_part(one.name)] = jobs::styled_text(*one.value, one.style);
    }
  }
  return variables;
}

}  // namespace hpsearch::workers
