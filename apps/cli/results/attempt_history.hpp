#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::cli {

/// One attempt of a trial, from the log.
struct AttemptHistory {
  std::uint64_t number = 0;
  std::uint64_t worker = 0;            ///< Where it ended first, or the worker of rank 0.
  std::vector<std::uint64_t> workers;  ///< Workers of all its ranks.
  double granted_at = 0;               ///< Seconds since the epoch.
  double ended_at = 0;                 ///< 0 = it has not ended.
  /// "exit code 3", "signal 11 (SIGSEGV)", "out-of-memory", "missing metric", "lost", "could not start";
  /// "stopped" if it was ended because its trial was over, "preempted" if the trial continues later; "" while
  /// it runs.
  std::string cause;
  std::string message;   ///< One sentence of the worker or of the daemon, or "".
  std::string log_tail;  ///< The last lines of its output, which came with its exit.
  bool failed = false;   ///< It ended neither as ordered nor successfully.
};

/// The attempts of one trial, in order. `history` has its events as GET …/explain lists them, `points` its
/// reports as in GET …/metrics; `metric` is the searcher's.
[[nodiscard]] std::vector<AttemptHistory> attempts_in(const engine::Value::List& history,
                                                      const engine::Value::List& points,
                                                      const std::string& metric);

}  // namespace hpsearch::cli
