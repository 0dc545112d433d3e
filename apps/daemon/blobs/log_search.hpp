#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/jobs/patterns/line_pattern.hpp"

namespace hpsearch::daemon {

/// Finds the lines of a log that match a regular expression, from some byte on. The log is added piece by
/// piece.
///
/// Cost: linear in the pieces; memory: most_matches lines of at most most_line_bytes.
class LogSearch {
 public:
  static constexpr std::size_t most_matches = 1'000;
  static constexpr std::size_t most_line_bytes = 4'096;  ///< Longest part of a line in the answer; the rest
                                                         ///< is cut off.

  struct Match {
    std::uint64_t offset = 0;  ///< Offset of the line's first byte in the log.
    std::string line;          ///< Without its end.
  };

  LogSearch(patterns::LinePattern pattern, std::uint64_t from)
      : pattern_(std::move(pattern)), line_at_(from), next_(from) {}

  /// Adds the piece that begins at `offset`. If it lies after next(), bytes are missing, as in a kept log:
  /// the line before them ends there.
  void add(std::uint64_t offset, std::string_view piece);
  /// Call at the end of the log: the last added bytes are a line, too.
  void finish();

  [[nodiscard]] std::uint64_t next() const noexcept { return next_; }  ///< Where the next piece begins.
  /// All lines that begin before it were searched: another search can continue there.
  [[nodiscard]] std::uint64_t searched_to() const noexcept { return line_at_; }
  [[nodiscard]] bool is_full() const noexcept { return matches_.size() >= most_matches; }
  [[nodiscard]] const std::vector<Match>& matches() const noexcept { return matches_; }

 private:
  void look_at(std::string_view line);

  patterns::LinePattern pattern_;
  std::vector<Match> matches_;
  std::string begun_;      ///< A line whose end has not arrived.
  std::uint64_t line_at_;  ///< Where the current or next line begins.
  std::uint64_t next_;
};

}  // namespace hpsearch::daemon
