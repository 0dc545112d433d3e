#pragma once

#include <map>
#include <optional>

#include "hpsearch/searchers/stopping_policy.hpp"
#include "hpsearch/searchers/stopping_rules.hpp"

namespace hpsearch::searchers {

/// Every trial trains to the full length, unless a rule stops it: what single, random and grid share.
///
/// Cost: O(log running trials) per call, and no memory for trials that have ended; with rules, theirs.
class Flat final : public StoppingPolicy {
 public:
  enum class InvalidTrials : std::uint8_t { consume_theirs, are_replaced };

  Flat(engine::Cardinality trials, engine::Units max_length, InvalidTrials invalid,
       std::optional<StoppingRules> rules = std::nullopt) noexcept;

  [[nodiscard]] Work next() const override;
  [[nodiscard]] engine::Verdict verdict(engine::TrialNumber trial) const override;
  [[nodiscard]] std::optional<engine::Reason> early_stop(engine::TrialNumber trial) const override;
  void on_created(engine::Units length) override;
  void on_promoted(engine::TrialNumber trial) override;
  void on_reported(engine::TrialNumber trial, engine::Units step, engine::Score score) override;
  bool on_validated(engine::TrialNumber trial, engine::Score score) override;
  bool on_exited(engine::TrialNumber trial, engine::ExitReason reason) override;
  bool on_closed(engine::TrialNumber trial) override;
  bool on_retried(engine::TrialNumber trial) override;
  [[nodiscard]] std::string obstacle_to_retry(engine::TrialNumber trial) const override;
  void on_no_more_trials() override;
  void on_more_configurations() override { quota_.open(); }
  void on_max_trials(engine::Cardinality trials) override;
  [[nodiscard]] std::uint64_t created_so_far() const noexcept override { return quota_.created_so_far(); }
  [[nodiscard]] std::uint64_t counting() const noexcept override { return quota_.counting(); }
  [[nodiscard]] std::uint64_t outstanding() const noexcept override { return open_.size() - reached_; }
  [[nodiscard]] std::span<const engine::TrialNumber> closable() const override { return {}; }
  [[nodiscard]] engine::Reason standing(engine::TrialNumber trial) const override;
  [[nodiscard]] engine::Cardinality at_hand() const override { return quota_.rest(); }
  [[nodiscard]] double progress() const noexcept override { return progress_; }

 private:
  struct Open {
    std::uint64_t trained = 0;
    bool reached = false;  // The full length; its end was not reported yet.
  };

  [[nodiscard]] bool is_over() const noexcept { return open_.empty() && !quota_.needs_more(); }
  void end(std::map<engine::TrialNumber, Open>::iterator trial);
  void train_to(Open& trial, std::uint64_t step);
  void update_progress() noexcept;

  engine::Units max_length_;
  Quota quota_;
  std::optional<StoppingRules> rules_;
  std::map<engine::TrialNumber, Open> open_;
  engine::Cardinality trained_ = 0;  // Σ over open trials.
  std::uint64_t reached_ = 0;
  double progress_ = 0;
};

}  // namespace hpsearch::searchers
