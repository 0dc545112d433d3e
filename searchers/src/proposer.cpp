#include "hpsearch/searchers/proposer.hpp"

#include <algorithm>
#include <utility>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/searchers/finite_space.hpp"
#include "ledger.hpp"
#include "saved.hpp"

namespace hpsearch::searchers {

using engine::Cardinality;
using engine::ExperimentConfig;
using engine::OnDuplicate;
using engine::Space;
using engine::TrialNumber;
using engine::Value;

namespace {

class RandomProposer final : public Proposer {
 public:
  explicit RandomProposer(const ExperimentConfig& config)
      : space_(config.space),
        seed_(config.experiment_seed),
        given_(config.searcher.points_to_evaluate) {
    if (config.searcher.on_duplicate == OnDuplicate::reject) {
      started_ = make_ledger(space_, seed_);
    }
  }

  [[nodiscard]] Proposal propose(TrialNumber trial) const override {
    const std::vector<Value>& points = points_to_come();
    const std::uint64_t place = trial.number() - first();
    if (trial.number() >= first() && place < points.size()) {
      const Value& point = points[place];
      if (!started_ || !started_->has(point)) {  // It was when it was given late, or duplicates are refused since.
        return {point, true};
      }
    }
    if (!started_) {
      return {space_.sample(seed_, trial), false};
    }
    if (!started_->dry()) {
      return {started_->draw(trial), false};
    }
    const Value* point = unused_point();
    HPSEARCH_CHECK(point != nullptr, "nothing is asked of a space that is exhausted");
    return {*point, true};
  }

  void hear_created(TrialNumber trial, const Value& hparams) override {
    if (started_) {
      started_->add(hparams);
      started_->look_ahead(TrialNumber(trial.number() + 1));
      note_exhaustion();
    }
  }

  void hear_points(std::vector<Value> points, TrialNumber first) override {
    given_late_ = GivenLate{std::move(points), first.number()};
    note_exhaustion();
  }

  void hear_duplicates(bool reject, const std::vector<Value>& started) override {
    started_ = reject ? make_ledger(space_, seed_) : nullptr;
    for (std::size_t trial = 0; started_ && trial < started.size(); ++trial) {
      started_->add(started[trial]);
    }
    if (started_) {
      started_->look_ahead(TrialNumber(started.size()));
    }
    note_exhaustion();
  }

  [[nodiscard]] std::optional<Cardinality> remaining() const noexcept override {
    return started_ ? started_->remaining() : std::nullopt;
  }
  [[nodiscard]] bool exhausted() const noexcept override { return exhausted_; }

  [[nodiscard]] Value save() const override {
    return Value::Map{
        {"kind", "random"},
        {"points", given_late_ ? Value(Value::List{saved_count(given_late_->first), given_late_->points}) : Value()},
        {"started", started_ ? started_->save() : Value()}};
  }

  engine::Status load(const Value& saved) override {
    SavedMap map(saved, "random");
    const Value& started = map.value("started");
    const Value& points = map.value("points");
    std::unique_ptr<Ledger> ledger = started.is_null() ? nullptr : make_ledger(space_, seed_);
    if (!map.good() || (ledger && !ledger->load(started))) {
      return corrupt("the configurations started so far are malformed");
    }
    std::optional<GivenLate> given_late;
    if (!points.is_null()) {
      const Value::List* row = points.as_list();
      const bool good = row != nullptr && row->size() == 2 && (*row)[0].as_integer() != nullptr &&
                        *(*row)[0].as_integer() >= 0 && (*row)[1].as_list() != nullptr;
      if (!good) {
        return corrupt("the points to come are malformed");
      }
      given_late = GivenLate{*(*row)[1].as_list(), static_cast<std::uint64_t>(*(*row)[0].as_integer())};
    }
    started_ = std::move(ledger);
    given_late_ = std::move(given_late);
    note_exhaustion();
    return engine::Done{};
  }

 private:
  struct GivenLate {
    std::vector<Value> points;
    std::uint64_t first = 0;  // The trial that has the first of them.
  };

  [[nodiscard]] const std::vector<Value>& points_to_come() const noexcept {
    return given_late_ ? given_late_->points : given_;
  }
  [[nodiscard]] std::uint64_t first() const noexcept { return given_late_ ? given_late_->first : 0; }
  [[nodiscard]] const Value* unused_point() const {
    const std::vector<Value>& points = points_to_come();
    const auto unused = std::find_if(points.begin(), points.end(),
                                     [this](const Value& point) { return !started_->has(point); });
    return unused == points.end() ? nullptr : &*unused;
  }

  /// Points are among the configurations that somebody has counted; draws need not come to them.
  void note_exhaustion() {
    exhausted_ = started_ && started_->dry() && (started_->remaining() || unused_point() == nullptr);
  }

  Space space_;
  std::uint64_t seed_;
  std::vector<Value> given_;             // By the config.
  std::optional<GivenLate> given_late_;  // Instead of these.
  std::unique_ptr<Ledger> started_;      // Only where duplicates are rejected.
  bool exhausted_ = false;
};

class GridProposer final : public Proposer {
 public:
  explicit GridProposer(const ExperimentConfig& config) : space_(config.space) {}

  [[nodiscard]] Proposal propose(TrialNumber trial) const override {
    return {space_.grid_point(trial.number()), false};
  }
  void hear_created(TrialNumber /*trial*/, const Value& /*hparams*/) override {}
  [[nodiscard]] Value save() const override { return Value::Map{{"kind", "grid"}}; }
  engine::Status load(const Value& saved) override {
    return SavedMap(saved, "grid").good() ? engine::Status(engine::Done{}) : corrupt("it is not of a grid");
  }

 private:
  Space space_;
};

}  // namespace

std::unique_ptr<Proposer> make_random_proposer(const ExperimentConfig& config) {
  return std::make_unique<RandomProposer>(config);
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
