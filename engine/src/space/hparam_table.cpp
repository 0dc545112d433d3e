#include "hpsearch/engine/space/hparam_table.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <variant>

#include "hpsearch/engine/base/digits.hpp"
#include "space/leaves.hpp"

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

/// A word as digits: short where the leaf's values are.
struct WordWriter {
  DigitWriter& out;
  std::uint64_t word;

  void operator()(const ConstParameter& /*parameter*/) const {}
  void operator()(const IntParameter& /*parameter*/) const { out.integer(std::bit_cast<std::int64_t>(word)); }
  void operator()(const DoubleParameter& /*parameter*/) const { out.real(std::bit_cast<double>(word)); }
  void operator()(const LogParameter& /*parameter*/) const { out.real(std::bit_cast<double>(word)); }
  void operator()(const CategoricalParameter& /*parameter*/) const { out.count(word); }
};

struct WordReader {
  DigitReader& in;

  std::uint64_t operator()(const ConstParameter& /*parameter*/) const { return 0; }
  std::uint64_t operator()(const IntParameter& /*parameter*/) const {
    return std::bit_cast<std::uint64_t>(in.integer());
  }
  std::uint64_t operator()(const DoubleParameter& /*parameter*/) const {
    return std::bit_cast<std::uint64_t>(in.real());
  }
  std::uint64_t operator()(const LogParameter& /*parameter*/) const {
    return std::bit_cast<std::uint64_t>(in.real());
  }
  std::uint64_t operator()(const CategoricalParameter& parameter) const {
    return in.count_below(parameter.vals.size());
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
    if (!is_constant(leaf.parameter)) {
      ++width_;
    }
  }
}

/// Into packed_, unless it is of another shape.
bool HparamTable::pack(const Value& hparams) {
  packed_.clear();
  std::size_t leaves = 0;
  for (const Space::Leaf& leaf : space_.leaves()) {
    const Value* value = hparams.at_keys(leaf.keys);
    if (value == nullptr) {
      return false;
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

Value HparamTable::unpacked(std::size_t trial) const {
  Value hparams = Value::Map();
  std::size_t at = trial * width_;
  for (const Space::Leaf& leaf : space_.leaves()) {
    const std::uint64_t word = is_constant(leaf.parameter) ? 0 : words_[at++];
    put_leaf(hparams, leaf.keys, std::visit(Unpacker{word}, leaf.parameter));
  }
  return hparams;
}

Value HparamTable::save() const {
  DigitWriter words;
  for (std::size_t trial = 0, at = 0; trial < size_; ++trial) {
    for (const Space::Leaf& leaf : space_.leaves()) {
      if (!is_constant(leaf.parameter)) {
        std::visit(WordWriter{words, words_[at++]}, leaf.parameter);
      }
    }
  }
  Value::List odd;
  for (const auto& [trial, hparams] : odd_) {
    odd.push_back(Value::List{static_cast<std::int64_t>(trial), hparams});
  }
  return Value::Map{
      {"count", static_cast<std::int64_t>(size_)}, {"words", words.take()}, {"odd", std::move(odd)}};
}

bool HparamTable::load(const Value& saved) {
  const Value* count = saved.at_path("count");
  const Value* words = saved.at_path("words");
  const Value* odd = saved.at_path("odd");
  if (count == nullptr || count->as_integer() == nullptr || words == nullptr || words->as_text() == nullptr ||
      odd == nullptr || odd->as_list() == nullptr || *count->as_integer() < 0) {
    return false;
  }
  DigitReader in(*words->as_text());
  const auto trials = static_cast<std::uint64_t>(*count->as_integer());
  if (width_ == 0) {
    size_ = trials;  // Nothing that could run out tells a wrong count from a right one.
  }
  for (; size_ < trials && in.good(); ++size_) {
    for (const Space::Leaf& leaf : space_.leaves()) {
      if (!is_constant(leaf.parameter)) {
        words_.push_back(std::visit(WordReader{in}, leaf.parameter));
      }
    }
  }
  for (const Value& entry : *odd->as_list()) {
    const Value::List* pair = entry.as_list();
    if (pair == nullptr || pair->size() != 2 || (*pair)[0].as_integer() == nullptr) {
      return false;
    }
    const auto trial = static_cast<std::uint64_t>(*(*pair)[0].as_integer());  // A negative one is past all.
    if (trial >= size_) {
      return false;
    }
    odd_.emplace(static_cast<std::size_t>(trial), (*pair)[1]);
  }
  return in.finished();
}

}  // namespace hpsearch::engine
