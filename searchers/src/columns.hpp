#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::searchers {

// Many small numbers as one text: five bits to a letter, the lowest first, with a sixth that says whether more
// follow (the variable-length quantities of source maps). A million trials are then a few texts instead of
// millions of values, and still stand in JSON as they are.

class ColumnWriter {
 public:
  void put(engine::Cardinality number);
  /// Small numbers of both signs are short.
  void put_signed(std::int64_t number) { put(folded(number)); }
  [[nodiscard]] static std::uint64_t folded(std::int64_t number) noexcept {
    return (static_cast<std::uint64_t>(number) << 1U) ^ static_cast<std::uint64_t>(number >> 63U);
  }
  [[nodiscard]] engine::Value take() { return engine::Value(std::move(text_)); }

 private:
  std::string text_;
};

/// Reads them back. What is no column, or ends too early, reads as zeros and makes good() false.
class ColumnReader {
 public:
  explicit ColumnReader(const engine::Value& column) noexcept;

  [[nodiscard]] std::uint64_t take() noexcept;
  [[nodiscard]] engine::Cardinality take_wide() noexcept;
  [[nodiscard]] std::int64_t take_signed() noexcept { return unfolded(take()); }
  [[nodiscard]] static std::int64_t unfolded(std::uint64_t number) noexcept {
    return static_cast<std::int64_t>((number >> 1U) ^ (~(number & 1U) + 1U));
  }
  [[nodiscard]] bool at_end() const noexcept { return left_.empty(); }
  [[nodiscard]] bool good() const noexcept { return good_; }
  /// Everything was well-formed and nothing is left.
  [[nodiscard]] bool is_done() const noexcept { return good_ && at_end(); }
  /// No more numbers than this can follow: a bound before memory is taken for them.
  [[nodiscard]] std::size_t most_left() const noexcept { return left_.size(); }

 private:
  std::string_view left_;
  bool good_ = true;
};

}  // namespace hpsearch::searchers
