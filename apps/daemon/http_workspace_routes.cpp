#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "daemon/http_request_context.hpp"
#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;
using engine::Error;
using engine::Quota;
using engine::Result;
using engine::Value;
using engine::WorkspaceRecord;

/// A limit of a quota, by its name in JSON.
struct Limit {
  std::string_view name;
  std::optional<std::uint64_t> Quota::*member;
};
constexpr std::array limits{Limit{"max_slots", &Quota::max_slots},
                            Limit{"max_slots_per_user", &Quota::max_slots_per_user},
                            Limit{"max_active_experiments", &Quota::max_active_experiments},
                            Limit{"max_trials_per_experiment", &Quota::max_trials_per_experiment}};

constexpr std::int64_t largest_limit = 1'000'000'000;

Value value_of(const WorkspaceRecord& workspace) {
  Value::Map quota;
  for (const Limit& limit : limits) {
    const auto& given = workspace.quota.*limit.member;
    quota[std::string(limit.name)] = given ? integer(*given) : Value();
  }
  return Value::Map{
      {"name", workspace.name},
      {"created",
       workspace.created_at ? Value(static_cast<double>(workspace.created_at->micros()) / 1e6) : Value()},
      {"creator", workspace.creator},
      {"experiments", integer(workspace.experiments)},
      {"active_experiments", integer(workspace.active)},
      {"slots", integer(workspace.slots)},
      {"quota", std::move(quota)}};
}

void list(RequestContext& context, Call call) {
  Value::List all;
  for (const auto& [name, workspace] : context.runtime.engine().workspaces()) {
    all.emplace_back(value_of(workspace));
  }
  context.answer(call, with(200, Value::Map{{"workspaces", std::move(all)}}));
}

/// Shows the workspace as it is when the command is durable.
void change(RequestContext& context, const Call& call, const std::string& name, unsigned status,
            engine::Command command) {
  context.perform(call, std::move(command), [&context, name, status] {
    const auto& all = context.runtime.engine().workspaces();
    const auto found = all.find(name);
    return found == all.end() ? failure(Error{Errc::not_found, "there is no workspace \"" + name + "\""})
                              : with(status, value_of(found->second));
  });
}

void create(RequestContext& context, Call call) {
  const Result<Value> body = call.object();
  if (!body) {
    call.reply(failure(body.error()));
    return;
  }
  const Value::Map& map = *body->as_map();
  const Value* name = map.find("name");
  if (map.size() != 1 || name == nullptr || name->as_text() == nullptr) {
    call.reply(failure(Error{Errc::bad_request, R"(the body has to be {"name": TEXT})"}));
    return;
  }
  change(context, call, *name->as_text(), 201, engine::CreateWorkspace{*name->as_text()});
}

/// `problems` gets everything that is wrong with it.
Quota read_quota(const Value::Map& body, engine::Problems& problems) {
  Quota quota;
  for (const auto& [key, value] : body) {
    const auto limit =
        std::find_if(limits.begin(), limits.end(), [&](const Limit& one) { return one.name == key; });
    const std::int64_t* number = value.as_integer();
    if (limit == limits.end()) {
      std::array<std::string_view, limits.size()> names;
      std::transform(limits.begin(), limits.end(), names.begin(), [](const Limit& one) { return one.name; });
      const std::string_view near = engine::nearest(key, names);
      problems.push_back({key, "is not known",
                          near.empty() ? "max_slots, max_slots_per_user, max_active_experiments, "
                                         "max_trials_per_experiment"
                                       : std::string(near)});
    } else if (!value.is_null() && (number == nullptr || *number < 0 || *number > largest_limit)) {
      problems.push_back({key, "is " + engine::compact_json(value),
                          "a whole number from 0 to 1000000000, or null for no limit"});
    } else if (!value.is_null()) {
      quota.*limit->member = static_cast<std::uint64_t>(*number);
    }
  }
  return quota;
}

void set_quota(RequestContext& context, Call call) {
  const Result<Value> body = call.object();
  if (!body) {
    call.reply(failure(body.error()));
    return;
  }
  engine::Problems problems;
  const Quota quota = read_quota(*body->as_map(), problems);
  if (!problems.empty()) {
    call.reply(failure("the quota is wrong", problems));
    return;
  }
  change(context, call, call.word, 200, engine::ChangeQuota{call.word, quota});
}

constexpr Route table[] = {
    {"GET",
     "/api/v1/workspaces",
     Role::admin,
     &list,
     {"list_workspaces", "workspaces", "Lists workspaces, what they use, and their quotas", "WorkspaceList"}},
    {"POST",
     "/api/v1/workspaces",
     Role::admin,
     &create,
     {"create_workspace", "workspaces", "Creates a workspace", "Workspace", "WorkspaceRequest", 201}},
    {"PUT",
     "/api/v1/workspaces/%/quota",
     Role::admin,
     &set_quota,
     {"set_quota", "workspaces", "Replaces the quota of a workspace", "Workspace", "QuotaRequest"}},
};

}  // namespace

std::span<const Route> workspace_routes() noexcept {
  return table;
}

}  // namespace hpsearch::daemon
