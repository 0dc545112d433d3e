#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::patterns {

/// A regular expression that people look for in the lines of a log.
///
/// Threads: any, also several at once. Cost: linear in the line's length whatever the expression is.
class LinePattern {
 public:
  /// bad_request: RE2 does not take it. The message is the rest of a sentence: "cannot be used: …".
  [[nodiscard]] static engine::Result<LinePattern> compile(const std::string& text);

  LinePattern(LinePattern&&) noexcept;
  LinePattern& operator=(LinePattern&&) noexcept;
  ~LinePattern();

  /// It is found somewhere in the line.
  [[nodiscard]] bool is_in(std::string_view line) const;

 private:
  struct Compiled;
  explicit LinePattern(std::unique_ptr<const Compiled> compiled) noexcept;
  std::unique_ptr<const Compiled> compiled_;
};

}  // namespace hpsearch::patterns
