#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::patterns {

/// A regular expression that finds a number in a line of output: at {number}, in its group `value`,
/// or else in its first group that is not `step`. {step} or a group `step` holds the step.
class MetricPattern {
 public:
  /// bad_request: RE2 rejects it, or it has no group for the number. The message is the rest
  /// of a sentence about the pattern: "has no group …".
  [[nodiscard]] static engine::Result<MetricPattern> compile(const std::string& text);

  MetricPattern(MetricPattern&&) noexcept;
  MetricPattern& operator=(MetricPattern&&) noexcept;
  ~MetricPattern();

  /// Views into the line.
  struct Found {
    std::string_view value;
    std::string_view behind_value{};       ///< The text after the number, if the match ends with the number.
    std::optional<std::string_view> step;  ///< Nothing if the pattern has no such group.
    std::string_view behind_step{};        ///< As behind_value.
  };
  /// The first match, or nothing. Cost: linear in the line's length for every pattern.
  [[nodiscard]] std::optional<Found> find(std::string_view line) const;

 private:
  struct Compiled;
  explicit MetricPattern(std::unique_ptr<const Compiled> compiled) noexcept;
  std::unique_ptr<const Compiled> compiled_;
};

}  // namespace hpsearch::patterns
