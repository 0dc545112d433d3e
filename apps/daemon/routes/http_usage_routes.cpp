#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "daemon/http/http_request_context.hpp"
#include "hpsearch/proto/api/access.hpp"
#include "hpsearch/proto/api/schema.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Duration;
using engine::Instant;
using engine::Value;

constexpr std::string_view by_user = "user";
constexpr std::string_view by_workspace = "workspace";
constexpr std::string_view by_experiment = "experiment";
constexpr std::string_view ways[] = {by_user, by_workspace, by_experiment};

/// Usage of one user, workspace or experiment.
struct Used {
  Duration slot_time;
  std::int64_t slots = 0;
  std::uint64_t experiments = 0;
  std::uint64_t trials = 0;
};

std::string key_of(engine::ExperimentId id, const std::string& owner, const std::string& workspace,
                   std::string_view by) {
  if (by == by_user) {
    return owner;
  }
  if (by == by_workspace) {
    return workspace;
  }
  return std::to_string(id.number());
}

/// O(experiments).
void usage(RequestContext& context, Call call) {
  const std::string_view given = call.request.query_or("by", by_user);
  const std::string by(given.empty() ? by_user : given);
  const auto since = number_of(call.request, "since", 0);
  constexpr std::uint64_t latest = 9'000'000'000'000;  // The latest time that fits in microseconds.
  if (!since || *since > latest) {
    call.reply(failure(since ? engine::Error{engine::Errc::bad_request, "since is no time"} : since.error()));
    return;
  }
  const Instant now = context.runtime.now();
  const Instant from = Instant::from_micros(static_cast<std::int64_t>(*since) * 1'000'000);
  std::map<std::string, Used> all;
  const auto add = [&](const std::string& key, const engine::SlotTime& held, Instant created_at,
                       std::uint64_t trials) {
    const Duration slot_time = held.between(from, std::max(now, held.since()));
    const bool counts = slot_time > Duration() || created_at >= from;
    if (!counts) {
      return;
    }
    Used& used = all[key];
    used.slot_time = used.slot_time + slot_time;
    used.slots += held.slots();
    ++used.experiments;
    used.trials += trials;
  };
  for (const auto& [id, record] : context.runtime.engine().experiments()) {
    if (may_see(call.caller, record)) {
      add(key_of(id, record.owner, std::string(engine::workspace_of(record.config)), by), record.slot_time,
          record.created_at, record.trials.size());
    }
  }
  for (const auto& [id, deleted] : context.runtime.engine().deleted()) {
    if (call.caller.scope.has(deleted.workspace)) {
      add(key_of(id, deleted.owner, deleted.workspace, by), deleted.slot_time, deleted.created_at,
          deleted.trials);
    }
  }
  std::vector<std::pair<std::string, Used>> sorted(all.begin(), all.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.slot_time > b.second.slot_time; });
  api::Usage usage{.by = *decltype(api::Usage::by)::find(by),
                   .since = static_cast<std::uint64_t>(engine::SlotTime::hour_of(from).micros() / 1'000'000),
                   .until = static_cast<double>(now.micros()) / 1e6};
  for (const auto& [key, used] : sorted) {
    api::Used& row = usage.usage.emplace_back();
    (by == by_user ? row.user : by == by_workspace ? row.workspace : row.experiment) = key;
    row.slot_seconds = used.slot_time.in_seconds();
    row.slots = static_cast<std::uint64_t>(used.slots);
    row.experiments = used.experiments;
    row.trials = used.trials;
  }
  context.answer(call, with(200, usage));
}

constexpr QueryParameter usage_query[] = {
    {"by", QueryParameter::Kind::choice, "Whose use: that of users, workspaces or experiments.", 0, 0, ways},
    {"since", QueryParameter::Kind::whole_number,
     "Seconds since the epoch; counted from the start of that hour on.", 0, 9'000'000'000'000},
};

constexpr Route usage_table[] = {
    {"GET",
     "/api/v1/usage",
     Role::viewer,
     &usage,
     {"show_usage", "access", "Slot time by user, workspace or experiment", api::schema_of<api::Usage>},
     usage_query},
};

}  // namespace

std::span<const Route> usage_routes() noexcept {
  return usage_table;
}

}  // namespace hpsearch::daemon
