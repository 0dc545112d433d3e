#include "hpsearch/searchers/anneal.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/space/levels.hpp"
#include "hpsearch/searchers/ranked_list.hpp"

namespace hpsearch::searchers {

using engine::Draw;
using engine::ExperimentConfig;
using engine::Score;
using engine::TrialNumber;
using engine::Units;
using engine::Value;

namespace {

// As many draws find a free configuration among twice as many taken ones all but once in 700 times.
constexpr int most_draws = 16;

/// Uniform in a window of this width around `middle`, pushed into [0, 1].
double near(double middle, double width, Draw& draw) {
  const double half = width / 2;
  return std::clamp(middle, half, 1 - half) - half + width * draw.unit();
}

/// Moves the coordinates of one parameter and takes them off the front.
struct Move {
  std::span<double>& coordinates;
  double width;
  Draw& draw;

  double& take() const {
    double& first = coordinates.front();
    coordinates = coordinates.subspan(1);
    return first;
  }

  void operator()(const engine::ConstParameter&) const {}
  void operator()(const engine::DoubleParameter& range) const {
    if (range.step) {
      move_levels(engine::Levels(range));
    } else {
      move_real();
    }
  }
  void operator()(const engine::LogParameter&) const { move_real(); }
  void operator()(const engine::IntParameter& range) const { move_levels(engine::Levels(range)); }
  void operator()(const engine::CategoricalParameter& parameter) const {
    if (parameter.ordered && parameter.vals.size() > 2) {
      move_order(parameter.vals.size());
      return;
    }
    const bool anew = draw.unit() < width;
    const std::uint64_t drawn = draw.below(parameter.vals.size());
    for (std::size_t i = 0; i < parameter.vals.size(); ++i) {
      double& here = take();
      if (anew) {
        here = i == drawn ? 1 : 0;
      }
    }
  }

 private:
  void move_real() const {
    double& here = take();
    here = near(here, width, draw);
  }
  void move_levels(const engine::Levels& levels) const {
    double& here = take();
    if (levels.scale() == engine::Scale::log) {
      // As wide as one cell and half of each neighbour, at least.
      const std::uint64_t level = levels.at_unit(here);
      const std::uint64_t above = std::min(level + 1, levels.last());
      const std::uint64_t below = level - (level > 0 ? 1 : 0);
      const double reach = std::max(width, levels.place(above) - levels.place(below));
      here = levels.unit(levels.at(near(levels.place(level), std::min(1.0, reach), draw)));
    } else {
      const auto last = static_cast<double>(levels.last());
      here = level_near(here * last, last) / std::max(last, 1.0);
    }
  }
  /// Neighbours in the list of values are near; one coordinate of each is 1.
  void move_order(std::size_t size) const {
    const std::span<double> values = coordinates.first(size);
    coordinates = coordinates.subspan(size);
    const auto chosen = std::max_element(values.begin(), values.end()) - values.begin();
    const double moved = level_near(static_cast<double>(chosen), static_cast<double>(size - 1));
    std::fill(values.begin(), values.end(), 0.0);
    values[static_cast<std::size_t>(moved)] = 1;
  }
  [[nodiscard]] double level_near(double level, double last) const {
    if (last == 0) {
      return level;
    }
    const double levels = last + 1;
    const double reach = std::min(1.0, std::max(width, 2 / levels));  // Half of each neighbour, at least.
    return std::clamp(std::floor(near((level + 0.5) / levels, reach, draw) * levels), 0.0, last);
  }
};

class AnnealSampler final : public Sampler {
 public:
  explicit AnnealSampler(const ExperimentConfig& config)
      : space_(config.space), seed_(config.experiment_seed), settings_(config.searcher.anneal) {}

