#include "hpsearch/engine/experiment/workspace.hpp"

#include <cstdio>
#include <string>

#include "cli/client/answers.hpp"
#include "cli/client/server.hpp"
#include "cli/render/table.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/io/http/http.hpp"
#include "hpsearch/proto/api/access.hpp"

namespace hpsearch::cli {
namespace {

using engine::QuotaLimit;
using engine::Value;
using Align = Table::Align;

constexpr const char* workspaces_target = "/api/v1/workspaces";

/// Empty for "none".
Outcome<std::optional<std::uint64_t>> read_limit(const QuotaLimit& limit, const std::string& text) {
  if (text == "none") {
    return std::optional<std::uint64_t>();
  }
  const auto number = engine::number_in<std::uint64_t>(text);
  if (!number || *number > limit.largest) {
    return usage_failure(std::string(limit.option) + " is \"" + printable(text) +
                         "\"; it must be a whole number from 0 to " + std::to_string(limit.largest) +
                         ", or none");
  }
  return std::optional(*number);
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

std::string amount_text(const std::optional<std::uint64_t>& limit, const char* none) {
  return limit ? std::to_string(*limit) : none;
}

void show_all(const std::vector<api::Workspace>& workspaces, const Output& output) {
  Table table({{"WORKSPACE"},
               {"SLOTS", Align::right},
               {"ACTIVE EXPERIMENTS", Align::right},
               {"EXPERIMENTS", Align::right},
               {"SLOT HOURS", Align::right},
               {"CREATOR"}});
  for (const api::Workspace& workspace : workspaces) {
    const auto use = [&workspace](std::string_view limit) {
      std::size_t i = 0;
      while (engine::quota_limits[i].name != limit) {
        ++i;
      }
      const auto& most = workspace.quota.limits[i];
      return amount_text(workspace.used.uses[i].value, "-") + (most ? " of " + amount_text(most, "") : "");
    };
    table.add({workspace.name, use("max_slots"), use("max_active_experiments"),
               std::to_string(workspace.experiments), use("slot_hours_per_30d"), workspace.creator});
  }
  output.print(table.text(output.width()));
}

/// Prints each limit of one workspace.
void show_limits(const api::Workspace& workspace, const Output& output) {
  Table table({{"LIMIT"}, {"USED", Align::right}, {"QUOTA", Align::right}, {"OPTION"}, {"WHAT IS LIMITED"}});
  for (std::size_t i = 0; i < engine::quota_limits.size(); ++i) {
    const QuotaLimit& limit = engine::quota_limits[i];
    table.add({std::string(limit.name), amount_text(workspace.used.uses[i].value, "-"),
               amount_text(workspace.quota.limits[i], "none"), std::string(limit.option),
               std::string(limit.about)});
  }
  output.print(table.text(output.width()));
}

int show_one(const Outcome<Value>& workspace, const Output& output) {
  return show_answer<api::Workspace>(workspace, output,
                                     [&](const api::Workspace& shown) { show_limits(shown, output); });
}

/// The workspace's quota, with the given limits replaced.
Outcome<Value> changed_quota(const Client& client, const WorkspaceOptions& options) {
  const auto all = read_as<api::WorkspaceList>(client.get(workspaces_target));
  if (!all) {
    return all.failure();
  }
  api::Quota quota;
  for (const api::Workspace& workspace : all->workspaces) {
    if (workspace.name == options.name) {
      quota = workspace.quota;
    }
  }
  for (std::size_t i = 0; i < engine::quota_limits.size(); ++i) {
    if (const auto& given = options.limits[i]) {
      const auto read = read_limit(engine::quota_limits[i], *given);
      if (!read) {
        return read.failure();
      }
      quota.limits[i] = *read;
    }
  }
  return proto::encode_value(quota);
}

}  // namespace

int workspace_list(const WorkspaceOptions& options, const Output& output) {
  const Outcome<Server> server = Server::reach_shared(options.server, output);
  const Outcome<Value> answer =
      server ? server->client().get(workspaces_target) : Outcome<Value>(server.failure());
  return show_answer<api::WorkspaceList>(
      answer, output, [&](const api::WorkspaceList& list) { show_all(list.workspaces, output); });
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
