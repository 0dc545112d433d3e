#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/jobs/contract/job_contract.hpp"
#include "hpsearch/jobs/launch/argument_text.hpp"
#include "hpsearch/jobs/launch/placeholders.hpp"

namespace hpsearch::workers {

using jobs::argument_text;
using jobs::shell_word;

/// The hyperparameters of one trial, in the forms that programs read (docs/job-contract.md). Nested names are
/// joined by dots.
///
/// Owns: nothing; the values and styles outlive it.
class HyperparameterForms {
 public:
  HyperparameterForms(const engine::Value& hparams, const std::vector<jobs::NamedBoolStyle>& styles);

  struct Hyperparameter {
    std::string name;
    const engine::Value* value;
    engine::BoolStyle style;
  };
  [[nodiscard]] const std::vector<Hyperparameter>& all() const noexcept { return all_; }
  [[nodiscard]] const Hyperparameter* find(std::string_view name) const noexcept;

  /// The words for one hyperparameter. A flag is present or absent; without hyphens it is True or False.
  [[nodiscard]] static std::vector<std::string> arguments_of(const Hyperparameter& one,
                                                             jobs::ArgumentForm form);
  /// The same with replacements for its name and its text in a line for sh.
  [[nodiscard]] static std::vector<std::string> arguments_of(const Hyperparameter& one,
                                                             jobs::ArgumentForm form, const std::string& name,
                                                             const std::string& text);

  /// HPSEARCH_HP_<NAME>: every value as text, lists and maps as compact JSON.
  [[nodiscard]] std::map<std::string, std::string> variables() const;

 private:
  std::vector<Hyperparameter> all_;
};

}  // namespace hpsearch::workers
