#include <array>
#include <charconv>

#include "cli/server.hpp"
#include "cli/shapes.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "hpsearch/net/http.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;
using Align = Table::Align;

constexpr const char* workspaces_target = "/api/v1/workspaces";

/// An option of `workspace quota` and the limit that it sets.
struct LimitOption {
  const char* option;
  const char* field;
  std::optional<std::string> WorkspaceOptions::*given;
};
constexpr std::array limit_options{
    LimitOption{"--slots", "max_slots", &WorkspaceOptions::slots},
    LimitOption{"--slots-per-user", "max_slots_per_user", &WorkspaceOptions::slots_per_user},
    LimitOption{"--experiments", "max_active_experiments", &WorkspaceOptions::experiments},
    LimitOption{"--trials", "max_trials_per_experiment", &WorkspaceOptions::trials}};

/// A number, or null for "none".
Outcome<Value> read_limit(const char* option, const std::string& text) {
  if (text == "none") {
    return Value();
  }
  std::int64_t number = 0;
  const char* all = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), all, number);
  if (error != std::errc() || end != all || number < 0 || number > 1'000'000'000) {
    return usage_failure(std::string(option) + " is \"" + printable(text) +
                         "\"; it must be a whole number from 0 to 1000000000, or none");
  }
  return Value(number);
}

/// "5 of 8", "5"
std::string used_text(std::uint64_t used, const Value& limit) {
  const std::int64_t* most = limit.as_integer();
  return std::to_string(used) + (most == nullptr ? "" : " of " + std::to_string(*most));
}

std::string limit_text(const Value& limit) {
  const std::int64_t* most = limit.as_integer();
  return most == nullptr ? "-" : std::to_string(*most);
}

void show(const std::vector<Value>& workspaces, const Output& output) {
  Table table({{"WORKSPACE"},
               {"SLOTS", Align::right},
               {"PER USER", Align::right},
               {"ACTIVE EXPERIMENTS", Align::right},
               {"TRIALS EACH", Align::right},
               {"EXPERIMENTS", Align::right},
               {"CREATOR"}});
  for (const Value& workspace : workspaces) {
    const Value quota = member(workspace, "quota");
    table.add({text_at(workspace, "name"),
               used_text(count_at(workspace, "slots"), member(quota, "max_slots")),
               limit_text(member(quota, "max_slots_per_user")),
               used_text(count_at(workspace, "active_experiments"), member(quota, "max_active_experiments")),
               limit_text(member(quota, "max_trials_per_experiment")),
               std::to_string(count_at(workspace, "experiments")), text_at(workspace, "creator")});
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
    show({*workspace}, output);
  }
  return 0;
}

/// The quota of the workspace with the limits that were given instead of those it has.
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
  for (const LimitOption& limit : limit_options) {
    if (const auto& given = options.*limit.given) {
      Outcome<Value> read = read_limit(limit.option, *given);
      if (!read) {
        return read.failure();
      }
      quota[limit.field] = *std::move(read);
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
    show(list_at(*answer, "workspaces"), output);
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
