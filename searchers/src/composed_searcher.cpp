#include "hpsearch/searchers/composed_searcher.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/learnt.hpp"

namespace hpsearch::searchers {

using engine::TrialNumber;

namespace {

/// Why there is a new trial, and why with this configuration.
engine::Reason joined(engine::Reason reason, const Proposer::Proposal& proposal, std::size_t first_rung,
                      engine::Units length) {
  if (reason.rung) {
    reason.rung = static_cast<std::uint32_t>(first_rung);
    reason.at = length;
  }
  if (proposal.reason.why != engine::Reason::Why::new_trial) {
    reason.why = proposal.reason.why;
    reason.detail = proposal.reason.detail;
  }
  reason.near = proposal.reason.near;
  reason.near_rank = proposal.reason.near_rank;
  reason.results = proposal.reason.results;
  reason.spread = proposal.reason.spread;
  reason.expected = proposal.reason.expected;
  return reason;
}

}  // namespace

struct ComposedSearcher::Listener {
  ComposedSearcher& self;

  void operator()(const engine::TrialWasCreated& created) const {
    HPSEARCH_CHECK(created.trial.number() == self.policy_->created_so_far(),
                   "trials are numbered without gaps");
    if (self.proposer_->exhausted()) {  // A log may hold what another rule found.
      self.announce_more_configurations();
    }
    self.policy_->on_created(created.length);
    self.proposer_->on_created(created.trial, created.hparams, created.length);
    if (self.proposer_->exhausted()) {
      self.policy_->on_no_more_trials();
    }
  }
  void operator()(const engine::TrialWasPromoted& promoted) const {
    self.policy_->on_promoted(promoted.trial);
    self.proposer_->on_promoted(promoted.trial, promoted.length);
  }
  void operator()(const engine::TrialReported& reported) const {
    self.policy_->on_reported(reported.trial, reported.step, reported.score);
  }
  void operator()(const engine::TrialValidated& validated) const {
    if (self.policy_->on_validated(validated.trial, validated.score)) {
      self.proposer_->on_validated(validated.trial, validated.length, validated.score);
    }
  }
  void operator()(const engine::TrialExited& exited) const {
    if (!self.policy_->on_exited(exited.trial, exited.reason)) {
      return;
    }
    self.proposer_->on_exited(exited.trial, exited.reason);
    if (exited.reason == engine::ExitReason::invalid_hp) {
      ++self.invalid_;
    }
  }
  void operator()(const engine::TrialWasRetried& retried) const {
    if (self.policy_->on_retried(retried.trial)) {
      self.proposer_->on_retried(retried.trial, retried.length);
    }
  }
  void operator()(const engine::TrialWasClosed& closed) const {
    if (self.policy_->on_closed(closed.trial)) {
      self.proposer_->on_closed(closed.trial);
    }
  }
  void operator()(const engine::MaxTrialsChanged& changed) const {
    if (!self.limits_.replacements.has_value() || self.gave_up()) {
      return;
    }
    self.limits_.trials = changed.max_trials;
    self.limits_.replacements = std::max(changed.max_trials, self.invalid_);
    self.announce_max_trials();
  }
  void operator()(const engine::MaxConcurrentTrialsChanged& changed) const {
    self.policy_->on_max_concurrent_trials(changed.max_concurrent_trials);
  }
  void operator()(const engine::PointsChanged& changed) const {
    if (!self.takes_changes()) {
      return;
    }
    const bool was_exhausted = self.proposer_->exhausted();
    self.proposer_->on_points(changed.points);
    if (self.proposer_->exhausted()) {
      self.policy_->on_no_more_trials();
    } else if (was_exhausted) {
      self.announce_more_configurations();
    }
  }
  void operator()(const engine::DuplicatesChanged& changed) const {
    if (!self.takes_changes()) {
      return;
    }
    self.proposer_->on_duplicates(changed.reject, changed.started);
    self.limits_.supply = self.proposer_->remaining();
    if (self.limits_.supply) {
      *self.limits_.supply += self.policy_->created_so_far() - self.invalid_;
    }
    self.announce_more_configurations();
    if (self.proposer_->exhausted()) {
      self.policy_->on_no_more_trials();
    }
  }
};

ComposedSearcher::ComposedSearcher(std::unique_ptr<StoppingPolicy> policy, std::unique_ptr<Proposer> proposer,
                                   Limits limits)
    : policy_(std::move(policy)), proposer_(std::move(proposer)), limits_(limits) {
}

void ComposedSearcher::announce_max_trials() {
  policy_->on_max_trials(std::min(limits_.trials, limits_.supply.value_or(limits_.trials)));
}

void ComposedSearcher::announce_more_configurations() {
  policy_->on_more_configurations();
  announce_max_trials();
}

engine::Next ComposedSearcher::next() const {
  if (gave_up()) {
    return engine::Finished{std::to_string(invalid_) +
                                " trials reported their hyperparameters as invalid, and only " +
                                std::to_string(*limits_.replacements) +
                                " may be replaced; exclude such combinations from the space",
                            {}};
  }
  Work work = policy_->next();
  if (auto* wanted = std::get_if<NewTrial>(&work)) {
    const TrialNumber trial(policy_->created_so_far());
    Proposer::Proposal proposal = proposer_->propose(trial, wanted->rungs);
    const std::size_t first =
        std::min<std::size_t>(proposal.first_rung, wanted->rungs.size() - std::size_t{1});
    return engine::CreateTrial{trial, std::move(proposal.hparams), wanted->rungs[first],
                               joined(std::move(wanted->reason), proposal, first, wanted->rungs[first])};
  }
  if (auto* promoted = std::get_if<engine::PromoteTrial>(&work)) {
    return std::move(*promoted);
  }
  if (std::holds_alternative<Over>(work)) {
    return engine::Finished{std::nullopt, farewell()};
  }
  return engine::NothingNow{};
}

bool ComposedSearcher::takes_changes() const {
  return limits_.replacements.has_value() && !is_over();
}

bool ComposedSearcher::is_over() const {
  return gave_up() || std::holds_alternative<Over>(policy_->next());
}

std::string ComposedSearcher::farewell() const {
  const std::uint64_t created = policy_->created_so_far();
  if (!proposer_->exhausted() || created - invalid_ >= limits_.trials) {
    return {};
  }
  // Where duplicates were allowed before, there are fewer configurations than trials.
  return std::string("the space is exhausted: ") +
         (proposer_->remaining() ? "all its configurations were tried"
                                 : "no draw is another configuration than those tried") +
         ", in " + std::to_string(created) + (created == 1 ? " trial" : " trials") +
         (invalid_ > 0 ? " (" + std::to_string(invalid_) + " of them invalid)" : std::string()) + "; " +
         engine::to_text(limits_.trials) + " were asked for";
}

engine::Verdict ComposedSearcher::verdict(TrialNumber trial) const {
  return policy_->verdict(trial);
}

std::optional<engine::Reason> ComposedSearcher::early_stop(TrialNumber trial) const {
  return policy_->early_stop(trial);
}

engine::Reason ComposedSearcher::standing(TrialNumber trial) const {
  return policy_->standing(trial);
}

std::optional<engine::Learnt> ComposedSearcher::learnt() const {
  return proposer_->learnt();
}

engine::Outlook ComposedSearcher::outlook(TrialNumber trial) const {
  engine::Outlook outlook = gave_up() ? engine::Outlook{} : policy_->outlook(trial);
  outlook.exhausted = proposer_->exhausted();
  return outlook;
}

std::string ComposedSearcher::obstacle_to_retry(TrialNumber trial) const {
  return gave_up() ? "its search gave up" : policy_->obstacle_to_retry(trial);
}

double ComposedSearcher::progress() const noexcept {
  return gave_up() ? 1.0 : policy_->progress();
}

void ComposedSearcher::on_event(const engine::SearchEvent& event) {
  std::visit(Listener{*this}, event);
}

}  // namespace hpsearch::searchers
