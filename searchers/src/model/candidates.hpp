#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "axes.hpp"
#include "history.hpp"
#include "model/numeric/kernel.hpp"

namespace hpsearch::searchers::model {

/// Places that may be proposed: the space's conditions allow them, and none was started before.
class Candidates {
 public:
  Candidates(const Axes& axes, const History& history) : axes_(axes), history_(history) {
    points_.features = axes.features();
  }

  void clear() noexcept;
  void add_uniform(std::size_t count, engine::Draw& draw);
  /// Copies with some coordinates changed, each with this probability and at least one.
  void add_near(std::span<const double> place, std::size_t count, double probability, double width,
                engine::Draw& draw);

  [[nodiscard]] std::size_t size() const noexcept { return points_.size(); }
  [[nodiscard]] std::span<const double> place(std::size_t candidate) const {
    return std::span(places_).subspan(candidate * axes_.size(), axes_.size());
  }
  [[nodiscard]] const Points& points() const noexcept { return points_; }  ///< At full length.

 private:
  void add(std::span<const double> place);

  const Axes& axes_;
  const History& history_;
  std::vector<double> places_;
  std::vector<double> place_;
  std::vector<double> features_;
  Points points_;
};

/// Point `number` of a sequence that fills the unit cube evenly, wherever it is cut off: multiples of powers
/// of the root g of g^{d+1} = 1 + g, shifted at random. `place` is written, not snapped.
void kronecker_point(std::uint64_t seed, std::uint64_t number, std::span<double> place);

/// That root.
[[nodiscard]] double kronecker_root(std::size_t dimensions) noexcept;

/// Point `number` of what a search begins with: of the Kronecker sequence, or an independent draw where there
/// are many axes. `place` is written, not snapped.
void first_point(std::uint64_t seed, std::uint64_t number, std::span<double> place);

}  // namespace hpsearch::searchers::model
