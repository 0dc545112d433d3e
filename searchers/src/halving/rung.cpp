#include "hpsearch/searchers/rung.hpp"

#include <algorithm>
#include <limits>

#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::searchers {

using engine::Score;

Rung::Result Rung::at(Arrival arrival) const noexcept {
  const Entered& entered = results_[arrival];
  return Result{entered.score, engine::TrialNumber(entered.trial), entered.below, standings_[arrival]};
}

Rung::Arrival Rung::enter(const Result& result) {
  HPSEARCH_CHECK(results_.size() < none && result.trial.number() <= UINT32_MAX,
                 "a rung holds fewer than 2^32 results");
  const auto arrival = static_cast<Arrival>(results_.size());
  const std::uint64_t kept = keep();
  results_.push_back({result.score, static_cast<std::uint32_t>(result.trial.number()), result.below});
  standings_.push_back(result.standing);
  knows_latest_rank_ = result.standing != Standing::gone;
  if (knows_latest_rank_) {
    latest_rank_ = ranked_.insert(place_of(arrival), result.standing == Standing::waiting);
  }
  if (result.standing == Standing::waiting) {
    ++waiting_;
  } else if (result.standing == Standing::dead) {
    HPSEARCH_CHECK(result.score.is_worst() && ties_ == Ties::earlier_first, "the dead rank last, in order");
    dead_.push_back(arrival);
  }
  // Most results are not among the best, and the best are then who they were.
  if (knows_latest_rank_ && (latest_rank_ < keep() || keep() != kept)) {
    look_at_the_best();
  }
  return arrival;
}

void Rung::move_to(Arrival arrival, Standing standing) {
  HPSEARCH_CHECK(standing != Standing::waiting && standing != Standing::dead,
                 "a result enters that way only");
  const Standing before = standings_[arrival];
  if (before == standing || before == Standing::gone) {
    return;
  }
  standings_[arrival] = standing;
  if (before == Standing::waiting) {
    --waiting_;
  }
  if (standing == Standing::gone) {
    ranked_.erase(place_of(arrival));
    knows_latest_rank_ = false;
  } else if (before == Standing::waiting) {
    ranked_.unmark(place_of(arrival));
  }
  drop_stale_dead();
  look_at_the_best();
}

void Rung::look_at_the_best() noexcept {
  cutoff_ = keep() > 0 ? ranked_.nth(keep() - 1).score : Score::worst();
  promotable_.reset();
  const std::optional<RankedList::Marked> best = ranked_.first_marked();
  if (best && best->rank < keep()) {
    promotable_ = tie_of(best->place.tie);
  }
}

void Rung::drop_stale_dead() noexcept {
  while (first_dead_ < dead_.size() && standings_[dead_[first_dead_]] != Standing::dead) {
    ++first_dead_;
  }
  if (first_dead_ == dead_.size()) {
    dead_.clear();
    first_dead_ = 0;
  }
}

std::vector<Rung::Arrival> Rung::in_order() const {
  std::vector<Arrival> arrivals;
  for (const Place& place : ranked_.places()) {
    arrivals.push_back(tie_of(place.tie));
  }
  return arrivals;
}

std::uint64_t Rung::rank_of(Arrival arrival) const noexcept {
  if (knows_latest_rank_ && arrival + std::size_t{1} == results_.size()) {
    return latest_rank_;
  }
  return ranked_.rank_of(place_of(arrival));
}

std::optional<Score> Rung::cutoff(std::uint64_t keep) const noexcept {
  if (keep == 0 || keep > size()) {
    return std::nullopt;
  }
  return keep == this->keep() ? cutoff_ : ranked_.nth(keep - 1).score;
}

bool Rung::is_promotable(Arrival arrival) const noexcept {
  return standings_[arrival] == Standing::waiting && rank_of(arrival) < keep();
}

std::uint64_t Rung::promotable_before(std::uint64_t rank) const noexcept {
  const std::uint64_t end = std::min(rank, keep());
  if (!promotable_ || end == 0) {
    return 0;
  }
  // keep() is less than size(), as divisors are greater than 1: there is a first one that is not counted.
  const Place first_out = ranked_.nth(end);
  std::uint64_t before = 0;
  for (Arrival arrival = 0; arrival < results_.size(); ++arrival) {
    before += standings_[arrival] == Standing::waiting && place_of(arrival) < first_out ? 1U : 0U;
  }
  return before;
}

std::optional<Rung::Arrival> Rung::promotable_dead() const noexcept {
  if (first_dead_ == dead_.size() || rank_of(dead_[first_dead_]) >= keep()) {
    return std::nullopt;
  }
  return dead_[first_dead_];
}

std::vector<Rung::Arrival> Rung::close_out() {
  std::vector<Arrival> closed;
  for (std::size_t i = first_dead_; i < dead_.size(); ++i) {
    if (standings_[dead_[i]] == Standing::dead) {
      standings_[dead_[i]] = Standing::settled;
    }
  }
  dead_.clear();
  first_dead_ = 0;
  if (waiting_ == 0) {
    return closed;
  }
  const std::uint64_t kept = keep();
  const std::optional<Place> first_out = kept < size() ? std::optional(ranked_.nth(kept)) : std::nullopt;
  for (Arrival arrival = 0; arrival < results_.size() && first_out; ++arrival) {
    if (standings_[arrival] == Standing::waiting && !(place_of(arrival) < *first_out)) {
      standings_[arrival] = Standing::settled;
      closed.push_back(arrival);
    }
  }
  ranked_.unmark_from(kept);
  waiting_ -= closed.size();
  return closed;
}

}  // namespace hpsearch::searchers
