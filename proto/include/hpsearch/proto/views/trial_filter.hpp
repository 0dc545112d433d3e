#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::views {

/// A condition on a trial, as --where has it:
///
///     lr<0.01 and (state=COMPLETED or metric>=0.9) and not optimizer=sgd
///
/// NAME OP VALUE, where OP is one of < <= > >= = == !=, joined by and, or, not and parentheses. Numbers
/// compare as numbers, texts by their letters, whatever their case. What a trial does not have is unlike
/// everything.
class TrialFilter {
 public:
  /// The value of that name; null when the trial has none.
  using Lookup = std::function<engine::Value(const std::string& name)>;

  /// bad_request: where it cannot be read, and what belongs there. Texts of more than 4,096 bytes and
  /// parentheses in more than 50 others are refused.
  [[nodiscard]] static engine::Result<TrialFilter> read(std::string_view text);

  [[nodiscard]] bool holds(const Lookup& lookup) const;
  /// In the order of their coming, each once.
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }

  struct Node;

 private:
  std::shared_ptr<const Node> root_;
  std::vector<std::string> names_;
};

/// -1, 0 or 1: numbers before texts, texts by their letters whatever their case, then null.
[[nodiscard]] int compare_values(const engine::Value& a, const engine::Value& b);

}  // namespace hpsearch::views
