#include "seen_configurations.hpp"

#include <bit>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/searchers/finite_space.hpp"

namespace hpsearch::searchers {

using engine::Cardinality;
using engine::Draw;
using engine::Space;
using engine::TrialNumber;
using engine::Value;

namespace {

// With nine configurations of which eight were started, all of these miss the ninth once in 10^13 times; more
// of them would only make the end of such a space slower.
constexpr std::uint64_t most_redraws = 256;

/// For a finite space: every configuration has a number.
class FiniteSeenConfigurations final : public SeenConfigurations {
 public:
  FiniteSeenConfigurations(const Space& space, std::uint64_t seed, FiniteSpace finite)
      : space_(space), seed_(seed), finite_(std::move(finite)), shuffle_(seed, finite_.size()) {}

  [[nodiscard]] bool has(const Value& configuration) const override {
    const std::optional<Cardinality> index = finite_.index_of(configuration);
    return index && used_.contains(*index);
  }
  void add(const Value& configuration) override {
    if (const std::optional<Cardinality> index = finite_.index_of(configuration)) {
      used_.insert(*index);
    }
  }
  void look_ahead(TrialNumber /*trial*/) override {
    while (next_ < finite_.size() && used_.contains(shuffle_.at(next_))) {
      ++next_;  // Used numbers stay used, so all steps together are at most size() many.
    }
  }

  [[nodiscard]] Value draw(TrialNumber trial) const override {
    Value drawn = space_.sample(seed_, trial);
    return has(drawn) ? finite_.at(shuffle_.at(next_)) : drawn;
  }
  [[nodiscard]] bool dry() const noexcept override { return used_.size() == finite_.size(); }
  [[nodiscard]] std::optional<Cardinality> remaining() const noexcept override {
    return finite_.size() - used_.size();
  }

 private:
  const Space& space_;
  std::uint64_t seed_;
  FiniteSpace finite_;
  Shuffle shuffle_;
  std::set<Cardinality> used_;
  Cardinality next_ = 0;  // In shuffled order the first that is not used.
};

/// For a space that is not countable: 64 bits stand for a configuration, and two that share them are taken
/// for one. Among a million trials that happens once in 30 million searches, and costs a redraw.
class UnboundedSeenConfigurations final : public SeenConfigurations {
 public:
  UnboundedSeenConfigurations(const Space& space, std::uint64_t seed) : space_(space), seed_(seed) {}

  [[nodiscard]] bool has(const Value& configuration) const override {
    return started_.contains(key_of(configuration));
  }
  void add(const Value& configuration) override { started_.insert(key_of(configuration)); }
  void look_ahead(TrialNumber trial) override {
    trial_ = trial;
    redraw_ = 0;
    while (redraw_ <= most_redraws && has(draw(trial))) {
      ++redraw_;
    }
  }

  /// Functions of seed, trial, path and the redraw's number.
  [[nodiscard]] Value draw(TrialNumber trial) const override {
    const std::uint64_t seed = redraw_ == 0 ? seed_ : Draw(seed_, TrialNumber(redraw_), "redraw").bits();
    return space_.sample(seed, trial);
  }
  [[nodiscard]] bool dry() const noexcept override { return redraw_ > most_redraws; }
  [[nodiscard]] std::optional<Cardinality> remaining() const noexcept override { return std::nullopt; }

 private:
  /// The same for the same values, leaf by leaf. 0.0 and -0.0 are one number.
  [[nodiscard]] std::uint64_t key_of(const Value& configuration) const {
    std::uint64_t key = 0;
    for (const Space::Leaf& leaf : space_.leaves()) {
      const Value* value = configuration.at_keys(leaf.keys);
      const bool is_real = std::holds_alternative<engine::DoubleParameter>(leaf.parameter) ||
                           std::holds_alternative<engine::LogParameter>(leaf.parameter);
      if (value != nullptr && is_real && value->is_number()) {
        const double number = value->number_or(0) + 0.0;
        key = Draw(key, TrialNumber(std::bit_cast<std::uint64_t>(number)), "real").bits();
      } else if (value != nullptr && !engine::is_constant(leaf.parameter)) {
        key = Draw(key, TrialNumber(), engine::compact_json(*value)).bits();
      }
    }
    return key;
  }

  const Space& space_;
  std::uint64_t seed_;
  std::set<std::uint64_t> started_;
  TrialNumber trial_;         // Draws next.
  std::uint64_t redraw_ = 0;  // Its first that was not started; 0 is its own draw.
};

}  // namespace

std::unique_ptr<SeenConfigurations> make_seen_configurations(const Space& space, std::uint64_t seed) {
  if (std::optional<FiniteSpace> finite = FiniteSpace::of(space)) {
    return std::make_unique<FiniteSeenConfigurations>(space, seed, *std::move(finite));
  }
  return std::make_unique<UnboundedSeenConfigurations>(space, seed);
}

}  // namespace hpsearch::searchers
