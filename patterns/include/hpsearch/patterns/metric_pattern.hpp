#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::patterns {

/// A regular expression that finds a number in a line of output: in its group `value`, or else in its first
/// group that is not `step`. A group `step` holds the step.
class MetricPattern {
 public:
  /// bad_request: RE2 does not take it, or it has no group around the number. The message is the rest of a
  /// sentence about the pattern: "has no group …".
  [[nodiscard]] static engine::Result<MetricPattern> compile(const std::string& text);

  MetricPattern(MetricPattern&&) noexcept;
  MetricPattern& operator=(MetricPattern&&) noexcept;
  ~MetricPattern();

  /// Views into the line.
  struct Found {
    std::string_view value;
    std::optional<std::string_view> step;  ///< Nothing when the pattern has no such group.
  };
  /// The first match; nothing when there is none. Cost: linear in the line's length whatever the pattern is.
  [[nodiscard]] std::optional<Found> find(std::string_view line) const;

 private:
  struct Compiled;
  explicit MetricPattern(std::unique_ptr<const Compiled> compiled) noexcept;
  std::unique_ptr<const Compiled> compiled_;
};

}  // namespace hpsearch::patterns
