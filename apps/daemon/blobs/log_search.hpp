#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/jobs/patterns/line_pattern.hpp"

namespace hpsearch::daemon {

/// The lines of a log in which a regular expression is found, from some byte on. It is given the log piece by
/// piece.
///
/// Cost: linear in the pieces; memory: most_matches lines of at most most_line_bytes.
class LogSearch {
 public:
  static constexpr std::size_t most_matches = 1'000;
  static constexpr std::size_t most_line_bytes = 4'096;  ///< Of a line that is answered; its rest is cut off.

  struct Match {
    std::uint64_t offset = 0;  ///< Of the line's first byte in the log.
    std::string line;          ///< Without its end.
  };

  LogSearch(patterns::LinePattern pattern, std::uint64_t from)
      : pattern_(std::move(pattern)), line_at_(from), next_(from) {}

  /// The piece that begins at `offset`. One that lies behind next() leaves something out, as a kept log does:
  /// the line before it ends there.
  void add(std::uint64_t offset, std::string_view piece);
  /// Nothing follows: what was added last is a line, too.
  void finish();

  [[nodiscard]] std::uint64_t next() const noexcept { return next_; }  ///< Where the next piece begins.
  /// All lines that begin before it were looked at: a search from there goes on.
  [[nodiscard]] std::uint64_t searched_to() const noexcept { return line_at_; }
  [[nodiscard]] bool is_full() const noexcept { return matches_.size() >= most_matches; }
  [[nodiscard]] const std::vector<Match>& matches() const noexcept { return matches_; }

 private:
  void look_at(std::string_view line);

  patterns::LinePattern pattern_;
  std::vector<Match> matches_;
  std::string begun_;      ///< A line whose end has not come.
  std::uint64_t line_at_;  ///< Where the next line begins, or the one that has begun.
  std::uint64_t next_;
};

}  // namespace hpsearch::daemon
