#include <array>
#include <string_view>

#include "cli/client/last_summary.hpp"
#include "cli/client/which.hpp"
#include "cli/experiment/changed_limits.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/jobs/yaml/plain_scalar.hpp"
#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

std::string_view short_name(std::string_view limit) {
  return limit.substr(limit.find('.') + 1);
}

/// "max_trials" or "searcher.max_trials" as the full path; "" if there is no such limit.
std::string_view full_name(std::string_view given) {
  for (const std::string_view limit : changeable_limits) {
    if (given == limit || given == short_name(limit)) {
      return limit;
    }
  }
  return "";
}

Failure unknown_limit(const std::string& given) {
  std::array<std::string_view, changeable_limits.size()> names{};
  std::string all;
  for (std::size_t i = 0; i < changeable_limits.size(); ++i) {
    names[i] = short_name(changeable_limits[i]);
    all += (all.empty() ? "" : ", ") + std::string(names[i]);
  }
  const std::string near(engine::nearest(given, names));
  return usage_failure("\"" + given + "\" is no limit that can change" +
                       (near.empty() ? "" : "; did you mean \"" + near + "\"?") + " (" + all + ")");
}

Outcome<Value> changes_of(const std::vector<std::string>& assignments) {
  Value::Map changes;
  for (const std::string& assignment : assignments) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0) {
      return usage_failure("\"" + assignment +
                           "\" is not an assignment (LIMIT=VALUE, for example max_trials=200)");
    }
    const std::string given = assignment.substr(0, equals);
    const std::string written = assignment.substr(equals + 1);
    const std::string_view path = full_name(given);
    if (path.empty()) {
      return unknown_limit(given);
    }
    Value value;
    if (written.starts_with('[')) {
      const auto list = proto::parse_json(written);
      if (!list) {
        return usage_failure(given + ": " + list.error().message);
      }
      value = *list;
    } else if (written != "none" && written != "null") {
      const auto resolved = yaml::resolve_plain(written);
      if (const auto* refusal = std::get_if<yaml::Refusal>(&resolved)) {
        return usage_failure(given + ": " + refusal->what + " (" + refusal->allowed + ")");
      }
      value = std::get<Value>(resolved);
    }
    Value& section = changes[path.substr(0, path.find('.'))];
    if (section.is_null()) {
      section = Value::Map();
    }
    if (section.as_map()->contains(short_name(path))) {
      return usage_failure(given + " is given twice");
    }
    (*section.as_map())[short_name(path)] = std::move(value);
  }
  return Value(std::move(changes));
}

/// The value of a limit in the changed experiment; for `none`, its default.
std::string held_text(const Outcome<Value>& config, const std::string& path, const Value& asked) {
  if (!config) {  // The change succeeded all the same: the daemon has confirmed it.
    return asked.is_null() ? "its default" : engine::python_text(asked);
  }
  const Value* held = config->at_path(path);
  if (asked.is_null()) {
    return held == nullptr || held->is_null() ? "no limit" : engine::python_text(*held) + " (the default)";
  }
  return engine::python_text(held != nullptr && held->as_integer() != nullptr ? *held
                                                                              // Prints 1e3 as 1000.
                                                                              : asked);
}

bool lets_nothing_run(const Value& config) {
  const Value* most = config.at_path("resources.max_slots");
  const Value* slots = config.at_path("resources.slots_per_trial");
  return most != nullptr && most->is_number() && slots != nullptr && most->number_or(0) < slots->number_or(0);
}

}  // namespace

int set_limits(const SetOptions& options, const Output& output) {
  const Outcome<Value> changes = changes_of(options.assignments);
  if (!changes) {
    return output.fail(changes.failure());
  }
  // As for pause and cancel: an ID without a daemon means the shared daemon.
  const Outcome<Reached> reached =
      reach_experiment(options.server, options.experiment, Server::Need::readable, output, Reach::shared);
  if (!reached) {
    return output.fail(reached.failure());
  }
  if (const auto& state = reached->server.run_state()) {
    forget_last_summary(*state);
  }
  const Outcome<Value> answer =
      reached->server.client().patch(experiment_target(reached->experiment), *changes);
  if (!answer) {
    return output.fail(answer.failure());
  }
  if (output.json()) {
    output.data(*answer);
    return 0;
  }
  const Outcome<Value> config =
      reached->server.client().get(experiment_target(reached->experiment, "/config"));
  std::string text =
      "experiment " + std::to_string(reached->experiment) + " (" + text_at(*answer, "state") + "):";
  for (const auto& [section, fields] : *changes->as_map()) {
    for (const auto& [key, value] : *fields.as_map()) {
      const std::string path = section + "." + key;
      text += " " + path + " is " + held_text(config, path, value) + ";";
    }
  }
  text.pop_back();
  output.print(text + " now\n");
  if (changes->at_path("resources.max_slots") != nullptr && config && lets_nothing_run(*config)) {
    const std::uint64_t slots = count_at(*config->as_map()->find("resources"), "slots_per_trial");
    output.message("note: a trial takes " + counted(slots, "slot") +
                   ": nothing runs until max_slots is raised");
  }
  return 0;
}

}  // namespace hpsearch::cli
