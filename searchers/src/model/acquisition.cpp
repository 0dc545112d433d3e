#include "acquisition.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "model/numeric/normal.hpp"

namespace hpsearch::searchers::model {

double log_improvement(const Posterior::Prediction& expected, double best) noexcept {
  const double deviation = std::sqrt(expected.variance);
  return std::log(deviation) + log_mean_improvement((expected.mean - best) / deviation);
}

void Picks::take(Posterior& posterior, const Candidates& candidates, std::size_t keep, bool prune) {
  constexpr std::size_t block = 24;
  std::vector<double> means;
  std::vector<double> variances;
  posterior.consider(candidates.points(), means, variances);
  std::vector<double> bounds(means.size());
  for (std::size_t i = 0; i < means.size(); ++i) {
    bounds[i] = log_improvement({means[i], variances[i]}, best_);
  }
  std::vector<std::size_t> order(means.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return bounds[a] > bounds[b]; });
  std::vector<double> exact(block);
  for (std::size_t from = 0; from < order.size(); from += block) {
    if (prune && picks_.size() >= keep && picks_[keep - 1].score >= bounds[order[from]]) {
      break;
    }
    const auto which = std::span(order).subspan(from, std::min(block, order.size() - from));
    posterior.variances(which, exact);
    computed_ += which.size();
    for (std::size_t i = 0; i < which.size(); ++i) {
      const Posterior::Prediction expected{means[which[i]], exact[i]};
      const double score = log_improvement(expected, best_);
      if (!(score - score == 0) || (picks_.size() >= keep && picks_[keep - 1].score >= score)) {
        continue;
      }
      const auto behind = std::upper_bound(picks_.begin(), picks_.end(), score,
                                           [](double mine, const Pick& other) { return mine > other.score; });
      const auto place = candidates.place(which[i]);
      picks_.insert(behind, {score, expected, {place.begin(), place.end()}});
      if (picks_.size() > keep) {
        picks_.resize(keep);
      }
    }
  }
  if (picks_.size() > keep) {
    picks_.resize(keep);
  }
}

}  // namespace hpsearch::searchers::model
