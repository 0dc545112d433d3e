#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/experiment/attempt.hpp"

namespace hpsearch::simulation {

/// What really happened to programs, written down where they run and not by anything that is tested: what
/// they measured and saved, whether they said that their hyperparameters cannot work, and how they ended.
///
/// Attempts are named as their workers name them: with the lease their program was started under.
class Ledger {
 public:
  void measured(const engine::AttemptKey& origin, engine::Units step, double score);
  /// Its machine lost power, and with it what it measured after so many values, which nobody had heard.
  void forgot_behind(const engine::AttemptKey& origin, std::uint64_t values);
  void reported_invalid(const engine::AttemptKey& origin);
  void saved(const engine::AttemptKey& origin, const engine::CheckpointReport& checkpoint);
  /// `uid`: of the worker, for an attempt has a program on each of its workers.
  void ended(const engine::AttemptKey& origin, const std::string& uid, bool by_signal, int code);

  [[nodiscard]] bool has_reported_invalid(const engine::AttemptKey& origin) const;

  /// "" when the report tells what happened, after those that were compared before it; what is wrong
  /// otherwise. `uid`: of the worker on which the attempt's first program runs.
  [[nodiscard]] std::string compare(const engine::AttemptKey& origin, const std::string& uid,
                                    const engine::Report& report);
  /// The same of the end of one program, on the worker with this uid.
  [[nodiscard]] std::string compare_end(const engine::AttemptKey& origin, const std::string& uid,
                                        const engine::ExitReport& exit) const;

 private:
  struct End {
    bool by_signal = false;
    int code = 0;
  };
  struct Attempt {
    std::vector<std::pair<engine::Units, double>> values;
    std::size_t compared = 0;  // Of the values.
    bool invalid = false;
    std::set<std::pair<engine::Units, std::string>> checkpoints;
    std::map<std::string, End> ends;  // By uid.
  };
  std::map<engine::AttemptKey, Attempt> attempts_;
};

}  // namespace hpsearch::simulation
