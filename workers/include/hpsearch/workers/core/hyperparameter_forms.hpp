#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/jobs/argument_text.hpp"
#include "hpsearch/jobs/job_contract.hpp"

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

  /// Of one of them: {"--lr", "0.1"}, or {"--lr=0.1"} `with_equals`. A flag is there or not.
  [[nodiscard]] static std::vector<std::string> arguments_of(const Hyperparameter& one, bool with_equals);

  /// {"--lr", "0.1", "--bias", "True"}, or {"--lr=0.1", "--bias=True"} `with_equals`.
  [[nodiscard]] std::vector<std::string> arguments(bool with_equals) const;

  /// HPSEARCH_HP_<NAME>: every value as text, lists and maps as compact JSON.
  [[nodiscard]] std::map<std::string, std::string> variables() const;

 private:
  std::vector<Hyperparameter> all_;
};

}  // namespace hpsearch::workers