  [[nodiscard]] Sample sample(TrialNumber trial, std::span<const Units> /*rungs*/,
                              const Taken& taken) const override {
    if (ranked_.size() == 0) {
      return {space_.sample(seed_, trial)};
    }
    Draw draw(seed_, trial, "searcher.anneal");
    Sample sample;
    engine::Reason& reason = sample.reason;
    const std::uint64_t rank = drawn_rank(draw);
    const double width = 1 / (1 + static_cast<double>(ranked_.size()) * settings_.shrink_coef);
    reason.why = engine::Reason::Why::near_trial;
    const std::uint64_t parent = ranked_.nth(rank).tie;
    if (parent >= earlier_) {
      reason.near = parent - earlier_;
    } else {
      reason.detail =
          "of an earlier search, rank " + std::to_string(rank + 1) + " of " + std::to_string(ranked_.size());
    }
    reason.near_rank = rank;
    reason.results = ranked_.size();
    reason.spread = width;
    for (int drawn = 0; drawn == 0 || (drawn < most_draws && taken && taken(sample.hparams)); ++drawn) {
      sample.hparams = near_subject(parent, width, draw);
    }
    return sample;
  }

  void on_prior(const Value& hparams, std::span<const Earlier> results) override {
    add(hparams);
    rank(earlier_, results.back().score);
    ++earlier_;
  }
  void on_created(TrialNumber /*trial*/, const Value& hparams, Units /*target*/) override { add(hparams); }
  void on_validated(TrialNumber trial, Units /*length*/, Score score) override {
    rank(subject(trial), score);
  }
  void on_exited(TrialNumber trial, engine::ExitReason reason) override {
    if (reason == engine::ExitReason::errored) {
      rank(subject(trial), Score::worst());
    } else if (reason == engine::ExitReason::invalid_hp) {
      forget(subject(trial));
    }
  }

 private:
  /// A trial, or a configuration of an earlier search.
  struct Subject {
    std::vector<double> coordinates;
    std::vector<bool> active;  // By leaf.
    Score latest = Score::worst();
    bool is_ranked = false;
  };

  static Place place_of(std::uint64_t number, Score score) {
    return {score, static_cast<std::uint32_t>(number)};
  }
  [[nodiscard]] std::uint64_t subject(TrialNumber trial) const { return earlier_ + trial.number(); }
  void add(const Value& hparams) {
    subjects_.push_back({space_.to_unit(hparams), space_.active_in(hparams)});
  }
  void rank(std::uint64_t number, Score score) {
    forget(number);
    Subject& ranked = subjects_[number];
    ranked.latest = score;
    ranked.is_ranked = true;
    ranked_.insert(place_of(number, score));
  }
  void forget(std::uint64_t number) {
    Subject& forgotten = subjects_[number];
    if (std::exchange(forgotten.is_ranked, false)) {
      ranked_.erase(place_of(number, forgotten.latest));
    }
  }

  /// Geometric; every rank beyond the last is the last.
  [[nodiscard]] std::uint64_t drawn_rank(Draw& draw) const {
    const double unit = draw.unit();
    const double rank = settings_.avg_best_idx > 1
                            ? std::floor(std::log1p(-unit) / std::log1p(-1 / settings_.avg_best_idx))
                            : 0;
    const std::uint64_t last = ranked_.size() - 1;
    return rank < static_cast<double>(last) ? static_cast<std::uint64_t>(rank) : last;
  }
  [[nodiscard]] Value near_subject(std::uint64_t number, double width, Draw& draw) const {
    std::vector<double> coordinates = subjects_[number].coordinates;
    std::span<double> left(coordinates);
    for (std::size_t leaf = 0; leaf < space_.leaves().size(); ++leaf) {
      // A leaf that was inactive there may be active now: its value comes from the whole range.
      const double reach = subjects_[number].active[leaf] ? width : 1;
      std::visit(Move{left, reach, draw}, space_.leaves()[leaf].parameter);
    }
    return space_.from_unit(coordinates);
  }

  engine::Space space_;
  std::uint64_t seed_;
  engine::AnnealConfig settings_;
  std::uint64_t earlier_ = 0;      // Configurations of earlier searches; they come first.
  std::vector<Subject> subjects_;  // By number.
  RankedList ranked_;              // Latest results, by subject.
};

}  // namespace

std::unique_ptr<Sampler> make_anneal_sampler(const ExperimentConfig& config) {
  return std::make_unique<AnnealSampler>(config);
}

}  // namespace hpsearch::searchers
