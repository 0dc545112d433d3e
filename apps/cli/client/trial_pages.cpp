#include "cli/client/trial_pages.hpp"

#include <cstdlib>
#include <utility>

#include "cli/client/client.hpp"
#include "cli/render/text.hpp"

namespace hpsearch::cli {

using engine::Value;

namespace {

/// Where the next page begins, as the query spells it; "" if there is none.
std::string next_of(const Value& page) {
  const Value& next = member(page, "next");
  return next.as_text() != nullptr ? text_at(page, "next")
         : next.is_null()          ? std::string()
                                   : std::to_string(count_at(page, "next"));
}

/// The first entry of the next page, by trial and place in it.
std::pair<std::uint64_t, std::uint64_t> position_behind(const std::string& next) {
  const std::size_t dot = next.find('.');
  const std::uint64_t trial = std::strtoull(next.c_str(), nullptr, 10);
  return dot == std::string::npos
             ? std::pair(trial + 1, std::uint64_t{0})
             : std::pair(trial, std::uint64_t{std::strtoull(next.c_str() + dot + 1, nullptr, 10)});
}

/// Reads pages until range.most entries were shown. Returns where the next one begins if there are more,
/// otherwise "".
Outcome<std::string> each_page(const GetPage& get, std::uint64_t experiment, const std::string& list,
                               const TrialRange& range, const std::function<void(const Value&)>& turn) {
  std::string after = range.after ? std::to_string(*range.after) : "";
  std::uint64_t shown = 0;
  for (;;) {
    std::string query = after.empty() ? "" : "&after=" + after;
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
    const std::string next = next_of(*page);
    if (next.empty() || (range.most && shown >= *range.most)) {
      return next;
    }
    if (!after.empty() && position_behind(next) <= position_behind(after)) {
      return plain_failure("the daemon's list of " + list + " goes round in circles: after " + after +
                           " comes " + next);
    }
    after = next;
  }
}

}  // namespace

Outcome<std::optional<std::uint64_t>> each_trial(const GetPage& get, std::uint64_t experiment,
                                                 const TrialRange& range,
                                                 const std::function<void(const Value&)>& show) {
  const Outcome<std::string> next = each_page(get, experiment, "trials", range, [&show](const Value& page) {
    for (const Value& trial : list_at(page, "trials")) {
      show(trial);
    }
  });
  if (!next) {
    return next.failure();
  }
  return next->empty() ? std::optional<std::uint64_t>()
                       : std::optional<std::uint64_t>(std::strtoull(next->c_str(), nullptr, 10));
}

Outcome<std::optional<std::uint64_t>> each_chosen_trial(const GetPage& get, std::uint64_t experiment,
                                                        const std::string& query,
                                                        std::optional<std::uint64_t> most,
                                                        const std::function<void(const Value&)>& show) {
  std::string after;
  std::uint64_t shown = 0;
  for (;;) {
    std::string more = query + (after.empty() ? "" : "&after=" + after);
    if (most) {
      more += "&limit=" + std::to_string(*most - shown);
    }
    const Outcome<Value> page = get(experiment_target(experiment, "/trials?" + more.substr(1)));
    if (!page) {
      return page.failure();
    }
    for (const Value& trial : list_at(*page, "trials")) {
      show(trial);
      ++shown;
    }
    const std::string next = next_of(*page);
    if (next.empty() || list_at(*page, "trials").empty() || (most && shown >= *most)) {
      return std::optional<std::uint64_t>();
    }
    after = next;
  }
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
