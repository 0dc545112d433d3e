#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::engine {

/// A search pauses itself when so many of its first trials end without reporting the searcher's metric.
inline constexpr std::uint64_t most_unmeasured_trials = 2;
/// The same for trials that reach a length with nothing but NaN, which a part of the space may do; more if
/// pause_on_failures is.
inline constexpr std::uint64_t most_not_finite_trials = 8;
/// How long after the start of its first attempt a search of which no attempt has got on runs only a few
/// attempts at once (most_first_trials): a mistake that fails every attempt at once shows within it. If it
/// were longer, slots would be idle for programs that merely need long to begin.
inline constexpr Duration first_look = Duration::seconds(5);

/// How the first trials of a search fail: a mistake in the program or in its experiment file fails them all
/// in the same way. Nothing is counted any more once something went well.
struct FirstFailures {
  std::uint64_t failed = 0;  ///< Attempts that failed, however they did.
  std::set<TrialNumber>
      alike;        ///< The trials of those of them, the last ones in a row, that failed in the same way.
  std::string way;  ///< That way: cause, exit status, how far they came, and the last line of the log without
                    ///< its numbers. "": one that another try may cure.
  std::string why;  ///< The last failure, for people: one line.
  WorkerId worker;  ///< Where the first of those failed.
  bool elsewhere = false;  ///< One of them failed on another worker.
  bool reported = false;   ///< Some attempt said something.
  bool over = false;  ///< A length was reached with a finite value, or a trial that has one has ended well.
  std::uint64_t unmeasured = 0;      ///< Trials that failed because the searcher's metric was not reported.
  std::set<TrialNumber> not_finite;  ///< Trials that reached a length and only ever measured NaN.
  bool not_finite_known = false;     ///< The search paused itself therefore and was resumed.
  bool got_on = false;               ///< Some attempt measured the searcher's metric and then went on.
  Instant first_start;  ///< The first start of an attempt since it was submitted or resumed after such a
                        ///< pause; Instant{}: none.
};

/// Why attempts of a search failed, and how often each cause came. A cause that nothing tells from chance,
/// such as a lost worker, isn't counted. Bounded: a search whose failures all differ keeps the last ones.
class FailureCauses {
 public:
  static constexpr std::size_t most = 8;

  struct Cause {
    std::string kind;  ///< Equal for failures of one cause: numbers are left out.
    std::string why;   ///< The last of them, for people: one line.
    std::uint64_t attempts = 0;
    TrialNumber trial;  ///< The trial that failed last.
  };

  /// O(most).
  void note(const std::string& kind, std::string why, TrialNumber trial);
  /// The cause of two attempts at least that failed most; of two alike the one that came later. nullptr: each
  /// failure had a cause of its own.
  [[nodiscard]] const Cause* most_common() const;
  [[nodiscard]] const std::vector<Cause>& causes() const { return causes_; }  ///< The latest one last.
  void clear() { causes_.clear(); }

 private:
  std::vector<Cause> causes_;
};

}  // namespace hpsearch::engine
