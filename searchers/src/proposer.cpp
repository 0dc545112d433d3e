#include "hpsearch/searchers/proposer.hpp"

#include <set>
#include <utility>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/searchers/finite_space.hpp"
#include "saved.hpp"

namespace hpsearch::searchers {

using engine::Cardinality;
using engine::ExperimentConfig;
using engine::OnDuplicate;
using engine::Space;
using engine::TrialNumber;
using engine::Value;

namespace {

/// Which configurations of a finite space were started, and which unused one is next in shuffled order.
class Ledger {
 public:
  Ledger(std::uint64_t seed, FiniteSpace space) : space_(std::move(space)), shuffle_(seed, space_.size()) {}

  [[nodiscard]] bool exhausted() const noexcept { return used_.size() == space_.size(); }
  [[nodiscard]] Cardinality remaining() const noexcept { return space_.size() - used_.size(); }
  [[nodiscard]] bool has(const Value& configuration) const {
    const std::optional<Cardinality> index = space_.index_of(configuration);
    return index && used_.contains(*index);
  }
  [[nodiscard]] Value next_unused() const { return space_.at(shuffle_.at(next_)); }

  void add(const Value& configuration) {
    if (const std::optional<Cardinality> index = space_.index_of(configuration)) {
      used_.insert(*index);
      skip_used();
    }
  }

  [[nodiscard]] Value save() const {
    engine::DigitWriter used;
    Cardinality next = 0;
    for (const Cardinality index : used_) {
      used.wide(index - next);
      next = index + 1;
    }
    return used.take();
  }

  [[nodiscard]] bool load(const Value& saved) {
    const std::string* text = saved.as_text();
    if (text == nullptr) {
      return false;
    }
    engine::DigitReader column(*text);
    std::set<Cardinality> used;
    Cardinality next = 0;
    while (!column.at_end() && column.good()) {
      const Cardinality skipped = column.wide();
      if (skipped >= space_.size() - next) {
        return false;
      }
      next += skipped;
      used.insert(used.end(), next++);
    }
    if (!column.good()) {
      return false;
    }
    used_ = std::move(used);
    next_ = 0;
    skip_used();
    return true;
  }

 private:
  void skip_used() {  // What is used stays used, so all steps together are at most size() many.
    while (next_ < space_.size() && used_.contains(shuffle_.at(next_))) {
      ++next_;
    }
  }

  FiniteSpace space_;
  Shuffle shuffle_;
  std::set<Cardinality> used_;
  Cardinality next_ = 0;
};

std::optional<Ledger> ledger_for(const Space& space, std::uint64_t seed) {
  std::optional<FiniteSpace> finite = FiniteSpace::of(space);
  return finite ? std::optional(Ledger(seed, *std::move(finite))) : std::nullopt;
}

class RandomProposer final : public Proposer {
 public:
  explicit RandomProposer(const ExperimentConfig& config)
      : space_(config.space),
        seed_(config.experiment_seed),
        given_(config.searcher.points_to_evaluate) {
    if (config.searcher.on_duplicate == OnDuplicate::reject) {
      started_ = ledger_for(space_, seed_);
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
    Value drawn = space_.sample(seed_, trial);
    if (started_ && started_->has(drawn)) {
      drawn = started_->next_unused();
    }
    return {std::move(drawn), false};
  }

  void hear_created(TrialNumber /*trial*/, const Value& hparams) override {
    if (started_) {
      started_->add(hparams);
    }
  }

  void hear_points(std::vector<Value> points, TrialNumber first) override {
    given_late_ = GivenLate{std::move(points), first.number()};
  }

  void hear_duplicates(bool reject, const std::vector<Value>& started) override {
    started_ = reject ? ledger_for(space_, seed_) : std::nullopt;
    for (const Value& configuration : started) {
      hear_created(TrialNumber(), configuration);
    }
  }

  [[nodiscard]] std::optional<Cardinality> remaining() const noexcept override {
    return started_ ? std::optional(started_->remaining()) : std::nullopt;
  }
  [[nodiscard]] bool exhausted() const noexcept override { return started_ && started_->exhausted(); }

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
    std::optional<Ledger> ledger = started.is_null() ? std::nullopt : ledger_for(space_, seed_);
    if (!map.good() || started.is_null() == ledger.has_value() || (ledger && !ledger->load(started))) {
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

  Space space_;
  std::uint64_t seed_;
  std::vector<Value> given_;             // By the config.
  std::optional<GivenLate> given_late_;  // Instead of these.
  std::optional<Ledger> started_;        // Only where duplicates are rejected.
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
