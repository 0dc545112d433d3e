#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/http/http_request_context.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/api/access.hpp"
#include "hpsearch/proto/api/schema.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;
using engine::Error;
using engine::Quota;
using engine::quota_limits;
using engine::QuotaLimit;
using engine::Result;
using engine::Value;
using engine::WorkspaceRecord;

/// The workspace now, with its usage of each limit.
api::Workspace shown(const WorkspaceRecord& record, engine::Instant now) {
  api::Workspace workspace{.name = record.name,
                           .creator = record.creator,
                           .experiments = record.experiments,
                           .active_experiments = record.active,
                           .slots = record.slots};
  if (record.created_at) {
    workspace.created = static_cast<double>(record.created_at->micros()) / 1e6;
  }
  for (std::size_t i = 0; i < quota_limits.size(); ++i) {
    workspace.quota.limits[i] = record.quota.*quota_limits[i].value;
    workspace.used.uses[i].value = quota_limits[i].use(record, now);
  }
  return workspace;
}

void list(RequestContext& context, Call call) {
  api::WorkspaceList list;
  for (const auto& [name, workspace] : context.runtime.engine().workspaces()) {
    list.workspaces.push_back(shown(workspace, context.runtime.now()));
  }
  context.answer(call, with(200, list));
}

/// Shows the workspace as it is when the command is durable.
void change(RequestContext& context, const Call& call, const std::string& name, unsigned status,
            engine::Command command) {
  context.perform(call, std::move(command), [&context, name, status] {
    const auto& all = context.runtime.engine().workspaces();
    const auto found = all.find(name);
    return found == all.end() ? failure(Error{Errc::not_found, "there is no workspace \"" + name + "\""})
                              : with(status, shown(found->second, context.runtime.now()));
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

/// The problem of an unknown limit.
engine::Problem unknown(const std::string& key) {
  std::vector<std::string_view> names;
  std::string all;
  for (const QuotaLimit& limit : quota_limits) {
    names.push_back(limit.name);
    all += (all.empty() ? "" : ", ") + std::string(limit.name);
  }
  const std::string_view near = engine::nearest(key, names);
  return {key, "is not known", near.empty() ? std::move(all) : std::string(near)};
}

/// Adds everything that is wrong with it to `problems`.
Quota read_quota(const Value::Map& body, engine::Problems& problems) {
  Quota quota;
  for (const auto& member : body) {  // clang 14 has no structured bindings in lambdas.
    const std::string& key = member.first;
    const Value& value = member.second;
    const auto limit = std::find_if(quota_limits.begin(), quota_limits.end(),
                                    [&](const QuotaLimit& one) { return one.name == key; });
    const std::int64_t* number = value.as_integer();
    if (limit == quota_limits.end()) {
      problems.push_back(unknown(key));
    } else if (!value.is_null() &&
               (number == nullptr || *number < 0 || static_cast<std::uint64_t>(*number) > limit->largest)) {
      problems.push_back(
          {key, "is " + engine::compact_json(value),
           "a whole number from 0 to " + std::to_string(limit->largest) + ", or null for no limit"});
    } else if (!value.is_null()) {
      quota.*limit->value = static_cast<std::uint64_t>(*number);
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

constexpr Route workspace_table[] = {
    {"GET",
     "/api/v1/workspaces",
     Role::admin,
     &list,
     {"list_workspaces", "workspaces", "Lists workspaces, what they use, and their quotas",
      api::schema_of<api::WorkspaceList>}},
    {"POST",
     "/api/v1/workspaces",
     Role::admin,
     &create,
     {"create_workspace", "workspaces", "Creates a workspace", api::schema_of<api::Workspace>,
      api::schema_of<api::WorkspaceRequest>, 201}},
    {"PUT",
     "/api/v1/workspaces/{workspace}/quota",
     Role::admin,
     &set_quota,
     {"set_quota", "workspaces", "Replaces the quota of a workspace", api::schema_of<api::Workspace>,
      api::schema_of<api::QuotaRequest>}},
};

}  // namespace

std::span<const Route> workspace_routes() noexcept {
  return workspace_table;
}

}  // namespace hpsearch::daemon
