#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/proto/views/columns.hpp"
#include "hpsearch/proto/views/page_cursor.hpp"

namespace hpsearch::views {

/// Trials in the order of `sort`, page by page. Trials without a value come last, and equal ones by
/// number. Metrics are ordered best first.
class TrialOrder {
 public:
  /// bad_request: a name is wrong, or `after` is no cursor of this order. Without `sort` the order is by
  /// number.
  [[nodiscard]] static engine::Result<TrialOrder> read(const engine::ExperimentRecord& experiment,
                                                       std::string_view sort, std::string_view after);

  /// The fields that page() needs as columns: "trial", then its keys.
  [[nodiscard]] const std::string& fields() const noexcept { return fields_; }

  struct Page {
    std::vector<std::uint64_t> trials;
    std::uint64_t behind = 0;  ///< The number of trials after the page.
  };
  /// At most `limit` trials after the cursor. O(rows · log limit).
  [[nodiscard]] Page page(const Columns& columns, std::size_t limit) const;
  /// The cursor of the page after this trial, which is in the columns.
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
