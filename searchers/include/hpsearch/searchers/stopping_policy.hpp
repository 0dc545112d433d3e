#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/score.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/searcher.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::searchers {

/// A reason without numbers.
[[nodiscard]] engine::Reason because(engine::Reason::Why why);

/// One more trial is wanted, whatever its configuration. It begins at one of `rungs`, ascending lengths of
/// which the last is the full one; they stay where they are as long as the policy.
struct NewTrial {
  std::span<const engine::Units> rungs;
  engine::Reason reason;
};
/// Every trial it will ever want has ended.
struct Over {};
using Work = std::variant<NewTrial, engine::PromoteTrial, engine::NothingNow, Over>;

/// The half of a searcher that allots training: how many trials, how far each, which go on. It knows no
/// configuration; that is a Proposer's half, and ComposedSearcher makes a searcher of the two.
///
/// Trials are numbered from 0 in order of creation within the schedule. Looking, hearing, saving and the
/// demands on cost and chance are those of engine::Searcher. What comes late or twice (a report of a trial
/// that waits, an exit of one that has ended) changes nothing; but a promotion is of a trial that waits for
/// one.
class StoppingPolicy {
 public:
  StoppingPolicy() = default;
  StoppingPolicy(const StoppingPolicy&) = delete;
  StoppingPolicy& operator=(const StoppingPolicy&) = delete;
  virtual ~StoppingPolicy() = default;

  [[nodiscard]] virtual Work next() const = 0;
  [[nodiscard]] virtual engine::Verdict verdict(engine::TrialNumber trial) const = 0;
  [[nodiscard]] virtual std::optional<engine::Reason> early_stop(engine::TrialNumber /*trial*/) const {
    return {};
  }

  /// The next number. `length` is that of the rung at which it begins; any other length means the first rung.
  virtual void on_created(engine::Units length) = 0;
  virtual void on_promoted(engine::TrialNumber trial) = 0;
  virtual void on_reported(engine::TrialNumber trial, engine::Units step, engine::Score score) = 0;
  // These three, and on_retried(), say whether it counted. False: it did not train, or had ended before, and
  // nothing changes.
  virtual bool on_validated(engine::TrialNumber trial, engine::Score score) = 0;
  virtual bool on_exited(engine::TrialNumber trial, engine::ExitReason reason) = 0;
  virtual bool on_closed(engine::TrialNumber trial) = 0;
  /// A trial that exited as errored trains to the same length once more.
  virtual bool on_retried(engine::TrialNumber trial) = 0;
  /// Why it cannot; "" if it can.
  [[nodiscard]] virtual std::string obstacle_to_retry(engine::TrialNumber trial) const = 0;
  /// No further configuration exists: make do with the trials there are.
  virtual void on_no_more_trials() = 0;
  /// There are some again; on_max_trials() follows.
  virtual void on_more_configurations() = 0;
  /// From now on so many trials are wanted in all, those that exist and count included; these stay, also when
  /// they are more. It may be over; with more trials than it has, it is not any more.
  virtual void on_max_trials(engine::Cardinality trials) = 0;
  /// So many slots are shared from now on; 0 = no fixed number. Only those that share among several care.
  virtual void on_max_concurrent_trials(std::uint64_t /*slots*/) {}

  [[nodiscard]] virtual std::uint64_t created_so_far() const noexcept = 0;
  /// All of these but the invalid ones that are replaced.
  [[nodiscard]] virtual std::uint64_t counting() const noexcept = 0;
  /// Trials that train towards a length now, or wait for a slot to do so.
  [[nodiscard]] virtual std::uint64_t outstanding() const noexcept = 0;
  [[nodiscard]] virtual std::span<const engine::TrialNumber> closable() const = 0;
  [[nodiscard]] virtual engine::Reason standing(engine::TrialNumber trial) const = 0;
  [[nodiscard]] virtual engine::Outlook outlook(engine::TrialNumber /*trial*/) const { return {}; }
  [[nodiscard]] virtual std::vector<engine::BracketStanding> brackets() const { return {}; }
  [[nodiscard]] virtual std::optional<std::uint32_t> bracket_of(engine::TrialNumber /*trial*/) const {
    return {};
  }
  /// So many pieces of work next() gives one after the other if nothing else happens. O(trials).
  [[nodiscard]] virtual engine::Cardinality at_hand() const = 0;
  [[nodiscard]] virtual double progress() const noexcept = 0;
};

/// How many trials a schedule still wants to create.
class Quota {
 public:
  /// With `replace_invalid`, trials with invalid hyperparameters do not count.
  Quota(engine::Cardinality limit, bool replace_invalid) noexcept
      : limit_(limit), replace_invalid_(replace_invalid) {}

  [[nodiscard]] bool needs_more() const noexcept { return !closed_ && counting() < limit_; }
  /// The next trial stands in for an invalid one.
  [[nodiscard]] bool owes_replacement() const noexcept { return replacements_ < replaceable_; }
  [[nodiscard]] engine::Reason::Why why_next() const noexcept {
    return owes_replacement() ? engine::Reason::Why::replacement : engine::Reason::Why::new_trial;
  }

  void created() noexcept;
  void invalid() noexcept;
  void close() noexcept { closed_ = true; }
  void open() noexcept { closed_ = false; }
  /// Existing trials stay, and once closed it stays closed.
  void change_limit(engine::Cardinality limit) noexcept { limit_ = limit; }

  [[nodiscard]] std::uint64_t created_so_far() const noexcept { return created_; }
  /// Trials created that count.
  [[nodiscard]] std::uint64_t counting() const noexcept { return created_ - replaceable_; }
  /// How many are still to be created, as far as is known.
  [[nodiscard]] engine::Cardinality rest() const noexcept { return planned() - counting(); }
  /// How many there will be in the end, as far as is known.
  [[nodiscard]] engine::Cardinality planned() const noexcept {
    return closed_ ? counting() : std::max<engine::Cardinality>(limit_, counting());
  }

 private:
  engine::Cardinality limit_;
  bool replace_invalid_;
  bool closed_ = false;
  std::uint64_t created_ = 0;
  std::uint64_t replaceable_ = 0;   // Invalid ones, when those are replaced.
  std::uint64_t replacements_ = 0;  // How many of them were replaced.
};

/// Trials in ascending order. Adding merges; taking out the first or the last is O(1), others O(size).
class ClosableList {
 public:
  [[nodiscard]] std::span<const engine::TrialNumber> view() const noexcept;
  void add(std::vector<engine::TrialNumber> trials);  ///< None of them is in it.
  bool remove(engine::TrialNumber trial);             ///< Whether it was in it.

 private:
  std::vector<engine::TrialNumber> trials_;
  std::size_t first_ = 0;  // The entries before it were removed.
};

}  // namespace hpsearch::searchers
