#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "hpsearch/engine/base/chunked_vector.hpp"
#include "hpsearch/engine/base/score.hpp"
#include "hpsearch/searchers/divisor.hpp"
#include "hpsearch/searchers/rung.hpp"
#include "hpsearch/searchers/stopping_policy.hpp"

namespace hpsearch::searchers {

/// One bracket of asynchronous successive halving, as a user asks for it.
struct AshaSettings {
  std::vector<engine::Units>
      lengths;  ///< Lengths of the rungs, ascending, each once; ends with the full one.
  Divisor divisor{4};
  std::uint64_t trials = 0;
  engine::Goal goal = engine::Goal::minimize;  ///< Cut-offs are shown in the user's sign.
  bool late_starts = false;                    ///< New trials may begin above the first rung, not only at it.
};

/// The lengths of `rungs` rungs up to `max_length`: each is max_length / d^k, rounded down, at least 1. Equal
/// neighbours become one rung.
[[nodiscard]] std::vector<engine::Units> rung_lengths(engine::Units max_length, const Divisor& divisor,
                                                      std::uint64_t rungs);

/// Asynchronous successive halving: trials climb rungs of growing length, and at each only about one in d
/// goes on (Li et al., "A System for Massively Parallel Hyperparameter Tuning", MLSys 2020, algorithm 2).
///
/// What both ways of halving share: who stands where. A trial that ends early counts as the worst result of
/// the rung it was training for; one with invalid hyperparameters leaves every rung and is replaced. One that
/// begins above the first rung counts there and above, and never below.
///
/// Cost: O(log n) per call for n results in a rung, times the few rungs; memory O(1) per result.
class Asha : public StoppingPolicy {
 public:
  void on_created(engine::Units length) final;
  void on_promoted(engine::TrialNumber trial) final;
  void on_reported(engine::TrialNumber trial, engine::Units step, engine::Score score) final;
  bool on_validated(engine::TrialNumber trial, engine::Score score) final;
  bool on_exited(engine::TrialNumber trial, engine::ExitReason reason) final;
  bool on_closed(engine::TrialNumber trial) final;
  bool on_retried(engine::TrialNumber trial) final;
  [[nodiscard]] std::string obstacle_to_retry(engine::TrialNumber trial) const final;
  void on_no_more_trials() final;
  void on_more_configurations() final { quota_.open(); }
  void on_max_trials(engine::Cardinality trials) final;
  [[nodiscard]] std::uint64_t created_so_far() const noexcept final { return quota_.created_so_far(); }
  [[nodiscard]] std::uint64_t counting() const noexcept final { return quota_.counting(); }
  [[nodiscard]] std::uint64_t outstanding() const noexcept final { return outstanding_total_; }
  [[nodiscard]] std::span<const engine::TrialNumber> closable() const final { return closable_.view(); }
  [[nodiscard]] std::vector<engine::BracketStanding> brackets() const final;
  [[nodiscard]] double progress() const noexcept final { return progress_; }

 protected:
  enum class State : std::uint8_t {
    training,  ///< Towards its rung.
    waiting,   ///< Has a result in its rung and may go on.
    ending,    ///< Has one, and its verdict is to stop.
    closable,  ///< Waited, and need not any more.
    ended,
  };
  struct Trial {
    Rung::Arrival arrival =
        Rung::none;          ///< The rung of its latest result; while it trains, its rung or one below.
    std::uint16_t rung = 0;  ///< Where it trains to, or where its latest result stands.
    State state = State::training;
  };

  Asha(AshaSettings settings, Rung::Ties ties);

  /// How many results of a rung go on.
  [[nodiscard]] virtual std::uint64_t keep_of(const Rung& rung) const { return rung.keep(); }

  [[nodiscard]] std::size_t top() const noexcept { return rungs_.size() - 1; }
  [[nodiscard]] const Trial& trial(engine::TrialNumber number) const;
  [[nodiscard]] Work create_or_end() const;
  [[nodiscard]] engine::Verdict reached_the_top(const Trial& trial) const;
  /// Why a trial whose latest result stands in its rung goes on or not, as of now.
  [[nodiscard]] engine::Reason reason(engine::Reason::Why why, const Trial& trial) const;

  // Where the two ways of halving differ.

  /// A trial below the top has just reported; it waits, and its result is in the rung.
  virtual void has_reported(engine::TrialNumber number) = 0;
  /// The trial went on or ended.
  virtual void has_moved_on(engine::TrialNumber number) = 0;
  /// Results left their rungs, as if they had never been there, or more trials are wanted than before: what
  /// was settled for good is open again.
  virtual void reopen() = 0;
  /// After every event but the creation of a trial. `reporter` has just reported, below the top.
  virtual void decide_promotions(std::optional<engine::TrialNumber> reporter) = 0;

