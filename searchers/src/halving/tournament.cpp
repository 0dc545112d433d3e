#include "hpsearch/searchers/tournament.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "halving/progress.hpp"
#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::searchers {

using engine::PromoteTrial;
using engine::Reason;
using engine::TrialNumber;
using engine::Units;
using engine::Verdict;

namespace {

bool is_work(const Work& work) noexcept {
  return std::holds_alternative<NewTrial>(work) || std::holds_alternative<PromoteTrial>(work);
}

std::uint32_t index(std::size_t bracket) noexcept {
  return static_cast<std::uint32_t>(bracket);
}

}  // namespace

std::uint64_t Tournament::share(std::uint64_t slots, std::uint64_t brackets, std::uint64_t bracket) noexcept {
  if (slots < brackets) {
    return 0;
  }
  return slots / brackets + (bracket < slots % brackets ? 1U : 0U);
}

Tournament::Tournament(const std::vector<BracketPlan>& plan, Makers makers, std::uint64_t slots)
    : makers_(std::move(makers)), slots_(slots) {
  HPSEARCH_CHECK(!plan.empty(), "a tournament has at least one bracket");
  for (const BracketPlan& planned : plan) {
    Bracket bracket;
    bracket.policy = makers_.bracket(planned);
    bracket.rungs = planned.rungs;
    bracket.share = share(slots, plan.size(), brackets_.size());
    brackets_.push_back(std::move(bracket));
  }
}

Tournament::Turn Tournament::turn_of(const Bracket& bracket) noexcept {
  return {bracket.share, bracket.pulls, bracket.policy->outstanding()};
}

bool Tournament::goes_before(const Turn& a, const Turn& b) noexcept {
  if (a.share == 0) {
    return a.pulls < b.pulls;
  }
  const std::uint64_t of_a = a.outstanding;
  const std::uint64_t of_b = b.outstanding;
  if (of_a < a.share || of_b < b.share) {
    return of_a < a.share && of_b >= b.share;  // Below their shares, the first in order goes first.
  }
  return of_a - a.share < of_b - b.share;
}

Tournament::Pick Tournament::pick() const {
  Pick best{0, Over{}};
  bool found = false;
  for (std::size_t i = 0; i < brackets_.size(); ++i) {
    Work work = brackets_[i].policy->next();
    if (is_work(work)) {
      if (!found || goes_before(turn_of(brackets_[i]), turn_of(brackets_[best.bracket]))) {
        best = Pick{i, std::move(work)};
        found = true;
      }
    } else if (!found && std::holds_alternative<engine::NothingNow>(work)) {
      best.work = engine::NothingNow{};
    }
  }
  return best;
}

Work Tournament::next() const {
  Pick picked = pick();
  if (auto* created = std::get_if<NewTrial>(&picked.work)) {
    created->reason.bracket = index(picked.bracket);
  } else if (auto* promoted = std::get_if<PromoteTrial>(&picked.work)) {
    promoted->trial = brackets_[picked.bracket].trial(promoted->trial);
    promoted->reason.bracket = index(picked.bracket);
  }
  return std::move(picked.work);
}

const Tournament::Member& Tournament::member(TrialNumber trial) const {
  HPSEARCH_CHECK(trial.number() < members_.size(), "only trials that were created are spoken of");
  return members_[trial.number()];
}

Tournament::Bracket& Tournament::bracket_with(TrialNumber trial) {
  return brackets_[member(trial).bracket];
}

std::vector<engine::BracketStanding> Tournament::brackets() const {
  std::vector<engine::BracketStanding> all;
  for (const Bracket& bracket : brackets_) {
    for (engine::BracketStanding& standing : bracket.policy->brackets()) {
      for (engine::RungStanding& rung : standing.rungs) {
        for (engine::RungResult& result : rung.results) {
          result.trial = bracket.trial(result.trial);
        }
        for (TrialNumber& training : rung.training) {
          training = bracket.trial(training);
        }
      }
      all.push_back(std::move(standing));
    }
  }
  return all;
}

std::optional<std::uint32_t> Tournament::bracket_of(TrialNumber trial) const {
  return member(trial).bracket;
}

Verdict Tournament::verdict(TrialNumber trial) const {
  const Member& known = member(trial);
  Verdict verdict = brackets_[known.bracket].policy->verdict(known.number());
  verdict.reason.bracket = known.bracket;
  return verdict;
}

Reason Tournament::standing(TrialNumber trial) const {
  const Member& known = member(trial);
  Reason reason = brackets_[known.bracket].policy->standing(known.number());
  reason.bracket = known.bracket;
  return reason;
}

