#include "hpsearch/engine/space/hparam_table.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <variant>

namespace hpsearch::engine {
namespace {

/// A leaf's value as one word, if it is of the leaf's type.
struct Packer {
  const Value& value;

  std::optional<std::uint64_t> operator()(const ConstParameter& /*parameter*/) const { return std::nullopt; }
  std::optional<std::uint64_t> operator()(const IntParameter& /*parameter*/) const {
    const std::int64_t* integer = value.as_integer();
    return integer != nullptr ? std::optional(std::bit_cast<std::uint64_t>(*integer)) : std::nullopt;
  }
  std::optional<std::uint64_t> operator()(const DoubleParameter& /*parameter*/) const { return real(); }
  std::optional<std::uint64_t> operator()(const LogParameter& /*parameter*/) const { return real(); }
  std::optional<std::uint64_t> operator()(const CategoricalParameter& parameter) const {
    const auto found = std::find(parameter.vals.begin(), parameter.vals.end(), value);
    return found != parameter.vals.end()
               ? std::optional(static_cast<std::uint64_t>(found - parameter.vals.begin()))
               : std::nullopt;
  }

 private:
  [[nodiscard]] std::optional<std::uint64_t> real() const {
    const double* number = value.as_real();
    return number != nullptr ? std::optional(std::bit_cast<std::uint64_t>(*number)) : std::nullopt;
  }
};

struct Unpacker {
  std::uint64_t word;

  Value operator()(const ConstParameter& parameter) const { return parameter.val; }
  Value operator()(const IntParameter& /*parameter*/) const { return std::bit_cast<std::int64_t>(word); }
  Value operator()(const DoubleParameter& /*parameter*/) const { return std::bit_cast<double>(word); }
  Value operator()(const LogParameter& /*parameter*/) const { return std::bit_cast<double>(word); }
  Value operator()(const CategoricalParameter& parameter) const {
    return parameter.vals[static_cast<std::size_t>(word)];
  }
};

/// An empty map counts as a leaf: it is something that would be lost.
std::size_t leaves_below(const Value& tree) {
  const Value::Map* map = tree.as_map();
  if (map == nullptr || map->empty()) {
    return 1;
  }
  std::size_t leaves = 0;
  for (const auto& [key, value] : *map) {
    leaves += leaves_below(value);
  }
  return leaves;
}

}  // namespace

HparamTable::HparamTable(const Space& space) : space_(space) {
  for (const Space::Leaf& leaf : space_.leaves()) {
    places_.push_back(width_);
    if (!is_constant(leaf.parameter)) {
      ++width_;
    }
  }
}

/// Into packed_, unless it is of another shape.
bool HparamTable::pack(const Value& hparams) {
  packed_.clear();
  std::size_t leaves = 0;
  const std::vector<bool> active = space_.active_in(hparams);
  for (std::size_t i = 0; i < space_.leaves().size(); ++i) {
    const Space::Leaf& leaf = space_.leaves()[i];
    const Value* value = hparams.at_keys(leaf.keys);
    if ((value != nullptr) != active[i]) {
      return false;
    }
    if (value == nullptr) {
      if (!is_constant(leaf.parameter)) {
        packed_.push_back(0);  // The values of its parents say that it is absent.
      }
      continue;
    }
    if (const auto* constant = std::get_if<ConstParameter>(&leaf.parameter)) {
      if (!(*value == constant->val)) {
        return false;
      }
    } else if (const std::optional<std::uint64_t> word = std::visit(Packer{*value}, leaf.parameter)) {
      packed_.push_back(*word);
    } else {
      return false;
    }
    leaves += leaves_below(*value);
  }
  const Value::Map* map = hparams.as_map();
  return map != nullptr && leaves == (map->empty() ? std::size_t{0} : leaves_below(hparams));
}

void HparamTable::push_back(const Value& hparams) {
  if (!pack(hparams)) {
    odd_.emplace(size_, hparams);
    packed_.assign(width_, 0);
  }
  for (const std::uint64_t word : packed_) {
    words_.push_back(word);
  }
  ++size_;
}

Value HparamTable::operator[](std::size_t trial) const {
  if (!odd_.empty()) {
    if (const auto found = odd_.find(trial); found != odd_.end()) {
      return found->second;
    }
  }
  return unpacked(trial);
}

std::uint64_t HparamTable::word(std::size_t trial, std::size_t leaf) const noexcept {
  return is_constant(space_.leaves()[leaf].parameter) ? 0 : words_[trial * width_ + places_[leaf]];
}

bool HparamTable::is_active(std::size_t trial, std::size_t leaf) const {
  const std::vector<Space::Condition>& conditions = space_.leaves()[leaf].when;
  return std::all_of(conditions.begin(), conditions.end(), [&](const Space::Condition& condition) {
    return is_active(trial, condition.parent) &&
           condition.holds(std::visit(Unpacker{word(trial, condition.parent)},
                                      space_.leaves()[condition.parent].parameter));
  });
}

HparamTable::Cell HparamTable::cell(std::size_t trial, std::size_t leaf) const {
  Cell cell;
  if (!odd_.empty() && odd_.contains(trial)) {
    cell.kind = Cell::Kind::other;
    return cell;
  }
  if (!is_active(trial, leaf)) {
    return cell;
  }
  const Parameter& parameter = space_.leaves()[leaf].parameter;
  const std::uint64_t packed = word(trial, leaf);
  if (std::holds_alternative<IntParameter>(parameter)) {
    cell.number = static_cast<double>(std::bit_cast<std::int64_t>(packed));
  } else if (std::holds_alternative<DoubleParameter>(parameter) ||
             std::holds_alternative<LogParameter>(parameter)) {
    cell.number = std::bit_cast<double>(packed);
  } else {
    cell.place = packed;
    cell.kind = Cell::Kind::place;
    return cell;
  }
  cell.kind = Cell::Kind::number;
  return cell;
}

Value HparamTable::unpacked(std::size_t trial) const {
  std::vector<Value> values;
  values.reserve(space_.leaves().size());
  std::size_t at = trial * width_;
  for (const Space::Leaf& leaf : space_.leaves()) {
    const std::uint64_t word = is_constant(leaf.parameter) ? 0 : words_[at++];
    values.push_back(std::visit(Unpacker{word}, leaf.parameter));
  }
  return space_.configuration_of(std::move(values));
}

}  // namespace hpsearch::engine
