#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "hpsearch/engine/base/chunked_vector.hpp"
#include "hpsearch/searchers/stopping_policy.hpp"

namespace hpsearch::searchers {

/// One bracket of a search.
struct BracketPlan {
  std::uint64_t rungs = 0;  ///< As asked for; equal lengths may leave fewer.
  std::uint64_t trials = 0;
};

/// Several schedules run as one: the brackets of a search, each with its fair share of the concurrency.
///
/// With C slots for B brackets, each has C/B of them, and the first C mod B brackets one more. A free slot
/// goes to the first bracket that has work and less outstanding than its share. If there is none the slot is
/// lent to the bracket with work that is the least over its share, the first of equals; it comes back when
/// its trial gives it up. With more brackets than slots, or no fixed number of slots, the brackets take
/// turns: the one that was given the fewest pieces of work goes next.
///
/// Trials are numbered over all brackets in order of creation; each bracket sees its own numbers from 0.
///
/// When another number of trials is wanted, the brackets stay, and the trials are shared out anew by the same
/// weights; a bracket that has more than its new share keeps them, at the expense of the others. Progress,
/// the mean of the brackets', then stands still until it is past where it was.
///
/// Cost: that of the brackets asked, B at a pull and one for an event.
class Tournament final : public StoppingPolicy {
 public:
  /// Where the brackets come from.
  struct Makers {
    std::function<std::unique_ptr<StoppingPolicy>(const BracketPlan&)> bracket;
    /// Divides trials among brackets with so many rungs each; adds up exactly. Asked only for at least one
    /// trial per bracket.
    std::function<std::vector<std::uint64_t>(std::uint64_t trials, const std::vector<std::uint64_t>& rungs)>
        shares;
  };

  /// `slots` 0: no fixed number.
  Tournament(const std::vector<BracketPlan>& plan, Makers makers, std::uint64_t slots);

  /// The share of `slots` of bracket `bracket` of `brackets`; 0 if they take turns.
  [[nodiscard]] static std::uint64_t share(std::uint64_t slots, std::uint64_t brackets,
                                           std::uint64_t bracket) noexcept;

  [[nodiscard]] Work next() const override;
  [[nodiscard]] engine::Verdict verdict(engine::TrialNumber trial) const override;
  void on_created(engine::Units length) override;
  void on_promoted(engine::TrialNumber trial) override;
  void on_reported(engine::TrialNumber trial, engine::Units step, engine::Score score) override;
  bool on_validated(engine::TrialNumber trial, engine::Score score) override;
  bool on_exited(engine::TrialNumber trial, engine::ExitReason reason) override;
  bool on_closed(engine::TrialNumber trial) override;
  bool on_retried(engine::TrialNumber trial) override;
  [[nodiscard]] std::string obstacle_to_retry(engine::TrialNumber trial) const override;
  void on_no_more_trials() override;
  void on_more_configurations() override;
  void on_max_trials(engine::Cardinality trials) override;
  void on_max_concurrent_trials(std::uint64_t slots) override;
  [[nodiscard]] std::uint64_t created_so_far() const noexcept override { return members_.size(); }
  [[nodiscard]] std::uint64_t counting() const noexcept override;
  [[nodiscard]] std::uint64_t outstanding() const noexcept override;
  [[nodiscard]] std::span<const engine::TrialNumber> closable() const override { return closable_.view(); }
  [[nodiscard]] engine::Reason standing(engine::TrialNumber trial) const override;
  [[nodiscard]] engine::Outlook outlook(engine::TrialNumber trial) const override;
  [[nodiscard]] engine::Cardinality at_hand() const override;
  [[nodiscard]] std::vector<engine::BracketStanding> brackets() const override;
  [[nodiscard]] std::optional<std::uint32_t> bracket_of(engine::TrialNumber trial) const override;
  [[nodiscard]] double progress() const noexcept override { return progress_; }

 private:
  struct Bracket {
    std::unique_ptr<StoppingPolicy> policy;
    std::uint64_t rungs = 0;
    std::uint64_t share = 0;                      // 0: they take turns.
    std::uint64_t pulls = 0;                      // Pieces of work it was given by next().
    std::uint64_t closable = 0;                   // How many of its trials stand in closable_.
    engine::ChunkedVector<std::uint32_t> trials;  // Its trials' numbers in the tournament.

    [[nodiscard]] engine::TrialNumber trial(engine::TrialNumber number) const noexcept {
      return engine::TrialNumber(trials[number.number()]);
    }
  };
  struct Member {
    std::uint32_t bracket = 0;
    std::uint32_t in_bracket = 0;  // Its number there.

    [[nodiscard]] engine::TrialNumber number() const noexcept { return engine::TrialNumber(in_bracket); }
  };
  struct Pick {
    std::size_t bracket = 0;
    Work work;
  };

  /// The rank by which brackets get slots.
  struct Turn {
    std::uint64_t share = 0;
    std::uint64_t pulls = 0;
    std::uint64_t outstanding = 0;
  };

  [[nodiscard]] static Turn turn_of(const Bracket& bracket) noexcept;
  [[nodiscard]] static bool goes_before(const Turn& a, const Turn& b) noexcept;
  /// How many pieces of work all brackets are given before this one gets its `nth`, which it has at hand, if
  /// nothing else happens. O(brackets), beside what at_hand() costs.
  [[nodiscard]] std::uint64_t given_before(std::size_t bracket, std::uint64_t nth) const;
  /// The bracket that gets the next free slot and what it does with it; Over or NothingNow if none can use
  /// it.
  [[nodiscard]] Pick pick() const;
  [[nodiscard]] const Member& member(engine::TrialNumber trial) const;
  [[nodiscard]] Bracket& bracket_with(engine::TrialNumber trial);
  /// The bracket that creates the trial that was just decided on.
  [[nodiscard]] std::size_t creator() const;
  /// The trial needs no closing any more.
  void not_closable(engine::TrialNumber trial);
  void take_over_closable(Bracket& bracket);

  void share_out_trials();
  void update_progress() noexcept;

  Makers makers_;
  std::uint64_t slots_;
  std::vector<Bracket> brackets_;
  engine::ChunkedVector<Member> members_;  // By trial.
  ClosableList closable_;
  std::optional<std::uint64_t> max_trials_;  // Once it has changed.
  double progress_ = 0;
  std::optional<engine::TrialNumber> reporter_;  // Has just reported; the next decision is its verdict.
};

}  // namespace hpsearch::searchers
