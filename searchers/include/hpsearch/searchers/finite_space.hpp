#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/space/combinations.hpp"
#include "hpsearch/engine/space/levels.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::searchers {

/// The configurations that a space allows whose real-valued parameters have steps, numbered from 0 without
/// gaps or repeats. Those that differ in inactive parameters only are one.
class FiniteSpace {
 public:
  /// Nothing when a leaf is real-valued and has no step, or when there are more than 2^126 configurations;
  /// with conditions, more than 20,000.
  [[nodiscard]] static std::optional<FiniteSpace> of(const engine::Space& space);

  [[nodiscard]] engine::Cardinality size() const noexcept { return size_; }
  [[nodiscard]] engine::Value at(engine::Cardinality index) const;
  /// Nothing for what is not in the space.
  [[nodiscard]] std::optional<engine::Cardinality> index_of(const engine::Value& configuration) const;

 private:
  struct Axis {
    std::vector<std::string> keys;
    engine::Cardinality size = 1;
    std::optional<engine::Levels> levels;         // Set for an axis of numbers, which has no vals.
    std::vector<engine::Value> vals;              // Each once.
    std::map<std::string, std::uint64_t> places;  // By their spelling: Where in vals.

    [[nodiscard]] engine::Value at(std::uint64_t place) const;
    [[nodiscard]] std::optional<std::uint64_t> place_of(const engine::Value& value) const;
  };

  [[nodiscard]] engine::Value product_at(engine::Cardinality index) const;
  [[nodiscard]] std::optional<engine::Cardinality> product_index_of(const engine::Value& configuration) const;
  [[nodiscard]] static std::optional<Axis> axis_of(const engine::Space::Leaf& leaf);

  std::vector<Axis> axes_;
  std::optional<engine::Combinations> combinations_;  // Set for a space with conditions.
  engine::Cardinality size_ = 1;
  std::optional<std::vector<std::uint32_t>> allowed_;  // Points of the product, if there are conditions.
};

/// The numbers 0 … size-1 in an order that looks random and is a function of the seed: a Feistel network of
/// six rounds over the next power of four, walked until it comes back into range (Black and Rogaway, "Ciphers
/// with Arbitrary Finite Domains", CT-RSA 2002).
class Shuffle {
 public:
  Shuffle(std::uint64_t seed, engine::Cardinality size) noexcept;
  [[nodiscard]] engine::Cardinality at(engine::Cardinality place) const noexcept;

 private:
  std::uint64_t seed_;
  engine::Cardinality size_;
  unsigned half_bits_ = 1;
};

}  // namespace hpsearch::searchers
