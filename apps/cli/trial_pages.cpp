#include "cli/trial_pages.hpp"

#include "cli/client.hpp"
#include "cli/text.hpp"

namespace hpsearch::cli {

using engine::Value;

namespace {

/// Pages that end behind a whole trial. The last one's number when there are more, else nothing.
Outcome<std::optional<std::uint64_t>> each_page(const GetPage& get, std::uint64_t experiment,
                                                const std::string& list, const TrialRange& range,
                                                const std::function<void(const Value&)>& turn) {
  std::optional<std::uint64_t> after = range.after;
  std::uint64_t shown = 0;
  for (;;) {
    std::string query = after ? "&after=" + std::to_string(*after) : "";
    if (range.most) {
      query += "&limit=" + std::to_string(*range.most - shown);
    }
    const Outcome<Value> page =
        get(experiment_target(experiment, "/" + list + (query.empty() ? "" : "?" + query.substr(1))));
    if (!page) {
      return page.failure();
    }
    turn(*page);
    shown += list_at(*page, list).size();
    if (member(*page, "next").is_null()) {
      return std::optional<std::uint64_t>();
    }
    const std::uint64_t next = count_at(*page, "next");
    if (after && next <= *after) {
      return plain_failure("the daemon's list of " + list + " goes round in circles: after trial " +
                           std::to_string(*after) + " comes " + std::to_string(next));
    }
    after = next;
    if (range.most && shown >= *range.most) {
      return after;
    }
  }
}

}  // namespace

Outcome<std::optional<std::uint64_t>> each_trial(const GetPage& get, std::uint64_t experiment,
                                                 const TrialRange& range,
                                                 const std::function<void(const Value&)>& show) {
  return each_page(get, experiment, "trials", range, [&show](const Value& page) {
    for (const Value& trial : list_at(page, "trials")) {
      show(trial);
    }
  });
}

Outcome<std::uint64_t> each_checkpoint(const GetPage& get, std::uint64_t experiment,
                                       const std::function<void(const Value&)>& show) {
  std::uint64_t being_deleted = 0;
  const auto done = each_page(get, experiment, "checkpoints", {}, [&](const Value& page) {
    being_deleted = count_at(page, "being_deleted");
    for (const Value& checkpoint : list_at(page, "checkpoints")) {
      show(checkpoint);
    }
  });
  return done ? Outcome<std::uint64_t>(being_deleted) : Outcome<std::uint64_t>(done.failure());
}

Outcome<Value::List> metrics_of_trial(const GetPage& get, std::uint64_t experiment, std::uint64_t trial) {
  const std::string target = experiment_target(experiment, "/trials/" + std::to_string(trial) + "/metrics");
  Value::List all;
  std::string after;
  for (;;) {
    const Outcome<Value> page = get(target + (after.empty() ? "" : "?after=" + after));
    if (!page) {
      return page.failure();
    }
    const Value::List& reports = list_at(*page, "metrics");
    all.insert(all.end(), reports.begin(), reports.end());
    if (member(*page, "next").is_null()) {
      return all;
    }
    const std::string next = text_at(*page, "next");
    if (next == after || reports.empty()) {
      return plain_failure("the daemon's list of metrics goes round in circles at " + next);
    }
    after = next;
  }
}

}  // namespace hpsearch::cli
