#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::views {

/// A key of an order, as `sort` has it: "metric", or "-metric" for descending.
struct SortKey {
  std::string name;
  bool is_reversed = false;
};

/// Reads the keys of "metric,-created_at". bad_request: a name is empty, or there are more than 8.
[[nodiscard]] engine::Result<std::vector<SortKey>> read_sort(std::string_view text);

/// The end of a page of a sorted list: the keys of its last entry, and the entry's number, which orders
/// equal entries.
struct PageCursor {
  engine::Value::List keys;
  std::uint64_t number = 0;

  /// Letters and digits; opaque to clients.
  [[nodiscard]] std::string text() const;
  /// bad_request: it isn't the text() of a cursor with this number of keys.
  [[nodiscard]] static engine::Result<PageCursor> read(std::string_view text, std::size_t keys);
};

/// The entries of a list, ordered by their keys; those without a key last, equal ones by number.
class SortedPage {
 public:
  /// An entry; its keys are in the order of `sort`.
  struct Entry {
    engine::Value::List keys;
    std::uint64_t number = 0;
  };

  explicit SortedPage(std::vector<SortKey> sort) : sort_(std::move(sort)) {}
  [[nodiscard]] const std::vector<SortKey>& sort() const noexcept { return sort_; }
  [[nodiscard]] bool is_before(const Entry& a, const Entry& b) const;

 private:
  std::vector<SortKey> sort_;
};

/// -1, 0 or 1: numbers before texts, texts ignoring case, then null.
[[nodiscard]] int compare_values(const engine::Value& a, const engine::Value& b);

}  // namespace hpsearch::views
