#include "hpsearch/searchers/flat.hpp"

#include <algorithm>
#include <utility>

#include "halving/progress.hpp"
#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::searchers {

using engine::Reason;
using engine::TrialNumber;
using engine::Units;

Flat::Flat(engine::Cardinality trials, Units max_length, InvalidTrials invalid,
           std::optional<StoppingRules> rules) noexcept
    : max_length_(max_length),
      quota_(trials, invalid == InvalidTrials::are_replaced),
      rules_(std::move(rules)) {
}

Work Flat::next() const {
  if (quota_.needs_more()) {
    return NewTrial{{&max_length_, 1}, because(quota_.why_next())};
  }
  if (is_over()) {
    return Over{};
  }
  return engine::NothingNow{};
}

engine::Verdict Flat::verdict(TrialNumber trial) const {
  return engine::Verdict{engine::Verdict::Action::stop, Units{}, standing(trial)};
}

std::optional<Reason> Flat::early_stop(TrialNumber trial) const {
  return rules_ ? rules_->early_stop(trial) : std::nullopt;
}

Reason Flat::standing(TrialNumber /*trial*/) const {
  return because(Reason::Why::max_length);
}

void Flat::on_created(Units /*length*/) {
  open_.emplace_hint(open_.end(), TrialNumber(quota_.created_so_far()), Open{});
  quota_.created();
}

void Flat::on_promoted(TrialNumber /*trial*/) {
  HPSEARCH_CHECK(false, "no trial of a flat search is ever promoted");
}

void Flat::on_reported(TrialNumber trial, Units step, engine::Score score) {
  const auto found = open_.find(trial);
  if (found == open_.end()) {
    return;
  }
  if (rules_ && !found->second.reached) {
    rules_->on_reported(trial, step, score);
  }
  train_to(found->second, engine::count(step));
  update_progress();
}

bool Flat::on_validated(TrialNumber trial, engine::Score /*score*/) {
  const auto found = open_.find(trial);
  if (found == open_.end() || found->second.reached) {
    return false;
  }
  train_to(found->second, engine::count(max_length_));
  found->second.reached = true;
  ++reached_;
  update_progress();
  return true;
}

bool Flat::on_exited(TrialNumber trial, engine::ExitReason reason) {
  const auto found = open_.find(trial);
  if (found == open_.end()) {
    return false;
  }
  if (reason == engine::ExitReason::invalid_hp) {
    quota_.invalid();
  }
  if (rules_) {
    rules_->on_exited(trial, reason);
  }
  end(found);
  return true;
}

bool Flat::on_closed(TrialNumber trial) {
  const auto found = open_.find(trial);
  if (found == open_.end()) {
    return false;
  }
  if (rules_) {
    rules_->on_closed(trial);
  }
  end(found);
  return true;
}

bool Flat::on_retried(TrialNumber trial) {
  if (trial.number() >= quota_.created_so_far() || !open_.try_emplace(trial).second) {
    return false;
  }
  update_progress();
  return true;
}

std::string Flat::obstacle_to_retry(TrialNumber /*trial*/) const {
  return "";
}

void Flat::on_no_more_trials() {
  quota_.close();
  update_progress();
}

void Flat::on_max_trials(engine::Cardinality trials) {
  quota_.change_limit(trials);
  update_progress();
}

void Flat::end(std::map<TrialNumber, Open>::iterator trial) {
  trained_ -= trial->second.trained;
  if (trial->second.reached) {
    --reached_;
  }
  open_.erase(trial);
  update_progress();
}

void Flat::train_to(Open& trial, std::uint64_t step) {
  const std::uint64_t trained =
      std::clamp(step, trial.trained, std::max(trial.trained, engine::count(max_length_)));
  trained_ += trained - trial.trained;
  trial.trained = trained;
}

void Flat::update_progress() noexcept {
  if (is_over()) {
    progress_ = 1;
    return;
  }
  if (progress_ == 1) {  // It was over, and then more trials were wanted.
    progress_ = 0;
  }
  const double ended = static_cast<double>(quota_.counting() - open_.size());
  const double under_way = static_cast<double>(trained_) / static_cast<double>(engine::count(max_length_));
  progress_ = advanced(progress_, (ended + under_way) / static_cast<double>(quota_.planned()));
}

}  // namespace hpsearch::searchers
