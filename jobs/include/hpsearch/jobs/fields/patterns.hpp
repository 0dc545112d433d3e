#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hpsearch/jobs/fields/engine_types.hpp"

namespace hpsearch::jobs {

/// The purpose of a regular expression.
enum class PatternPurpose : std::uint8_t {
  metric,  ///< Finds numbers in the output of a program.
  value,   ///< Limits the texts of a component's parameter.
};

/// A regular expression that a user wrote. This room can't compile it: the reader of a submission
/// passes it to the room `patterns` for that (docs/architecture.md).
struct PatternUse {
  struct Text {
    std::string path;  ///< Its place in the experiment.
    std::string text;
  };
  std::string path;  ///< Its place as problems spell it: "metrics.val_acc".
  std::string pattern;
  PatternPurpose purpose = PatternPurpose::metric;
  std::string parameter{};    ///< The parameter whose values it limits, for `value`.
  std::vector<Text> texts{};  ///< Texts that must match it; for `value` only.
};

/// All patterns of an experiment's tree: in its `metrics`, and in its component's metrics and parameters,
/// with the texts that the experiment gives for these. Pure. A tree that is no experiment has none.
[[nodiscard]] std::vector<PatternUse> patterns_of(const Value& tree);

}  // namespace hpsearch::jobs
