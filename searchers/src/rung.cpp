#include "hpsearch/searchers/rung.hpp"

#include <algorithm>
#include <utility>

#include "hpsearch/engine/base/check.hpp"
#include "saved.hpp"

namespace hpsearch::searchers {

using engine::Score;
using engine::Value;

Place Rung::place_of(Arrival arrival) const noexcept {
  return Place{results_[arrival].score, ties_ == Ties::earlier_first ? arrival : ~arrival};
}

void Rung::push(Heap& heap, Arrival arrival) {
  heap.push_back(arrival);
  std::push_heap(heap.begin(), heap.end(),
                 [this](Arrival a, Arrival b) { return place_of(b) < place_of(a); });
}

void Rung::drop_stale(Heap& heap, Standing standing) {
  while (!heap.empty() && results_[heap.front()].standing != standing) {
    std::pop_heap(heap.begin(), heap.end(),
                  [this](Arrival a, Arrival b) { return place_of(b) < place_of(a); });
    heap.pop_back();
  }
}

Rung::Arrival Rung::enter(const Result& result) {
  const Arrival arrival = results_.size();
  results_.push_back(result);
  if (result.standing != Standing::gone) {
    ranked_.insert(place_of(arrival));
  }
  if (result.standing == Standing::waiting) {
    push(waiting_, arrival);
  } else if (result.standing == Standing::dead) {
    push(dead_, arrival);
  }
  return arrival;
}

void Rung::move_to(Arrival arrival, Standing standing) {
  HPSEARCH_CHECK(standing != Standing::waiting && standing != Standing::dead,
                 "a result enters that way only");
  if (standing == Standing::gone && results_[arrival].standing != Standing::gone) {
    ranked_.erase(place_of(arrival));
  }
  results_[arrival].standing = standing;
  drop_stale(waiting_, Standing::waiting);
  drop_stale(dead_, Standing::dead);
}

std::uint64_t Rung::rank_of(Arrival arrival) const noexcept {
  return ranked_.rank_of(place_of(arrival));
}

std::optional<Score> Rung::cutoff(std::uint64_t keep) const noexcept {
  if (keep == 0 || keep > size()) {
    return std::nullopt;
  }
  return ranked_.nth(keep - 1).score;
}

bool Rung::is_promotable(Arrival arrival) const noexcept {
  return results_[arrival].standing == Standing::waiting && rank_of(arrival) < keep();
}

std::optional<Rung::Arrival> Rung::within_keep(const Heap& heap) const noexcept {
  if (heap.empty() || rank_of(heap.front()) >= keep()) {
    return std::nullopt;
  }
  return heap.front();
}

std::vector<Rung::Arrival> Rung::close_out() {
  std::vector<Arrival> closed;
  for (const Arrival arrival : waiting_) {
    if (results_[arrival].standing == Standing::waiting && !is_promotable(arrival)) {
      closed.push_back(arrival);
    }
  }
  for (const Arrival arrival : closed) {
    results_[arrival].standing = Standing::settled;
  }
  for (const Arrival arrival : dead_) {
    if (results_[arrival].standing == Standing::dead) {
      results_[arrival].standing = Standing::settled;
    }
  }
  dead_.clear();
  Heap waiting;
  std::swap(waiting, waiting_);
  for (const Arrival arrival : waiting) {
    if (results_[arrival].standing == Standing::waiting) {
      push(waiting_, arrival);
    }
  }
  return closed;
}

Value Rung::save() const {
  Value::List results;
  results.reserve(results_.size());
  for (const Result& result : results_) {
    results.push_back(Value::List{
        saved_score(result.score),
        saved_count(result.trial.number()),
        result.below == none ? Value() : saved_count(result.below),
        static_cast<int>(result.standing),
    });
  }
  return results;
}

engine::Result<Rung> Rung::restore(const Value& saved, Divisor divisor, Ties ties) {
  const Value::List* results = saved.as_list();
  if (results == nullptr) {
    return engine::Error{engine::Errc::corrupt, "a saved rung is not a list"};
  }
  Rung rung(divisor, ties);
  for (const Value& entry : *results) {
    SavedRow row(entry, 4);
    const Score score = row.score();
    const std::uint64_t trial = row.count();
    const std::optional<std::uint64_t> below = row.count_or_null();
    const std::uint64_t standing = row.count_below(static_cast<std::uint64_t>(Standing::gone) + 1);
    if (!row.good()) {
      return engine::Error{engine::Errc::corrupt, "a saved result of a rung is malformed"};
    }
    rung.enter(
        Result{score, engine::TrialNumber(trial), below.value_or(none), static_cast<Standing>(standing)});
  }
  return rung;
}

}  // namespace hpsearch::searchers
