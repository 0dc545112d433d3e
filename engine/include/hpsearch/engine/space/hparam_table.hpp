#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "hpsearch/engine/base/chunked_vector.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::engine {

/// The configurations of an experiment's trials, by trial number: 8 bytes for each parameter that varies.
///
/// What is read is exactly what was added, types included and without inactive parameters, but for the sign
/// of a 0.0 that the space lists. A configuration that is not of the space's shape (an older log may hold
/// one) is kept as it came.
///
/// Cost: O(leaves) per call; push_back also looks through the vals of categorical leaves.
class HparamTable {
 public:
  HparamTable() = default;
  /// The space is copied.
  explicit HparamTable(const Space& space);

  void push_back(const Value& hparams);
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] Value operator[](std::size_t trial) const;
  [[nodiscard]] const Space& space() const noexcept { return space_; }

  /// One leaf of one configuration, without making a Value of it.
  struct Cell {
    enum class Kind : std::uint8_t {
      absent,  ///< The leaf is inactive.
      number,  ///< The value of a parameter with a range.
      place,   ///< Which of a categorical's vals; for a constant 0.
      other,   ///< The configuration is not of the space's shape: operator[] has it.
    };
    Kind kind = Kind::absent;
    double number = 0;
    std::uint64_t place = 0;
  };
  /// `leaf` is its place in space().leaves(). O(conditions of the leaf and of its parents).
  [[nodiscard]] Cell cell(std::size_t trial, std::size_t leaf) const;

 private:
  [[nodiscard]] bool pack(const Value& hparams);
  [[nodiscard]] Value unpacked(std::size_t trial) const;
  [[nodiscard]] std::uint64_t word(std::size_t trial, std::size_t leaf) const noexcept;
  [[nodiscard]] bool is_active(std::size_t trial, std::size_t leaf) const;

  Space space_;
  std::size_t width_ = 0;            // Leaves that vary.
  std::vector<std::size_t> places_;  // For each leaf that varies: its word among them.
  std::size_t size_ = 0;
  ChunkedVector<std::uint64_t> words_;
  std::vector<std::uint64_t> packed_;  // The row that is being added; a member to use its memory again.
  std::map<std::size_t, Value> odd_;   // Those of another shape.
};

}  // namespace hpsearch::engine
