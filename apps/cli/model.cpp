#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "cli/checkpoint_copy.hpp"
#include "cli/kept_files.hpp"
#include "cli/server.hpp"
#include "cli/shapes.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "hpsearch/jobs/remote_storage.hpp"

namespace hpsearch::cli {
namespace {

namespace fs = std::filesystem;
using engine::Value;
using trees::Directory;

/// What the best trial leaves to its user.
struct Model {
  enum class Kind { model, checkpoint, files } kind = Kind::checkpoint;
  std::string path;
};

std::string_view name_of(Model::Kind kind) {
  switch (kind) {
    case Model::Kind::model:
      return "model";
    case Model::Kind::checkpoint:
      return "checkpoint";
    case Model::Kind::files:
      return "files";
  }
  return "";
}

bool holds_something(const engine::Result<Directory>& directory) {
  const auto entries = directory ? directory->entries() : directory.error();
  return entries && !entries->empty();
}

/// The output channel `model` of the trial's last attempt that filled it, if the channel has a path and that
/// lies on this machine.
Outcome<std::optional<std::string>> model_at_path(const Server& server, std::uint64_t experiment,
                                                  std::uint64_t trial, std::uint64_t attempts) {
  const Outcome<Value> config = server.client().get(experiment_target(experiment, "/config"));
  if (!config) {
    return config.failure();
  }
  const Value& channel = member(member(*config, "outputs"), "model");
  const fs::path path = channel.as_text() != nullptr ? *channel.as_text() : text_at(channel, "path");
  if (!path.is_absolute()) {
    return std::optional<std::string>();
  }
  const Outcome<Value> status = server.client().get("/api/v1/status");
  if (!status) {
    return status.failure();
  }
  const fs::path of_trial =
      path / text_at(*status, "cluster") / std::to_string(experiment) / std::to_string(trial);
  for (std::uint64_t attempt = attempts; attempt > 0; --attempt) {
    const fs::path place = of_trial / std::to_string(attempt);
    if (holds_something(Directory::open(place))) {
      return std::optional(place.string());
    }
  }
  return std::optional<std::string>();
}

/// The same where the channel has no path: it stays in the attempt's directory.
std::optional<std::string> model_output(const StateDirectory& state, std::uint64_t experiment,
                                        std::uint64_t trial, std::uint64_t attempts) {
  const auto root = Directory::open(state.worker());
  for (std::uint64_t attempt = attempts; root && attempt > 0; --attempt) {
    const fs::path place =
        fs::path("attempts") /
        (std::to_string(experiment) + "-" + std::to_string(trial) + "-" + std::to_string(attempt)) /
        "ml/output/model";
    if (holds_something(root->directory(place))) {
      return (state.worker() / place).string();
    }
  }
  return std::nullopt;
}

Outcome<Model> find_model(const Server& server, std::uint64_t experiment, const Value& best) {
  const std::uint64_t trial = count_at(best, "trial");
  auto at_path = model_at_path(server, experiment, trial, count_at(best, "attempts"));
  if (!at_path || *at_path) {
    return at_path ? Outcome<Model>(Model{Model::Kind::model, **std::move(at_path)})
                   : Outcome<Model>(at_path.failure());
  }
  if (const auto state = server.run_state()) {
    if (auto made = model_output(*state, experiment, trial, count_at(best, "attempts"))) {
      return Model{Model::Kind::model, *std::move(made)};
    }
  }
  if (const TakenCheckpoint checkpoint = checkpoint_of(best); !checkpoint.path.empty()) {
    return Model{Model::Kind::checkpoint, checkpoint.path};
  }
  if (server.run_state()) {
    const Outcome<KeptFiles> kept = KeptFiles::of(server, experiment);
    if (!kept) {
      return kept.failure();
    }
    if (!kept->of_trial(trial).files.empty()) {
      return Model{Model::Kind::files, kept->directory(trial).string()};
    }
  }
  return not_found_failure("trial " + std::to_string(trial) +
                           ", the best one, wrote no checkpoint (HPSEARCH_CHECKPOINT_DIR), no model "
                           "(HPSEARCH_OUTPUT_DIR/model) and no file in its working directory");
}

Outcome<engine::Done> copy_model(const Server& server, std::uint64_t experiment, const Value& best,
                                 const Model& model, const std::string& to) {
  switch (model.kind) {
    case Model::Kind::model: {
      const fs::path place(model.path);
      const auto above = Directory::open(place.parent_path());
      return above ? copy_left_directory(*above, place.filename(), to)
                   : Outcome<engine::Done>(plain_failure(above.error().message));
    }
    case Model::Kind::files: {
      const Outcome<KeptFiles> kept = KeptFiles::of(server, experiment);
      return kept ? kept->copy(count_at(best, "trial"), to) : Outcome<engine::Done>(kept.failure());
    }
    case Model::Kind::checkpoint:
      break;
  }
  std::map<std::string, std::string> environment;
  if (jobs::is_remote(model.path)) {
    auto found = storage_environment(server, experiment);
    if (!found) {
      return found.failure();
    }
    environment = *std::move(found);
  }
  const auto copied = copy_checkpoint(model.path, to, environment);
  return copied ? Outcome<engine::Done>(engine::Done{}) : Outcome<engine::Done>(copied.failure());
}

}  // namespace

int model(const ModelOptions& options, const Output& output) {
  const Outcome<Server> server = Server::reach(options.experiment.server, Server::Need::readable, output);
  if (!server) {
    return output.fail(server.failure());
  }
  const Outcome<std::uint64_t> experiment = server->experiment(options.experiment.experiment);
  if (!experiment) {
    return output.fail(experiment.failure());
  }
  const Outcome<Value> best = server->client().get(experiment_target(*experiment, "/best"));
  if (!best) {
    return output.fail(best.failure());
  }
  if (best->is_null()) {
    return output.fail(not_found_failure("no trial has reported the metric yet"));
  }
  const Outcome<Model> found = find_model(*server, *experiment, *best);
  if (!found) {
    return output.fail(found.failure());
  }
  if (options.copy_to) {
    if (const auto copied = copy_model(*server, *experiment, *best, *found, *options.copy_to); !copied) {
      return output.fail(copied.failure());
    }
  }
  const std::string trial = std::to_string(count_at(*best, "trial"));
  if (output.json()) {
    Value::Map data{{"trial", member(*best, "trial")},
                    {"metric", member(*best, "best_metric")},
                    {"kind", std::string(name_of(found->kind))},
                    {"path", found->path}};
    if (options.copy_to) {
      data["copied_to"] = *options.copy_to;
    }
    output.data(Value(std::move(data)));
  } else if (options.copy_to) {
    output.print("the " + std::string(name_of(found->kind)) + " of trial " + trial + " is in " +
                 *options.copy_to +
                 (found->kind == Model::Kind::checkpoint ? ", every file checked\n" : "\n"));
  } else {
    output.print(found->path + "\n");  // Alone, for scripts.
  }
  return 0;
}

}  // namespace hpsearch::cli
