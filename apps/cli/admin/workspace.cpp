#include "hpsearch/engine/experiment/workspace.hpp"

#include <cstdio>
#include <string>

#include "cli/client/server.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/table.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/io/http/http.hpp"

namespace hpsearch::cli {
namespace {

using engine::QuotaLimit;
using engine::Value;
using Align = Table::Align;

constexpr const char* workspaces_target = "/api/v1/workspaces";

/// A number, or null for "none".
Outcome<Value> read_limit(const QuotaLimit& limit, const std::string& text) {
  if (text == "none") {
    return Value();
  }
  const auto number = engine::number_in<std::uint64_t>(text);
  if (!number || *number > limit.largest) {
    return usage_failure(std::string(limit.option) + " is \"" + printable(text) +
                         "\"; it must be a whole number from 0 to " + std::to_string(limit.largest) +
                         ", or none");
  }
  return Value(static_cast<std::int64_t>(*number));
}

/// "5", "2.50"; `none` for null.
std::string amount_text(const Value& amount, const char* none) {
  if (amount.is_null()) {
    return none;
  }
  if (const std::int64_t* whole = amount.as_integer()) {
    return std::to_string(*whole);
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", amount.as_real() == nullptr ? 0.0 : *amount.as_real());
  return text;
}

void show_all(const std::vector<Value>& workspaces, const Output& output) {
  Table table({{"WORKSPACE"},
               {"SLOTS", Align::right},
               {"ACTIVE EXPERIMENTS", Align::right},
               {"EXPERIMENTS", Align::right},
               {"SLOT HOURS", Align::right},
               {"CREATOR"}});
  for (const Value& workspace : workspaces) {
    const Value used = member(workspace, "used");
    const Value quota = member(workspace, "quota");
    const auto use = [&](const char* limit) {
      const Value most = member(quota, limit);
      return amount_text(member(used, limit), "-") + (most.is_null() ? "" : " of " + amount_text(most, ""));
    };
    table.add({text_at(workspace, "name"), use("max_slots"), use("max_active_experiments"),
               std::to_string(count_at(workspace, "experiments")), use("slot_hours_per_30d"),
               text_at(workspace, "creator")});
  }
  output.print(table.text(output.width()));
}

/// Prints each limit of one workspace.
void show_limits(const Value& workspace, const Output& output) {
  Table table({{"LIMIT"}, {"USED", Align::right}, {"QUOTA", Align::right}, {"OPTION"}, {"WHAT IS LIMITED"}});
  for (const QuotaLimit& limit : engine::quota_limits) {
    const std::string name(limit.name);
    table.add({name, amount_text(member(member(workspace, "used"), name), "-"),
               amount_text(member(member(workspace, "quota"), name), "none"), std::string(limit.option),
               std::string(limit.about)});
  }
  output.print(table.text(output.width()));
}

int show_one(const Outcome<Value>& workspace, const Output& output) {
  if (!workspace) {
    return output.fail(workspace.failure());
  }
  if (output.json()) {
    output.data(*workspace);
  } else {
    show_limits(*workspace, output);
  }
  return 0;
}

/// The workspace's quota, with the given limits replaced.
Outcome<Value> changed_quota(const Client& client, const WorkspaceOptions& options) {
  const Outcome<Value> answer = client.get(workspaces_target);
  if (!answer) {
    return answer.failure();
  }
  Value::Map quota;
  for (const Value& workspace : list_at(*answer, "workspaces")) {
    if (text_at(workspace, "name") == options.name) {
      quota = *member(workspace, "quota").as_map();
    }
  }
  for (std::size_t i = 0; i < engine::quota_limits.size(); ++i) {
    const QuotaLimit& limit = engine::quota_limits[i];
    if (const auto& given = options.limits[i]) {
      Outcome<Value> read = read_limit(limit, *given);
      if (!read) {
        return read.failure();
      }
      quota[std::string(limit.name)] = *std::move(read);
    }
  }
  return Value(std::move(quota));
}

}  // namespace

int workspace_list(const WorkspaceOptions& options, const Output& output) {
  const Outcome<Server> server = Server::reach_shared(options.server, output);
  const Outcome<Value> answer =
      server ? server->client().get(workspaces_target) : Outcome<Value>(server.failure());
  if (!answer) {
    return output.fail(answer.failure());
  }
  if (output.json()) {
    output.data(*answer);
  } else {
    show_all(list_at(*answer, "workspaces"), output);
  }
  return 0;
}

int workspace_create(const WorkspaceOptions& options, const Output& output) {
  const Outcome<Server> server = Server::reach_shared(options.server, output);
  if (!server) {
    return output.fail(server.failure());
  }
  return show_one(server->client().post(workspaces_target, Value::Map{{"name", options.name}}), output);
}

int workspace_quota(const WorkspaceOptions& options, const Output& output) {
  const Outcome<Server> server = Server::reach_shared(options.server, output);
  const Outcome<Value> quota =
      server ? changed_quota(server->client(), options) : Outcome<Value>(server.failure());
  if (!quota) {
    return output.fail(quota.failure());
  }
  return show_one(
      server->client().put(
          std::string(workspaces_target) + "/" + net::percent_encoded(options.name) + "/quota", *quota),
      output);
}

}  // namespace hpsearch::cli