engine::Outlook Tournament::outlook(TrialNumber trial) const {
  const Member& known = member(trial);
  engine::Outlook outlook = brackets_[known.bracket].policy->outlook(known.number());
  if (outlook.ahead) {
    outlook.ahead = given_before(known.bracket, *outlook.ahead + 1);
  }
  return outlook;
}

std::uint64_t Tournament::given_before(std::size_t bracket, std::uint64_t nth) const {
  using engine::Cardinality;
  const auto excess = [](std::uint64_t many, std::uint64_t few) -> Cardinality {
    return many > few ? many - few : 0;
  };
  // As pick() picks: first, in order of brackets, what is below a share; then by how much more than its share
  // a bracket has, or by how often it had its turn where there are no shares.
  const Turn its = turn_of(brackets_[bracket]);
  const Cardinality its_below = excess(its.share, its.outstanding);
  const bool is_below = nth <= its_below;
  const Cardinality its_rank =
      its.share == 0 ? Cardinality{its.pulls} + nth - 1
                     : excess(its.outstanding, its.share) + nth - 1 - (is_below ? nth - 1 : its_below);
  Cardinality given = nth - 1;
  for (std::size_t i = 0; i < brackets_.size(); ++i) {
    if (i == bracket) {
      continue;
    }
    const Turn turn = turn_of(brackets_[i]);
    const Cardinality left = brackets_[i].policy->at_hand();
    const Cardinality below = std::min(left, excess(turn.share, turn.outstanding));
    if (is_below) {
      given += i < bracket ? below : 0;
      continue;
    }
    const Cardinality first =
        turn.share == 0 ? Cardinality{turn.pulls} : excess(turn.outstanding, turn.share);
    const Cardinality up_to =
        its_rank + (i < bracket ? 1 : 0);  // Brackets of the same rank go in their order.
    given += below + std::min(left - below, up_to > first ? up_to - first : 0);
  }
  return static_cast<std::uint64_t>(std::min<Cardinality>(given, UINT64_MAX));
}

engine::Cardinality Tournament::at_hand() const {
  engine::Cardinality work = 0;
  for (const Bracket& bracket : brackets_) {
    work += bracket.policy->at_hand();
  }
  return work;
}

std::size_t Tournament::creator() const {
  const Pick picked = pick();
  if (std::holds_alternative<NewTrial>(picked.work)) {
    return picked.bracket;
  }
  // A log may hold what another rule decided: the trial then belongs to the first that wants one, or to the
  // first of all.
  const auto wants = std::find_if(brackets_.begin(), brackets_.end(), [](const Bracket& bracket) {
    return std::holds_alternative<NewTrial>(bracket.policy->next());
  });
  return wants == brackets_.end() ? 0 : static_cast<std::size_t>(wants - brackets_.begin());
}

void Tournament::on_created(Units length) {
  const std::size_t chosen = creator();
  Bracket& bracket = brackets_[chosen];
  HPSEARCH_CHECK(members_.size() < UINT32_MAX, "fewer than 2^32 trials fit any memory");
  members_.push_back(Member{index(chosen), static_cast<std::uint32_t>(bracket.trials.size())});
  bracket.trials.push_back(static_cast<std::uint32_t>(members_.size() - 1));
  ++bracket.pulls;
  bracket.policy->on_created(length);
  reporter_.reset();
}

void Tournament::on_promoted(TrialNumber trial) {
  Bracket& bracket = bracket_with(trial);
  if (reporter_ != trial) {  // In place it costs no slot that another bracket could have had.
    ++bracket.pulls;
  }
  bracket.policy->on_promoted(member(trial).number());
  take_over_closable(bracket);
  reporter_.reset();
}

void Tournament::on_reported(TrialNumber trial, Units step, engine::Score score) {
  bracket_with(trial).policy->on_reported(member(trial).number(), step, score);
  update_progress();
}

bool Tournament::on_validated(TrialNumber trial, engine::Score score) {
  Bracket& bracket = bracket_with(trial);
  if (!bracket.policy->on_validated(member(trial).number(), score)) {
    return false;
  }
  take_over_closable(bracket);
  update_progress();
  reporter_ = trial;
  return true;
}

bool Tournament::on_exited(TrialNumber trial, engine::ExitReason reason) {
  not_closable(trial);
  Bracket& bracket = bracket_with(trial);
  if (!bracket.policy->on_exited(member(trial).number(), reason)) {
    return false;
  }
  take_over_closable(bracket);
  reporter_.reset();
  if (max_trials_ && reason == engine::ExitReason::invalid_hp) {
    share_out_trials();
  }
  update_progress();
  return true;
}

bool Tournament::on_closed(TrialNumber trial) {
  not_closable(trial);
  Bracket& bracket = bracket_with(trial);
  if (!bracket.policy->on_closed(member(trial).number())) {
    return false;
  }
  take_over_closable(bracket);
  reporter_.reset();
  update_progress();
  return true;
}

