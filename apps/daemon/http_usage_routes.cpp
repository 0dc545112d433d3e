#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "daemon/http_request_context.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Duration;
using engine::ExperimentRecord;
using engine::Instant;
using engine::Value;

constexpr std::string_view by_user = "user";
constexpr std::string_view by_workspace = "workspace";
constexpr std::string_view by_experiment = "experiment";
constexpr std::string_view ways[] = {by_user, by_workspace, by_experiment};

/// What one user, workspace or experiment took.
struct Used {
  Duration slot_time;
  std::int64_t slots = 0;
  std::uint64_t experiments = 0;
  std::uint64_t trials = 0;
};

std::string key_of(const ExperimentRecord& record, std::string_view by) {
  if (by == by_user) {
    return record.owner;
  }
  if (by == by_workspace) {
    return std::string(engine::workspace_of(record.config));
  }
  return std::to_string(record.id.number());
}

/// O(experiments).
void usage(RequestContext& context, Call call) {
  const std::string_view given = call.request.query_or("by", by_user);
  const std::string by(given.empty() ? by_user : given);
  const auto since = number_of(call.request, "since", 0);
  constexpr std::uint64_t latest = 9'000'000'000'000;  // In microseconds it fits.
  if (!since || *since > latest) {
    call.reply(failure(since ? engine::Error{engine::Errc::bad_request, "since is no time"} : since.error()));
    return;
  }
  const Instant now = context.runtime.now();
  const Instant from = Instant::from_micros(static_cast<std::int64_t>(*since) * 1'000'000);
  std::map<std::string, Used> all;
  for (const auto& [id, record] : context.runtime.engine().experiments()) {
    const Duration slot_time = record.slot_time.between(from, std::max(now, record.slot_time.since()));
    const bool counts = slot_time > Duration() || record.created_at >= from;
    if (!counts || !may_see(call.caller, record)) {
      continue;
    }
    Used& used = all[key_of(record, by)];
    used.slot_time = used.slot_time + slot_time;
    used.slots += record.slot_time.slots();
    ++used.experiments;
    used.trials += record.trials.size();
  }
  std::vector<std::pair<std::string, Used>> sorted(all.begin(), all.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.slot_time > b.second.slot_time; });
  Value::List rows;
  for (const auto& [key, used] : sorted) {
    Value::Map row{{"slot_seconds", used.slot_time.in_seconds()},
                   {"slots", used.slots},
                   {"experiments", integer(used.experiments)},
                   {"trials", integer(used.trials)}};
    row[by] = key;
    rows.emplace_back(std::move(row));
  }
  context.answer(call,
                 with(200, Value::Map{{"by", by},
                                      {"since", static_cast<std::int64_t>(
                                                    engine::SlotTime::hour_of(from).micros() / 1'000'000)},
                                      {"until", static_cast<double>(now.micros()) / 1e6},
                                      {"usage", std::move(rows)}}));
}

constexpr QueryParameter usage_query[] = {
    {"by", QueryParameter::Kind::choice, "Whose use: that of users, workspaces or experiments.", 0, 0, ways},
    {"since", QueryParameter::Kind::whole_number,
     "Seconds since the epoch; counted from the start of that hour on.", 0, 9'000'000'000'000},
};

constexpr Route table[] = {
    {"GET",
     "/api/v1/usage",
     Role::viewer,
     &usage,
     {"show_usage", "access", "Slot time by user, workspace or experiment", "Usage"},
     usage_query},
};

}  // namespace

std::span<const Route> usage_routes() noexcept {
  return table;
}

}  // namespace hpsearch::daemon
