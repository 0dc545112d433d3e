#include "rows.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <tuple>

#include "hpsearch/engine/base/draw.hpp"

namespace hpsearch::searchers::model {

namespace {

// The first `most` of a shuffle.
void draw_some(std::vector<std::size_t>& things, std::size_t most, engine::Draw draw) {
  most = std::min(most, things.size());
  for (std::size_t i = 0; i < most; ++i) {
    std::swap(things[i], things[i + draw.below(things.size() - i)]);
  }
  things.resize(most);
}

constexpr std::size_t room_before_choosing = 32;

}  // namespace

RowPlan::RowPlan(std::uint64_t seed, std::size_t initial_results, std::size_t size)
    : seed_(seed), initial_results_(initial_results), size_(size) {
}

RowPlan::Fit RowPlan::fit_at(std::size_t results) const {
  if (results < initial_results_) {
    return {};
  }
  Fit fit{1, initial_results_};
  for (;;) {
    const std::size_t next = fit.count + std::max<std::size_t>(8, fit.count / 20);
    if (next > results) {
      return fit;
    }
    fit = {fit.index + 1, next};
  }
}

std::size_t RowPlan::chosen_of(std::size_t count) const noexcept {
  return count + room_before_choosing <= size_ ? count : std::min(count, size_ / 4 * 3);
}

std::size_t RowPlan::chosen_at(std::size_t results) const {
  std::size_t count = fit_at(results).count;
  for (;;) {
    const std::size_t next = count + size_ - std::min(size_, chosen_of(count)) + 1;
    if (next > results) {
      return count;
    }
    count = next;
  }
}

std::vector<std::size_t> RowPlan::choose(const History& history, std::size_t count) const {
  std::vector<std::size_t> rows(count);
  std::iota(rows.begin(), rows.end(), 0U);
  const std::size_t wanted = chosen_of(count);
  if (wanted == count) {
    return rows;
  }
  const std::vector<double> latest = history.latest(count);
  const auto place = [&](std::size_t row) {
    const std::uint64_t trial = history.results()[row].trial.number();
    return std::tuple(-latest[trial], trial, row);
  };
  const std::size_t best = wanted * 3 / 5;
  const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(best);
  std::nth_element(rows.begin(), middle, rows.end(),
                   [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  std::vector<std::size_t> rest(middle, rows.end());
  std::sort(rest.begin(), rest.end());
  draw_some(rest, wanted - best, engine::Draw(seed_, engine::TrialNumber(count), "model.subset"));
  rows.resize(best);
  rows.insert(rows.end(), rest.begin(), rest.end());
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::vector<std::size_t> RowPlan::thin(std::vector<std::size_t> rows, std::size_t most,
                                       std::size_t count) const {
  if (rows.size() > most) {
    draw_some(rows, most, engine::Draw(seed_, engine::TrialNumber(count), "model.fit"));
    std::sort(rows.begin(), rows.end());
  }
  return rows;
}

}  // namespace hpsearch::searchers::model