std::string Tournament::obstacle_to_retry(TrialNumber trial) const {
  const Member& known = member(trial);
  return brackets_[known.bracket].policy->obstacle_to_retry(known.number());
}

bool Tournament::on_retried(TrialNumber trial) {
  Bracket& bracket = bracket_with(trial);
  if (!bracket.policy->on_retried(member(trial).number())) {
    return false;
  }
  take_over_closable(bracket);
  reporter_.reset();
  update_progress();
  return true;
}

void Tournament::on_no_more_trials() {
  for (Bracket& bracket : brackets_) {
    bracket.policy->on_no_more_trials();
    take_over_closable(bracket);
  }
  update_progress();
}

void Tournament::on_more_configurations() {
  for (Bracket& bracket : brackets_) {
    bracket.policy->on_more_configurations();
  }
}

void Tournament::on_max_concurrent_trials(std::uint64_t slots) {
  slots_ = slots;
  for (std::size_t bracket = 0; bracket < brackets_.size(); ++bracket) {
    brackets_[bracket].share = share(slots, brackets_.size(), bracket);
  }
}

void Tournament::on_max_trials(engine::Cardinality trials) {
  max_trials_ = static_cast<std::uint64_t>(std::min<engine::Cardinality>(trials, UINT64_MAX));
  share_out_trials();
  update_progress();
}

/// Brackets that have more than their share of max_trials_ keep what they have, and the others share the
/// rest, until all of those have at most their share. With less to share than there is, no bracket gets more.
void Tournament::share_out_trials() {
  std::vector<std::uint64_t> limits(brackets_.size(), 0);
  std::uint64_t left = *max_trials_;
  if (left <= counting()) {
    for (std::size_t b = 0; b < brackets_.size(); ++b) {
      limits[b] = std::min(left, brackets_[b].policy->counting());
      left -= limits[b];
    }
  } else {
    std::vector<std::size_t> sharing(brackets_.size());
    std::iota(sharing.begin(), sharing.end(), std::size_t{0});
    for (bool again = true; again;) {
      again = false;
      std::vector<std::uint64_t> shares(sharing.size(), 0);
      if (left >= sharing.size()) {
        std::vector<std::uint64_t> rungs;
        for (const std::size_t b : sharing) {
          rungs.push_back(brackets_[b].rungs);
        }
        shares = makers_.shares(left, rungs);
      } else {
        std::fill_n(shares.begin(), left, 1);
      }
      std::vector<std::size_t> below;
      for (std::size_t i = 0; i < sharing.size(); ++i) {
        const std::uint64_t has = brackets_[sharing[i]].policy->counting();
        limits[sharing[i]] = std::max(has, shares[i]);
        if (has <= shares[i]) {
          below.push_back(sharing[i]);
        } else {
          left -= has;
          again = true;
        }
      }
      sharing = std::move(below);
    }
  }
  for (std::size_t b = 0; b < brackets_.size(); ++b) {
    brackets_[b].policy->on_max_trials(limits[b]);
    take_over_closable(brackets_[b]);
  }
}

std::uint64_t Tournament::counting() const noexcept {
  std::uint64_t sum = 0;
  for (const Bracket& bracket : brackets_) {
    sum += bracket.policy->counting();
  }
  return sum;
}

std::uint64_t Tournament::outstanding() const noexcept {
  std::uint64_t sum = 0;
  for (const Bracket& bracket : brackets_) {
    sum += bracket.policy->outstanding();
  }
  return sum;
}

void Tournament::update_progress() noexcept {
  double sum = 0;
  bool over = true;
  for (const Bracket& bracket : brackets_) {
    const double its = bracket.policy->progress();
    sum += its;
    over = over && its == 1;
  }
  if (progress_ == 1 && !over) {  // It was over, and then more trials were wanted.
    progress_ = 0;
  }
  progress_ = over ? 1 : advanced(progress_, sum / static_cast<double>(brackets_.size()));
}

void Tournament::not_closable(TrialNumber trial) {
  if (closable_.remove(trial)) {
    --bracket_with(trial).closable;
  }
}

void Tournament::take_over_closable(Bracket& bracket) {
  const std::span<const TrialNumber> named = bracket.policy->closable();
  if (named.size() == bracket.closable) {
    return;
  }
  std::vector<TrialNumber> all;
  all.reserve(named.size());
  for (const TrialNumber number : named) {
    all.push_back(bracket.trial(number));
  }
  const std::span<const TrialNumber> known = closable_.view();
  std::vector<TrialNumber> fresh;
  std::set_difference(all.begin(), all.end(), known.begin(), known.end(), std::back_inserter(fresh));
  closable_.add(std::move(fresh));
  bracket.closable = named.size();
}

}  // namespace hpsearch::searchers
