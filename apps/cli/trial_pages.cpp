#include "cli/trial_pages.hpp"

#include "cli/client.hpp"
#include "cli/text.hpp"

namespace hpsearch::cli {

using engine::Value;

Outcome<std::optional<std::uint64_t>> each_trial(const GetPage& get, std::uint64_t experiment, const TrialRange& range,
                                                 const std::function<void(const Value&)>& show) {
  std::optional<std::uint64_t> after = range.after;
  std::uint64_t shown = 0;
  for (;;) {
    std::string query = after ? "&after=" + std::to_string(*after) : "";
    if (range.most) {
      query += "&limit=" + std::to_string(*range.most - shown);
    }
    const Outcome<Value> page = get(experiment_target(experiment, "/trials" + (query.empty() ? "" : "?" + query.substr(1))));
    if (!page) {
      return page.failure();
    }
    for (const Value& trial : list_at(*page, "trials")) {
      show(trial);
      ++shown;
    }
    if (member(*page, "next").is_null()) {
      return std::optional<std::uint64_t>();
    }
    const std::uint64_t next = count_at(*page, "next");
    if (after && next <= *after) {
      return plain_failure("the daemon's list of trials goes round in circles: after trial " + std::to_string(*after) +
                           " comes " + std::to_string(next));
    }
    after = next;
    if (range.most && shown >= *range.most) {
      return after;
    }
  }
}

}  // namespace hpsearch::cli
