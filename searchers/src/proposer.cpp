#include "hpsearch/searchers/proposer.hpp"

#include <set>
#include <utility>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/searchers/finite_space.hpp"
#include "columns.hpp"
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
    ColumnWriter used;
    Cardinality next = 0;
    for (const Cardinality index : used_) {
      used.put(index - next);
      next = index + 1;
    }
    return used.take();
  }

  [[nodiscard]] bool load(const Value& saved) {
    ColumnReader column(saved);
    std::set<Cardinality> used;
    Cardinality next = 0;
    while (!column.at_end() && column.good()) {
      const Cardinality skipped = column.take_wide();
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

std::optional<Ledger> ledger_for(const ExperimentConfig& config) {
  if (config.searcher.on_duplicate == OnDuplicate::reject) {
    if (std::optional<FiniteSpace> finite = FiniteSpace::of(config.space)) {
      return Ledger(config.experiment_seed, *std::move(finite));
    }
  }
  return std::nullopt;
}

class RandomProposer final : public Proposer {
 public:
  explicit RandomProposer(const ExperimentConfig& config)
      : space_(config.space),
        seed_(config.experiment_seed),
        points_(config.searcher.points_to_evaluate),
        started_(ledger_for(config)) {}

  [[nodiscard]] Proposal propose(TrialNumber trial) const override {
    if (trial.number() < points_.size()) {
      return {points_[trial.number()], true};
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

  [[nodiscard]] bool exhausted() const noexcept override { return started_ && started_->exhausted(); }

  [[nodiscard]] Value save() const override {
    return Value::Map{{"kind", "random"}, {"started", started_ ? started_->save() : Value()}};
  }

  engine::Status load(const Value& saved) override {
    SavedMap map(saved, "random");
    const Value& started = map.value("started");
    if (!map.good() || started.is_null() == started_.has_value() || (started_ && !started_->load(started))) {
      return corrupt("the configurations started so far are malformed");
    }
    return engine::Done{};
  }

 private:
  Space space_;
  std::uint64_t seed_;
  std::vector<Value> points_;
  std::optional<Ledger> started_;  // Only where duplicates are rejected.
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
