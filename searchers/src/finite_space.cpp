#include "hpsearch/searchers/finite_space.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "allowed.hpp"
#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::searchers {

using engine::Cardinality;
using engine::Value;

namespace {

constexpr Cardinality most_configurations = Cardinality{1} << 126U;

void put_leaf(Value& configuration, const std::vector<std::string>& keys, Value value) {
  Value* here = &configuration;
  for (const std::string& key : keys) {
    if (here->as_map() == nullptr) {
      *here = Value::Map();
    }
    here = &(*here->as_map())[key];
  }
  *here = std::move(value);
}

}  // namespace

std::optional<FiniteSpace::Axis> FiniteSpace::axis_of(const engine::Space::Leaf& leaf) {
  Axis axis;
  axis.keys = leaf.keys;
  axis.levels = engine::Levels::of(leaf.parameter);
  if (axis.levels) {
    axis.size = Cardinality{axis.levels->last()} + 1;
  } else if (const auto* constant = std::get_if<engine::ConstParameter>(&leaf.parameter)) {
    axis.vals.push_back(constant->val);
  } else if (const auto* category = std::get_if<engine::CategoricalParameter>(&leaf.parameter)) {
    axis.vals = category->vals;
  } else {
    return std::nullopt;
  }
  if (!axis.vals.empty()) {
    std::vector<Value> different;
    for (Value& value : axis.vals) {
      if (axis.places.emplace(engine::compact_json(value), different.size()).second) {
        different.push_back(std::move(value));
      }
    }
    axis.vals = std::move(different);
    axis.size = axis.vals.size();
  }
  return axis;
}

std::optional<FiniteSpace> FiniteSpace::of(const engine::Space& space) {
  FiniteSpace finite;
  for (const engine::Space::Leaf& leaf : space.leaves()) {
    std::optional<Axis> axis = axis_of(leaf);
    if (!axis || (!space.is_conditional() && axis->size > most_configurations / finite.size_)) {
      return std::nullopt;
    }
    finite.size_ *= space.is_conditional() ? 1 : axis->size;
    finite.axes_.push_back(*std::move(axis));
  }
  if (space.is_conditional()) {
    finite.combinations_ = engine::Combinations::of_values(space.leaves());
    const std::optional<Cardinality> size =
        finite.combinations_ ? finite.combinations_->size() : std::nullopt;
    if (!size || *size > most_configurations) {
      return std::nullopt;
    }
    finite.size_ = *size;
  }
  if (space.is_constrained()) {
    if (finite.size_ > most_listed) {
      return std::nullopt;
    }
    finite.allowed_ =
        allowed_among(space, finite.size_, [&](std::uint32_t number) { return finite.product_at(number); });
    finite.size_ = finite.allowed_->size();
  }
  return finite;
}

Value FiniteSpace::Axis::at(std::uint64_t place) const {
  return levels ? levels->value(place) : vals[place];
}

std::optional<std::uint64_t> FiniteSpace::Axis::place_of(const Value& value) const {
  if (levels) {
    return levels->find(value);
  }
  const auto found = places.find(engine::compact_json(value));
  return found == places.end() ? std::nullopt : std::optional(found->second);
}

Value FiniteSpace::at(Cardinality index) const {
  return product_at(allowed_ ? (*allowed_)[static_cast<std::size_t>(index)] : index);
}

std::optional<Cardinality> FiniteSpace::index_of(const Value& configuration) const {
  const std::optional<Cardinality> index = product_index_of(configuration);
  if (!index || !allowed_) {
    return index;
  }
  const auto found = std::lower_bound(allowed_->begin(), allowed_->end(), *index);
  return found != allowed_->end() && *found == *index
             ? std::optional(static_cast<Cardinality>(found - allowed_->begin()))
             : std::nullopt;
}

Value FiniteSpace::product_at(Cardinality index) const {
  Value configuration = Value::Map();
  if (combinations_) {
    const std::vector<engine::Combinations::Place> places = combinations_->at(index);
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (places[i]) {
        put_leaf(configuration, axes_[i].keys, axes_[i].at(*places[i]));
      }
    }
    return configuration;
  }
  for (const Axis& axis : axes_) {
    put_leaf(configuration, axis.keys, axis.at(static_cast<std::uint64_t>(index % axis.size)));
    index /= axis.size;
  }
  return configuration;
}

std::optional<Cardinality> FiniteSpace::product_index_of(const Value& configuration) const {
  std::vector<engine::Combinations::Place> places;
  for (const Axis& axis : axes_) {
    const Value* value = configuration.at_keys(axis.keys);
    places.push_back(value == nullptr ? std::nullopt : axis.place_of(*value));
    if (!places.back() && (value != nullptr || !combinations_)) {
      return std::nullopt;
    }
  }
  if (combinations_) {
    return combinations_->number_of(places);
  }
  Cardinality index = 0;
  Cardinality weight = 1;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    index += weight * *places[i];
    weight *= axes_[i].size;
  }
  return index;
}

Shuffle::Shuffle(std::uint64_t seed, Cardinality size) noexcept : seed_(seed), size_(size) {
  while (half_bits_ < 64 && (Cardinality{1} << (2 * half_bits_)) < size) {
    ++half_bits_;
  }
}

Cardinality Shuffle::at(Cardinality place) const noexcept {
  static constexpr std::string_view round_names[] = {"shuffle/0", "shuffle/1", "shuffle/2",
                                                     "shuffle/3", "shuffle/4", "shuffle/5"};
  const std::uint64_t mask = half_bits_ == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << half_bits_) - 1;
  do {
    auto left = static_cast<std::uint64_t>(place >> half_bits_) & mask;
    std::uint64_t right = static_cast<std::uint64_t>(place) & mask;
    for (const std::string_view name : round_names) {
      const std::uint64_t mixed =
          left ^ (engine::Draw(seed_, engine::TrialNumber(right), name).bits() & mask);
      left = right;
      right = mixed;
    }
    place = (Cardinality{left} << half_bits_) | right;
  } while (place >= size_);
  return place;
}

}  // namespace hpsearch::searchers
