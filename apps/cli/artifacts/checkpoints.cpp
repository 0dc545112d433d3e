#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "cli/artifacts/checkpoint_copy.hpp"
#include "cli/client/trial_pages.hpp"
#include "cli/client/which.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/table.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/jobs/fields/remote_storage.hpp"
#include "hpsearch/searchers/registry.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

struct Found {
  std::uint64_t experiment = 0;
  Value::List checkpoints;
  std::optional<std::uint64_t> being_deleted;  ///< In the experiment; not known if only one trial was
                                               ///< requested.
};

bool is_set(const Value& checkpoint, std::string_view name) {
  const bool* held = member(checkpoint, name).as_bool();
  return held != nullptr && *held;
}

/// Whether the checkpoint itself is named, as EXPERIMENT/TRIAL/ATTEMPT-STEP, and not its trial.
bool names_one(const CheckpointOptions& options) {
  return options.which.size() == 1 && names_checkpoint(options.which.front());
}

/// Reads the words: `single` is the meaning of a single word that is not a checkpoint's ID.
Outcome<Which> named_in(const CheckpointOptions& options, About single) {
  if (!names_one(options)) {
    return read_which(options.which, single);
  }
  const std::string& id = options.which.front();
  return read_which({id.substr(0, id.rfind('/'))}, About::trial);
}

std::string words_of(const Which& which) {
  return "trial " + std::to_string(which.trial.value_or(0));
}

/// The checkpoints of the experiment, of one trial, or the one that is named.
Outcome<Found> find_checkpoints(const Reached& reached, const std::optional<std::uint64_t>& trial,
                                const CheckpointOptions& options) {
  const Server& server = reached.server;
  Found found{reached.experiment, {}, {}};
  if (!trial) {
    const auto get = [&server](const std::string& target) { return server.client().get(target); };
    const Outcome<std::uint64_t> being_deleted = each_checkpoint(
        get, reached.experiment, [&found](const Value& one) { found.checkpoints.push_back(one); });
    if (!being_deleted) {
      return being_deleted.failure();
    }
    found.being_deleted = *being_deleted;
    return found;
  }
  const Outcome<Value> answer = server.client().get_list(
      experiment_target(reached.experiment, "/trials/" + std::to_string(*trial) + "/checkpoints"),
      "checkpoints");
  if (!answer) {
    return answer.failure();
  }
  for (const Value& checkpoint : list_at(*answer, "checkpoints")) {
    if (!names_one(options) || text_at(checkpoint, "id") == options.which.front()) {
      found.checkpoints.push_back(checkpoint);
    }
  }
  return found;
}

/// The checkpoints that a command line names, and where they were found.
struct Selection : Found {
  Which which;
  Reached reached;
};

Outcome<Selection> selection_of(const CheckpointOptions& options, About about, Server::Need need,
                                const Output& output) {
  Outcome<Which> which = named_in(options, about);
  if (!which) {
    return which.failure();
  }
  Outcome<Reached> reached = reach_experiment(options.server, which->experiment, need, output);
  if (!reached) {
    return reached.failure();
  }
  Outcome<Found> found = find_checkpoints(*reached, which->trial, options);
  if (!found) {
    return found.failure();
  }
  return Selection{std::move(*found), std::move(*which), std::move(*reached)};
}

/// Chooses one of a trial's checkpoints: that of the given step, the latest, or the best and otherwise the
/// latest.
const Value* choose(const Value::List& checkpoints, const CheckpointOptions& options) {
  const Value* chosen = nullptr;
  for (const Value& checkpoint : checkpoints) {
    const bool better =
        names_one(options) ? true
        : options.step     ? count_at(checkpoint, "step") == *options.step
        : options.latest   ? is_set(checkpoint, "latest")
                         : is_set(checkpoint, "best") || (chosen == nullptr && is_set(checkpoint, "latest"));
    chosen = better ? &checkpoint : chosen;
  }
  return chosen;
}

Failure none_of(const CheckpointOptions& options, const Which& which) {
  if (names_one(options)) {
    return not_found_failure("there is no checkpoint " + options.which.front() +
                             "; hpsearch checkpoints list shows them");
  }
  return not_found_failure(words_of(which) + " has no checkpoint" +
                           (options.step ? " of step " + std::to_string(*options.step) : std::string()) +
                           "; hpsearch checkpoints list shows them");
}

}  // namespace

