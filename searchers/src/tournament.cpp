#include "hpsearch/searchers/tournament.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "hpsearch/engine/base/check.hpp"
#include "saved.hpp"

namespace hpsearch::searchers {

using engine::PromoteTrial;
using engine::Reason;
using engine::TrialNumber;
using engine::Units;
using engine::Value;
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

Tournament::Tournament(std::vector<std::unique_ptr<Schedule>> brackets, std::uint64_t slots) {
  HPSEARCH_CHECK(!brackets.empty(), "a tournament has at least one bracket");
  for (std::unique_ptr<Schedule>& schedule : brackets) {
    Bracket bracket;
    bracket.share = share(slots, brackets.size(), brackets_.size());
    bracket.schedule = std::move(schedule);
    brackets_.push_back(std::move(bracket));
  }
}

bool Tournament::goes_before(const Bracket& a, const Bracket& b) const noexcept {
  if (a.share == 0) {
    return a.pulls < b.pulls;
  }
  const std::uint64_t of_a = a.schedule->outstanding();
  const std::uint64_t of_b = b.schedule->outstanding();
  if (of_a < a.share || of_b < b.share) {
    return of_a < a.share && of_b >= b.share;  // Below their shares, the first in order goes first.
  }
  return of_a - a.share < of_b - b.share;
}

Tournament::Pick Tournament::pick() const {
  Pick best{0, Over{}};
  bool found = false;
  for (std::size_t i = 0; i < brackets_.size(); ++i) {
    Work work = brackets_[i].schedule->next();
    if (is_work(work)) {
      if (!found || goes_before(brackets_[i], brackets_[best.bracket])) {
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
    promoted->trial = brackets_[picked.bracket].trials[promoted->trial.number()];
    promoted->reason.bracket = index(picked.bracket);
  }
  return std::move(picked.work);
}

const Tournament::Member& Tournament::member(TrialNumber trial) const {
  HPSEARCH_CHECK(trial.number() < members_.size(), "only trials that were created are spoken of");
  return members_[trial.number()];
}

Tournament::Bracket& Tournament::bracket_of(TrialNumber trial) {
  return brackets_[member(trial).bracket];
}

Verdict Tournament::verdict(TrialNumber trial) const {
  const Member& known = member(trial);
  Verdict verdict = brackets_[known.bracket].schedule->verdict(known.number);
  verdict.reason.bracket = known.bracket;
  return verdict;
}

Reason Tournament::standing(TrialNumber trial) const {
  const Member& known = member(trial);
  Reason reason = brackets_[known.bracket].schedule->standing(known.number);
  reason.bracket = known.bracket;
  return reason;
}

std::size_t Tournament::creator() const {
  const Pick picked = pick();
  if (std::holds_alternative<NewTrial>(picked.work)) {
    return picked.bracket;
  }
  // A log may hold what another rule decided: the trial then belongs to the first that wants one.
  const auto wants = std::find_if(brackets_.begin(), brackets_.end(), [](const Bracket& bracket) {
    return std::holds_alternative<NewTrial>(bracket.schedule->next());
  });
  HPSEARCH_CHECK(wants != brackets_.end(), "a trial is created only when a bracket wants one");
  return static_cast<std::size_t>(wants - brackets_.begin());
}

void Tournament::hear_created() {
  const std::size_t chosen = creator();
  Bracket& bracket = brackets_[chosen];
  members_.push_back(Member{index(chosen), TrialNumber(bracket.trials.size())});
  bracket.trials.push_back(TrialNumber(members_.size() - 1));
  ++bracket.pulls;
  bracket.schedule->hear_created();
  reporter_.reset();
}

void Tournament::hear_promoted(TrialNumber trial) {
  Bracket& bracket = bracket_of(trial);
  if (reporter_ != trial) {  // In place it costs no slot that another bracket could have had.
    ++bracket.pulls;
  }
  bracket.schedule->hear_promoted(member(trial).number);
  take_over_closable(bracket);
  reporter_.reset();
}

void Tournament::hear_reported(TrialNumber trial, Units step) {
  bracket_of(trial).schedule->hear_reported(member(trial).number, step);
}

void Tournament::hear_validated(TrialNumber trial, engine::Score score) {
  Bracket& bracket = bracket_of(trial);
  bracket.schedule->hear_validated(member(trial).number, score);
  take_over_closable(bracket);
  reporter_ = trial;
}

bool Tournament::hear_exited(TrialNumber trial, engine::ExitReason reason) {
  not_closable(trial);
  Bracket& bracket = bracket_of(trial);
  const bool had_not_ended = bracket.schedule->hear_exited(member(trial).number, reason);
  take_over_closable(bracket);
  reporter_.reset();
  return had_not_ended;
}

void Tournament::hear_closed(TrialNumber trial) {
  not_closable(trial);
  Bracket& bracket = bracket_of(trial);
  bracket.schedule->hear_closed(member(trial).number);
  take_over_closable(bracket);
  reporter_.reset();
}

void Tournament::hear_no_more_trials() {
  for (Bracket& bracket : brackets_) {
    bracket.schedule->hear_no_more_trials();
    take_over_closable(bracket);
  }
}

std::uint64_t Tournament::outstanding() const noexcept {
  std::uint64_t sum = 0;
  for (const Bracket& bracket : brackets_) {
    sum += bracket.schedule->outstanding();
  }
  return sum;
}

double Tournament::progress() const noexcept {
  double sum = 0;  // In a fixed order: each summand only grows, so the rounded sum never shrinks.
  for (const Bracket& bracket : brackets_) {
    sum += bracket.schedule->progress();
  }
  return sum / static_cast<double>(brackets_.size());
}

void Tournament::not_closable(TrialNumber trial) {
  if (closable_.remove(trial)) {
    --bracket_of(trial).closable;
  }
}

void Tournament::take_over_closable(Bracket& bracket) {
  const std::span<const TrialNumber> named = bracket.schedule->closable();
  if (named.size() == bracket.closable) {
    return;
  }
  std::vector<TrialNumber> all;
  all.reserve(named.size());
  for (const TrialNumber number : named) {
    all.push_back(bracket.trials[number.number()]);
  }
  const std::span<const TrialNumber> known = closable_.view();
  std::vector<TrialNumber> fresh;
  std::set_difference(all.begin(), all.end(), known.begin(), known.end(), std::back_inserter(fresh));
  closable_.add(std::move(fresh));
  bracket.closable = named.size();
}

Value Tournament::save() const {
  Value::List brackets;
  for (const Bracket& bracket : brackets_) {
    brackets.push_back(Value::List{saved_count(bracket.pulls), bracket.schedule->save()});
  }
  Value::List members;
  members.reserve(members_.size());
  for (const Member& known : members_) {
    members.push_back(saved_count(known.bracket));
  }
  return Value::Map{{"kind", "tournament"},
                    {"brackets", std::move(brackets)},
                    {"members", std::move(members)},
                    {"reporter", reporter_ ? saved_count(reporter_->number()) : Value()}};
}

engine::Status Tournament::load(const Value& saved) {
  SavedMap map(saved, "tournament");
  const Value::List& saved_brackets = map.list("brackets");
  const Value::List& saved_members = map.list("members");
  const Value& saved_reporter = map.value("reporter");
  if (!map.good() || saved_brackets.size() != brackets_.size()) {
    return corrupt("the state of a tournament is malformed");
  }

  std::vector<Member> members;
  std::vector<std::vector<TrialNumber>> trials(brackets_.size());
  for (const Value& entry : saved_members) {
    const std::int64_t* bracket = entry.as_integer();
    if (bracket == nullptr || *bracket < 0 || static_cast<std::uint64_t>(*bracket) >= brackets_.size()) {
      return corrupt("a trial is in no bracket");
    }
    std::vector<TrialNumber>& its = trials[static_cast<std::size_t>(*bracket)];
    its.push_back(TrialNumber(members.size()));
    members.push_back(Member{static_cast<std::uint32_t>(*bracket), TrialNumber(its.size() - 1)});
  }
  std::optional<TrialNumber> reporter;
  if (!saved_reporter.is_null()) {
    const std::int64_t* number = saved_reporter.as_integer();
    if (number == nullptr || *number < 0 || static_cast<std::uint64_t>(*number) >= members.size()) {
      return corrupt("its reporter is no trial");
    }
    reporter = TrialNumber(static_cast<std::uint64_t>(*number));
  }
  std::vector<std::uint64_t> pulls;
  for (const Value& entry : saved_brackets) {
    const Value::List* row = entry.as_list();
    const std::int64_t* count = row != nullptr && row->size() == 2 ? (*row)[0].as_integer() : nullptr;
    if (count == nullptr || *count < 0) {
      return corrupt("a bracket is malformed");
    }
    pulls.push_back(static_cast<std::uint64_t>(*count));
  }

  const auto put_back = [this](const std::vector<Value>& before) {
    for (std::size_t i = 0; i < before.size(); ++i) {
      const engine::Status restored = brackets_[i].schedule->load(before[i]);
      HPSEARCH_CHECK(restored.has_value(), "what a schedule saved, it loads");
    }
  };
  std::vector<Value> before;
  for (std::size_t i = 0; i < brackets_.size(); ++i) {
    Schedule& schedule = *brackets_[i].schedule;
    before.push_back(schedule.save());
    engine::Status loaded = schedule.load((*saved_brackets[i].as_list())[1]);
    if (loaded && schedule.created_so_far() != trials[i].size()) {
      loaded = corrupt("a bracket has other trials than the tournament says");
    }
    if (!loaded) {
      put_back(before);
      return loaded;
    }
  }

  members_ = std::move(members);
  reporter_ = reporter;
  closable_ = ClosableList();
  for (std::size_t i = 0; i < brackets_.size(); ++i) {
    brackets_[i].pulls = pulls[i];
    brackets_[i].trials = std::move(trials[i]);
    brackets_[i].closable = 0;
    take_over_closable(brackets_[i]);
  }
  return engine::Done{};
}

}  // namespace hpsearch::searchers
