#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/searcher.hpp"
#include "hpsearch/searchers/proposer.hpp"
#include "hpsearch/searchers/stopping_policy.hpp"

namespace hpsearch::searchers {

/// A searcher made of a schedule, which says how far trials train, and a proposer, which says with what.
///
/// It numbers trials, labels given points, ends the search when the proposer runs out of configurations, and
/// gives up when too many configurations were invalid.
///
/// max_trials, the points to come and the rule for duplicates may change under way. max_trials goes up and
/// down. Trials that exist stay; a search that is over stays over. As many replacements are allowed in all as
/// trials are wanted; a change to fewer than there were already does not end the search.
class ComposedSearcher final : public engine::Searcher {
 public:
  /// The settings that it needs.
  struct Limits {
    engine::Cardinality trials = 0;  ///< As many were asked for.
    /// At most so many trials stand in for invalid ones; nothing: invalid ones use up theirs, and the number
    /// of trials is fixed.
    std::optional<std::uint64_t> replacements;
    std::optional<engine::Cardinality> supply;  ///< There are no more configurations than this.
  };

  ComposedSearcher(std::unique_ptr<StoppingPolicy> policy, std::unique_ptr<Proposer> proposer, Limits limits);

  [[nodiscard]] engine::Next next() const override;
  [[nodiscard]] engine::Verdict verdict(engine::TrialNumber trial) const override;
  [[nodiscard]] std::optional<engine::Reason> early_stop(engine::TrialNumber trial) const override;
  void on_event(const engine::SearchEvent& event) override;
  [[nodiscard]] std::span<const engine::TrialNumber> closable() const override { return policy_->closable(); }
  [[nodiscard]] engine::Reason standing(engine::TrialNumber trial) const override;
  [[nodiscard]] std::optional<engine::Learnt> learnt() const override;
  [[nodiscard]] engine::Outlook outlook(engine::TrialNumber trial) const override;
  [[nodiscard]] std::string obstacle_to_retry(engine::TrialNumber trial) const override;
  [[nodiscard]] std::vector<engine::BracketStanding> brackets() const override { return policy_->brackets(); }
  [[nodiscard]] std::optional<std::uint32_t> bracket_of(engine::TrialNumber trial) const override {
    return policy_->bracket_of(trial);
  }
  [[nodiscard]] double progress() const noexcept override;

 private:
  struct Listener;

  [[nodiscard]] bool gave_up() const noexcept {
    return limits_.replacements && invalid_ > *limits_.replacements;
  }
  [[nodiscard]] bool is_over() const;
  /// The number of its trials is not fixed, and it is not over.
  [[nodiscard]] bool takes_changes() const;
  void announce_max_trials();
  void announce_more_configurations();
  [[nodiscard]] std::string farewell() const;

  std::unique_ptr<StoppingPolicy> policy_;
  std::unique_ptr<Proposer> proposer_;
  Limits limits_;
  std::uint64_t invalid_ = 0;
};

}  // namespace hpsearch::searchers