int list_checkpoints(const CheckpointOptions& options, const Output& output) {
  Outcome<Selection> found = selection_of(options, About::either, Server::Need::readable, output);
  if (!found) {
    return output.fail(found.failure());
  }
  if (output.json()) {
    Value::Map data{{"checkpoints", std::move(found->checkpoints)}};
    if (found->being_deleted) {
      data["being_deleted"] = Value(static_cast<std::int64_t>(*found->being_deleted));
    }
    output.data(Value(std::move(data)));
    return 0;
  }
  using Align = Table::Align;
  Table table({{"ID"},
               {"TRIAL", Align::right},
               {"STEP", Align::right},
               {"METRIC", Align::right},
               {"BYTES", Align::right},
               {"IS"},
               {"PATH"}});
  for (const Value& checkpoint : found->checkpoints) {
    const bool best = is_set(checkpoint, "best");
    const bool latest = is_set(checkpoint, "latest");
    table.add({text_at(checkpoint, "id"), std::to_string(count_at(checkpoint, "trial")),
               std::to_string(count_at(checkpoint, "step")), metric_or_dash(member(checkpoint, "metric")),
               std::to_string(count_at(checkpoint, "bytes")),
               best && latest ? "best, latest"
               : best         ? "best"
               : latest       ? "latest"
                              : "",
               text_at(checkpoint, "path")});
  }
  output.print(table.empty() ? std::string("no checkpoints\n") : table.text());
  return 0;
}

int download_checkpoint(const CheckpointOptions& options, const Output& output) {
  const Outcome<Selection> found = selection_of(options, About::trial, Server::Need::readable, output);
  if (!found) {
    return output.fail(found.failure());
  }
  const Value* chosen = choose(found->checkpoints, options);
  if (chosen == nullptr) {
    return output.fail(none_of(options, found->which));
  }
  const std::string from = text_at(*chosen, "path");
  std::map<std::string, std::string> environment;
  if (jobs::is_remote(from)) {
    Outcome<std::map<std::string, std::string>> found_keys =
        storage_environment(found->reached.server, found->experiment);
    if (!found_keys) {
      return output.fail(found_keys.failure());
    }
    environment = std::move(*found_keys);
  }
  const Outcome<Value> fetched = copy_checkpoint(from, options.to, environment);
  if (!fetched) {
    return output.fail(fetched.failure());
  }
  if (output.json()) {
    output.data(*fetched);
  } else {
    for (const Value& link : list_at(*fetched, "links_left_out")) {
      output.message("left out: " + *link.as_text() + " is a link that leads out of the copied directory");
    }
    output.print("step " + std::to_string(count_at(*chosen, "step")) + " of trial " +
                 std::to_string(count_at(*chosen, "trial")) + " is in " + options.to +
                 ", every file checked\n");
  }
  return 0;
}

int delete_checkpoints(const CheckpointOptions& options, const Output& output) {
  if (!options.step && !options.all && !names_one(options)) {
    return output.fail(usage_failure("name a checkpoint: --step STEP, --all, or its ID"));
  }
  const Outcome<Selection> found = selection_of(options, About::trial, Server::Need::running, output);
  if (!found) {
    return output.fail(found.failure());
  }
  Value::List paths;
  for (const Value& checkpoint : found->checkpoints) {
    if (options.all || names_one(options) || count_at(checkpoint, "step") == *options.step) {
      paths.emplace_back(text_at(checkpoint, "path"));
    }
  }
  if (paths.empty()) {
    return output.fail(none_of(options, found->which));
  }
  const std::size_t count = paths.size();
  const std::string trial = std::to_string(count_at(found->checkpoints.front(), "trial"));
  const Outcome<Value> answer = found->reached.server.client().post(
      experiment_target(found->experiment, "/trials/" + trial + "/checkpoints/delete"),
      Value::Map{{"paths", std::move(paths)}});
  if (!answer) {
    return output.fail(answer.failure());
  }
  if (output.json()) {
    output.data(*answer);
  } else {
    output.print(std::to_string(count) + (count == 1 ? " checkpoint" : " checkpoints") + " of trial " +
                 trial + " will be deleted\n");
  }
  return 0;
}

}  // namespace hpsearch::cli
