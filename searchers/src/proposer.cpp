#include "hpsearch/searchers/proposer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "allowed.hpp"
#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/learnt.hpp"
#include "hpsearch/engine/space/partial.hpp"
#include "hpsearch/searchers/finite_space.hpp"
#include "seen_configurations.hpp"

namespace hpsearch::searchers {

using engine::Cardinality;
using engine::ExitReason;
using engine::ExperimentConfig;
using engine::OnDuplicate;
using engine::Reason;
using engine::Score;
using engine::Space;
using engine::TrialNumber;
using engine::Units;
using engine::Value;

namespace {

constexpr std::uint64_t most_redraws_of_point = 256;
constexpr std::size_t most_drawn_text = 200;  // Bytes of names.

/// Tells the sampler of earlier results. Those of one configuration come together while their lengths grow:
/// what does not grow was another training of it.
void hear_prior(const engine::SearcherConfig& searcher, Sampler& sampler) {
  struct Earlier {
    const Value* hparams;
    std::vector<Sampler::Earlier> results;
  };
  std::vector<Earlier> trainings;
  std::map<std::string, std::size_t> latest;  // By configuration, its last training.
  for (const engine::PriorResult& result : searcher.prior) {
    const auto [found, is_new] = latest.try_emplace(engine::compact_json(result.hparams), trainings.size());
    if (is_new || trainings[found->second].results.back().length >= result.length) {
      found->second = trainings.size();
      trainings.push_back({&result.hparams, {}});
    }
    trainings[found->second].results.push_back(
        {result.length, Score::from_metric(result.metric, searcher.goal())});
  }
  for (const Earlier& training : trainings) {
    sampler.on_prior(*training.hparams, training.results);
  }
}

/// Points that users gave, then what a sampler chooses; random draws where there is none.
class SamplingProposer final : public Proposer {
 public:
  SamplingProposer(const ExperimentConfig& config, std::unique_ptr<Sampler> sampler)
      : space_(config.space),
        seed_(config.experiment_seed),
        given_(config.searcher.points_to_evaluate),
        sampler_(std::move(sampler)) {
    if (config.searcher.on_duplicate == OnDuplicate::reject) {
      started_ = make_seen_configurations(space_, seed_);
    }
    if (sampler_) {
      hear_prior(config.searcher, *sampler_);
    }
  }

  [[nodiscard]] Proposal propose(TrialNumber trial, std::span<const Units> rungs) const override {
    if (const std::optional<Point> point = point_for(trial)) {
      Proposal given{point->configuration};
      given.reason.why = Reason::Why::given_point;
      given.reason.detail = drawn_text(points()[point->place], point->configuration);
      return given;
    }
    if (!sampler_) {
      return draw(trial);
    }
    if (!sampled_ ||
        !std::equal(rungs.begin(), rungs.end(), sampled_->rungs.begin(), sampled_->rungs.end())) {
      sampled_ = Sampled{sample(trial, rungs), {rungs.begin(), rungs.end()}};
    }
    return sampled_->proposal;
  }

  void on_created(TrialNumber trial, const Value& hparams, Units target) override {
    // Logs of before hold constants of points as they were written.
    if (const auto point = point_for(trial); point && point->configuration == space_.complete(hparams)) {
      next_ = point->place + 1;
    }
    if (started_) {
      started_->add(hparams);
      started_->look_ahead(TrialNumber(trial.number() + 1));
      pass_what_was_started();
    }
    tell([&](Sampler& sampler) { sampler.on_created(trial, hparams, target); });
  }
  void on_promoted(TrialNumber trial, Units target) override {
    tell([&](Sampler& sampler) { sampler.on_promoted(trial, target); });
  }
  void on_validated(TrialNumber trial, Units length, Score score) override {
    tell([&](Sampler& sampler) { sampler.on_validated(trial, length, score); });
  }
  void on_exited(TrialNumber trial, ExitReason reason) override {
    tell([&](Sampler& sampler) { sampler.on_exited(trial, reason); });
  }
  void on_retried(TrialNumber trial, Units target) override {
    tell([&](Sampler& sampler) { sampler.on_retried(trial, target); });
  }
  void on_closed(TrialNumber trial) override {
    tell([&](Sampler& sampler) { sampler.on_closed(trial); });
  }

  void on_points(std::vector<Value> points) override {
    given_late_ = std::move(points);
    next_ = 0;  // The first of these.
    pass_what_was_started();
  }

  void on_duplicates(bool reject, const std::vector<Value>& started) override {
    started_ = reject ? make_seen_configurations(space_, seed_) : nullptr;
    for (std::size_t trial = 0; started_ && trial < started.size(); ++trial) {
      started_->add(started[trial]);
    }
    if (started_) {
      started_->look_ahead(TrialNumber(started.size()));
    }
    pass_what_was_started();
    sampled_.reset();
  }

  [[nodiscard]] std::optional<Cardinality> remaining() const noexcept override {
    return started_ ? started_->remaining() : std::nullopt;
  }
  [[nodiscard]] std::optional<engine::Learnt> learnt() const override {
    return sampler_ ? sampler_->learnt() : std::nullopt;
  }
  /// Points are among the configurations that somebody has counted; draws need not come to them.
  [[nodiscard]] bool exhausted() const noexcept override {
    return started_ && started_->dry() &&
           std::none_of(points().begin() + static_cast<std::ptrdiff_t>(next_), points().end(),
                        [this](const Value& point) { return engine::is_whole(space_, point); });
  }

