#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hpsearch/jobs/fields/engine_types.hpp"

namespace hpsearch::jobs {

/// The purpose of a regular expression.
enum class PatternPurpose : std::uint8_t {
  metric,  ///< To find numbers in what a program prints.
  value,   ///< To limit the texts of a component's parameter.
};

/// A regular expression that a user wrote. The engine knows no regular expressions: who takes a submission
/// has the room `patterns` look at them (docs/architecture.md).
struct PatternUse {
  struct Text {
    std::string path;  ///< Where it stands.
    std::string text;
  };
  std::string path;  ///< Where it stands, as problems spell it: "metrics.val_acc".
  std::string pattern;
  PatternPurpose purpose = PatternPurpose::metric;
  std::string parameter{};    ///< Whose values, for `value`.
  std::vector<Text> texts{};  ///< Texts that must match it; for `value` only.
};

/// All of an experiment's tree: of its `metrics`, and of its component's metrics and parameters, with the
/// texts that the experiment gives for these. Pure; what is no experiment has none.
[[nodiscard]] std::vector<PatternUse> patterns_of(const Value& tree);

}  // namespace hpsearch::jobs
