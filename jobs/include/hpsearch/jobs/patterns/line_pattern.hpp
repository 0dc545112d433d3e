#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::patterns {

/// A regular expression for which users search the lines of a log.
///
/// Threads: any, even several at once. Cost: linear in the line's length for every expression.
class LinePattern {
 public:
  /// bad_request: RE2 rejects it. The message is the rest of a sentence: "cannot be used: …".
  [[nodiscard]] static engine::Result<LinePattern> compile(const std::string& text);

  LinePattern(LinePattern&&) noexcept;
  LinePattern& operator=(LinePattern&&) noexcept;
  ~LinePattern();

  /// Whether it matches anywhere in the line.
  [[nodiscard]] bool is_in(std::string_view line) const;

 private:
  struct Compiled;
  explicit LinePattern(std::unique_ptr<const Compiled> compiled) noexcept;
  std::unique_ptr<const Compiled> compiled_;
};

}  // namespace hpsearch::patterns
