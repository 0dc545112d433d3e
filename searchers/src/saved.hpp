#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/score.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::searchers {

// How state is spelled as a Value, and read back by somebody who trusts nothing.

/// A count below 2^63, as everything counted here is.
[[nodiscard]] engine::Value saved_count(std::uint64_t count);
/// null is the worst score: an infinity has no spelling in JSON.
[[nodiscard]] engine::Value saved_score(engine::Score score);

/// The number that these decimal digits spell; nothing for what is no number or does not fit.
[[nodiscard]] std::optional<engine::Cardinality> cardinality_of(std::string_view digits) noexcept;

[[nodiscard]] engine::Error corrupt(std::string_view what);

/// Reads the elements of a list of known length in order. What does not fit reads as zero and makes good()
/// false.
class SavedRow {
 public:
  SavedRow(const engine::Value& saved, std::size_t elements) noexcept;

  [[nodiscard]] std::uint64_t count() noexcept;
  [[nodiscard]] std::uint64_t count_below(std::uint64_t bound) noexcept;
  [[nodiscard]] std::optional<std::uint64_t> count_or_null() noexcept;
  [[nodiscard]] engine::Score score() noexcept;
  [[nodiscard]] bool good() const noexcept { return good_; }

 private:
  [[nodiscard]] const engine::Value* take() noexcept;

  const engine::Value::List* elements_;
  std::size_t next_ = 0;
  bool good_;
};

/// Reads the members of a map by name, likewise.
class SavedMap {
 public:
  /// `kind` must stand under "kind": a tournament's state does not load into a grid.
  SavedMap(const engine::Value& saved, std::string_view kind) noexcept;

  [[nodiscard]] std::uint64_t count(std::string_view key) noexcept;
  /// Spelled in decimal digits: it may not fit an integer of JSON.
  [[nodiscard]] engine::Cardinality cardinality(std::string_view key) noexcept;
  [[nodiscard]] double fraction(std::string_view key) noexcept;  ///< In [0, 1].
  [[nodiscard]] bool flag(std::string_view key) noexcept;
  [[nodiscard]] const engine::Value::List& list(std::string_view key) noexcept;
  [[nodiscard]] const engine::Value& value(std::string_view key) noexcept;
  [[nodiscard]] const std::string& text(std::string_view key) noexcept;
  [[nodiscard]] bool good() const noexcept { return good_; }

 private:
  const engine::Value::Map* members_;
  bool good_;
};

}  // namespace hpsearch::searchers
