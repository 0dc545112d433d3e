#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/proto/views/columns.hpp"
#include "hpsearch/proto/views/page_cursor.hpp"

namespace hpsearch::views {

/// Trials in the order that `sort` asks for, page by page. Trials without a value come last, and equals by
/// number. Metrics come best first.
class TrialOrder {
 public:
  /// bad_request: a name is wrong, or `after` is no cursor of this order. Without `sort` the order is that of
  /// numbers.
  [[nodiscard]] static engine::Result<TrialOrder> read(const engine::ExperimentRecord& experiment,
                                                       std::string_view sort, std::string_view after);

  /// The fields that page() wants columns of: "trial", then its keys.
  [[nodiscard]] const std::string& fields() const noexcept { return fields_; }

  struct Page {
    std::vector<std::uint64_t> trials;
    std::uint64_t behind = 0;  ///< So many others follow.
  };
  /// At most `limit` trials behind the cursor. O(rows · log limit).
  [[nodiscard]] Page page(const Columns& columns, std::size_t limit) const;
  /// What leads to the page behind this trial, which is in the columns.
  [[nodiscard]] std::string cursor_behind(const Columns& columns, std::uint64_t trial) const;

 private:
  struct Row {
    std::size_t row = 0;
    std::uint64_t trial = 0;
  };
  [[nodiscard]] std::vector<std::vector<double>> keys_of(const Columns& columns) const;

  std::vector<SortKey> sort_;
  std::string fields_ = "trial";
  std::optional<PageCursor> after_;
};

}  // namespace hpsearch::views