  AshaSettings settings_;
  Rung::Ties ties_;
  Quota quota_;
  std::vector<Rung> rungs_;
  engine::ChunkedVector<Trial> trials_;     // By number.
  std::vector<std::uint64_t> outstanding_;  // Trials training towards each rung.
  ClosableList closable_;

 private:
  [[nodiscard]] std::uint16_t rung_at(engine::Units length) const noexcept;
  /// A result was the trial's lowest, and leaves.
  void has_left(std::size_t rung) noexcept;
  [[nodiscard]] bool is_over() const noexcept { return open_ == 0 && !quota_.needs_more(); }
  void enter(engine::TrialNumber number, engine::Score score, bool alive);
  void leave_every_rung(const Trial& trial);
  void stop_training(Trial& trial);
  void end(engine::TrialNumber number);
  void update_progress() noexcept;

  std::uint64_t outstanding_total_ = 0;
  std::uint64_t open_ = 0;           // Trials that have not ended.
  std::uint64_t late_starters_ = 0;  // Trials with a result, none of it at the first rung.
  double progress_ = 0;
};

/// Promotion type: a trial waits at its rung, its slot given to others, until it is among the best floor(n/d)
/// of n results; then it trains on from its checkpoint. Of equal results the earlier ranks first.
///
/// Once no trial can come to a rung any more, those that still wait there without being promotable are
/// closable. A result of a trial that ended early is passed up, as the worst of the next rung, as soon as it
/// is among the best floor(n/d), and uses up that promotion.
class PromotionAsha final : public Asha {
 public:
  explicit PromotionAsha(AshaSettings settings) : Asha(std::move(settings), Rung::Ties::earlier_first) {}

  [[nodiscard]] Work next() const override;
  [[nodiscard]] engine::Verdict verdict(engine::TrialNumber trial) const override;
  [[nodiscard]] engine::Reason standing(engine::TrialNumber trial) const override;
  [[nodiscard]] engine::Outlook outlook(engine::TrialNumber trial) const override;
  [[nodiscard]] engine::Cardinality at_hand() const override;

 private:
  [[nodiscard]] engine::Cardinality results_to_come(std::size_t rung) const;
  void has_reported(engine::TrialNumber /*number*/) override {}
  void has_moved_on(engine::TrialNumber /*number*/) override {}
  void reopen() override { closed_out_ = 0; }
  void decide_promotions(std::optional<engine::TrialNumber> reporter) override;

  void pass_up_the_dead();

  // Rungs below this one are closed out. Who ends early in one of them afterwards may still be passed up, and
  // would not be if it were closed out again.
  std::size_t closed_out_ = 0;
};

/// Stopping type: a trial goes on at once or never, so nothing is ever resumed. With n results before it, it
/// goes on if fewer than max(floor((n+1)/d), 1) of them are strictly better.
class StoppingAsha final : public Asha {
 public:
  explicit StoppingAsha(AshaSettings settings) : Asha(std::move(settings), Rung::Ties::later_first) {}

  [[nodiscard]] Work next() const override;
  [[nodiscard]] engine::Verdict verdict(engine::TrialNumber trial) const override;
  [[nodiscard]] engine::Reason standing(engine::TrialNumber trial) const override;
  [[nodiscard]] engine::Outlook outlook(engine::TrialNumber trial) const override;
  [[nodiscard]] engine::Cardinality at_hand() const override;

  [[nodiscard]] std::uint64_t keep_of(const Rung& rung) const override;

 private:
  struct Decided {
    engine::TrialNumber trial;
    engine::Reason reason;
  };

  [[nodiscard]] std::uint64_t waiting_before(std::vector<Decided>::const_iterator end) const;
  [[nodiscard]] std::vector<Decided>::const_iterator decision_on(engine::TrialNumber number) const noexcept;
  void has_reported(engine::TrialNumber number) override;
  void has_moved_on(engine::TrialNumber number) override;
  void reopen() override {}
  void decide_promotions(std::optional<engine::TrialNumber> /*reporter*/) override {}

  // What was decided of trials whose verdict was not carried out yet, with its numbers: later results would
  // change them. In order of trials; few at any time, as verdicts are carried out at once.
  std::vector<Decided> decided_;
};

/// The one or the other.
[[nodiscard]] std::unique_ptr<StoppingPolicy> make_asha(AshaSettings settings, bool stop_once);

}  // namespace hpsearch::searchers