 private:
  struct Sampled {
    Proposal proposal;
    std::vector<Units> rungs;
  };

  /// A point as a trial would run it: what it lacks is drawn.
  struct Point {
    std::size_t place = 0;
    Value configuration;
  };

  [[nodiscard]] const std::vector<Value>& points() const noexcept {
    return given_late_ ? *given_late_ : given_;
  }
  /// The next point for which this trial finds a configuration that may start.
  [[nodiscard]] std::optional<Point> point_for(TrialNumber trial) const {
    for (std::size_t place = next_; place < points().size(); ++place) {
      const Value& point = points()[place];
      Value filled = engine::fill(space_, point, seed_, trial);
      for (std::uint64_t redraw = 1; redraw <= most_redraws_of_point && started_ && started_->has(filled) &&
                                     !engine::is_whole(space_, point);
           ++redraw) {
        filled =
            engine::fill(space_, point, engine::Draw(seed_, TrialNumber(redraw), "points").bits(), trial);
      }
      if (!started_ || !started_->has(filled)) {
        return Point{place, std::move(filled)};
      }
    }
    return std::nullopt;
  }
  /// A point whose configuration was started, where none may start twice, leaves its place to the one behind
  /// it.
  void pass_what_was_started() {
    while (started_ && next_ < points().size() && engine::is_whole(space_, points()[next_]) &&
           started_->has(points()[next_])) {
      ++next_;
    }
  }
  /// "layers, opt drawn at random" if the point lacks them; "" if it lacks nothing.
  [[nodiscard]] std::string drawn_text(const Value& point, const Value& configuration) const {
    std::string names;
    for (const engine::Space::Leaf& leaf : space_.leaves()) {
      if (point.at_keys(leaf.keys) == nullptr && configuration.at_keys(leaf.keys) != nullptr &&
          names.size() < most_drawn_text) {
        names += (names.empty() ? "" : ", ") + leaf.path;
      }
    }
    return names.empty() ? "" : names + (names.size() < most_drawn_text ? "" : ", …") + " drawn at random";
  }
  [[nodiscard]] Proposal draw(TrialNumber trial) const {
    return {started_ ? started_->draw(trial) : space_.sample(seed_, trial)};
  }
  [[nodiscard]] Proposal sample(TrialNumber trial, std::span<const Units> rungs) const {
    Sampler::Taken taken;
    if (started_ || space_.is_constrained()) {
      taken = [this](const Value& hparams) { return !may_start(hparams); };
    }
    Proposal sampled = sampler_->sample(trial, rungs, taken);
    return may_start(sampled.hparams) ? sampled : draw(trial);
  }
  [[nodiscard]] bool may_start(const Value& hparams) const {
    return space_.allows(hparams) && !(started_ && started_->has(hparams));
  }
  void tell(auto event) {
    if (sampler_) {
      event(*sampler_);
      sampled_.reset();
    }
  }

  Space space_;
  std::uint64_t seed_;
  std::vector<Value> given_;                      // By the config.
  std::optional<std::vector<Value>> given_late_;  // Instead of these.
  std::size_t next_ = 0;                          // The next of the points.
  std::unique_ptr<SeenConfigurations> started_;   // Only where duplicates are rejected.
  std::unique_ptr<Sampler> sampler_;              // None: random draws.
  mutable std::optional<Sampled> sampled_;        // For the next trial, as of now.
};

class GridProposer final : public Proposer {
 public:
  explicit GridProposer(const ExperimentConfig& config) : space_(config.space) {
    if (space_.is_constrained()) {
      allowed_ = allowed_points(space_);
    }
  }

  [[nodiscard]] Proposal propose(TrialNumber trial, std::span<const Units> /*rungs*/) const override {
    return {space_.grid_point(allowed_ ? (*allowed_)[trial.number()] : trial.number())};
  }

 private:
  Space space_;
  std::optional<std::vector<std::uint32_t>> allowed_;  // Points, where there are conditions.
};

}  // namespace

std::optional<engine::Learnt> Proposer::learnt() const {
  return std::nullopt;
}

std::unique_ptr<Proposer> make_random_proposer(const ExperimentConfig& config) {
  return std::make_unique<SamplingProposer>(config, nullptr);
}

std::unique_ptr<Proposer> make_sampling_proposer(const ExperimentConfig& config,
                                                 std::unique_ptr<Sampler> sampler) {
  return std::make_unique<SamplingProposer>(config, std::move(sampler));
}

std::unique_ptr<Proposer> make_grid_proposer(const ExperimentConfig& config) {
  return std::make_unique<GridProposer>(config);
}

std::optional<Cardinality> supply_of(const ExperimentConfig& config) {
  if (config.searcher.on_duplicate == OnDuplicate::reject) {
    if (const std::optional<FiniteSpace> finite = FiniteSpace::of(config.space)) {
      return finite->size();
    }
  }
  return std::nullopt;
}

}  // namespace hpsearch::searchers
