#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/http/http_request_context.hpp"
#include "hpsearch/engine/base/text.hpp"

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

/// Now, with what it uses of each limit.
Value value_of(const WorkspaceRecord& workspace, engine::Instant now) {
  Value::Map quota;
  Value::Map used;
  for (const QuotaLimit& limit : quota_limits) {
    const auto& given = workspace.quota.*limit.value;
    quota[std::string(limit.name)] = given ? integer(*given) : Value();
    used[std::string(limit.name)] = limit.use(workspace, now);
  }
  return Value::Map{
      {"name", workspace.name},
      {"created",
       workspace.created_at ? Value(static_cast<double>(workspace.created_at->micros()) / 1e6) : Value()},
      {"creator", workspace.creator},
      {"experiments", integer(workspace.experiments)},
      {"active_experiments", integer(workspace.active)},
      {"slots", integer(workspace.slots)},
      {"used", std::move(used)},
      {"quota", std::move(quota)}};
}

void list(RequestContext& context, Call call) {
  Value::List all;
  for (const auto& [name, workspace] : context.runtime.engine().workspaces()) {
    all.emplace_back(value_of(workspace, context.runtime.now()));
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
                              : with(status, value_of(found->second, context.runtime.now()));
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

/// What is wrong with a limit that was not found.
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

/// `problems` gets everything that is wrong with it.
Quota read_quota(const Value::Map& body, engine::Problems& problems) {
  Quota quota;
  for (const auto& [key, value] : body) {
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
     {"list_workspaces", "workspaces", "Lists workspaces, what they use, and their quotas", "WorkspaceList"}},
    {"POST",
     "/api/v1/workspaces",
     Role::admin,
     &create,
     {"create_workspace", "workspaces", "Creates a workspace", "Workspace", "WorkspaceRequest", 201}},
    {"PUT",
     "/api/v1/workspaces/{workspace}/quota",
     Role::admin,
     &set_quota,
     {"set_quota", "workspaces", "Replaces the quota of a workspace", "Workspace", "QuotaRequest"}},
};

}  // namespace

std::span<const Route> workspace_routes() noexcept {
  return workspace_table;
}

}  // namespace hpsearch::daemon
