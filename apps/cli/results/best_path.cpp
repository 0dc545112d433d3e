#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/artifacts/checkpoint_copy.hpp"
#include "cli/artifacts/kept_files.hpp"
#include "cli/client/answers.hpp"
#include "cli/client/server.hpp"
#include "cli/client/which.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/jobs/fields/remote_storage.hpp"

namespace hpsearch::cli {
namespace {

namespace fs = std::filesystem;
using engine::Value;
using files::Directory;

/// The model and the files of the best trial.
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

/// The names of a trial's attempts in a directory, the latest first: the part after `prefix` is "2", or
/// "2.LEASE" if the attempt began after the store was restored.
std::vector<std::string> attempts_in(const engine::Result<Directory>& directory, const std::string& prefix) {
  std::vector<std::tuple<engine::AttemptNumber, engine::LeaseId, std::string>> found;
  const auto entries = directory ? directory->entries() : directory.error();
  for (std::size_t i = 0; entries && i < entries->size(); ++i) {
    const std::string& name = (*entries)[i].name;
    const auto attempt =
        name.starts_with(prefix) ? engine::read_attempt_label(name.substr(prefix.size())) : std::nullopt;
    if (attempt) {
      found.emplace_back(attempt->first, attempt->second, name);
    }
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<std::string> names;
  for (const auto& [number, lease, name] : found) {
    names.push_back(name);
  }
  return names;
}

/// The output channel `model` of the trial's last attempt that filled it, if the channel has a path on this
/// machine.
Outcome<std::optional<std::string>> model_at_path(const Server& server, std::uint64_t experiment,
                                                  std::uint64_t trial) {
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
  for (const std::string& attempt : attempts_in(Directory::open(of_trial), "")) {
    const fs::path place = of_trial / attempt;
    if (holds_something(Directory::open(place))) {
      return std::optional(place.string());
    }
  }
  return std::optional<std::string>();
}

/// The same for a channel without a path: it stays in the attempt's directory.
std::optional<std::string> model_output(const StateDirectory& state, std::uint64_t experiment,
                                        std::uint64_t trial) {
  const auto root = Directory::open(state.worker());
  if (!root) {
    return std::nullopt;
  }
  const std::string prefix = std::to_string(experiment) + "-" + std::to_string(trial) + "-";
  for (const std::string& attempt : attempts_in(root->directory("attempts"), prefix)) {
    const fs::path place = fs::path("attempts") / attempt / "ml/output/model";
    if (holds_something(root->directory(place))) {
      return (state.worker() / place).string();
    }
  }
  return std::nullopt;
}

Outcome<Model> find_model(const Server& server, std::uint64_t experiment, const api::Trial& best) {
  const std::uint64_t trial = best.trial.number();
  auto at_path = model_at_path(server, experiment, trial);
  if (!at_path || *at_path) {
    return at_path ? Outcome<Model>(Model{Model::Kind::model, **std::move(at_path)})
                   : Outcome<Model>(at_path.failure());
  }
  if (const auto state = server.run_state()) {
    if (auto made = model_output(*state, experiment, trial)) {
      return Model{Model::Kind::model, *std::move(made)};
    }
  }
  if (const TakenCheckpoint checkpoint = checkpoint_of(best); !checkpoint.path.empty()) {
    return Model{Model::Kind::checkpoint, checkpoint.path};
  }
  if (KeptFiles::are_here(server)) {
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

Outcome<LinksLeftOut> copy_model(const Server& server, std::uint64_t experiment, const api::Trial& best,
                                 const Model& model, const std::string& to) {
  switch (model.kind) {
    case Model::Kind::model: {
      const fs::path place(model.path);
      const auto above = Directory::open(place.parent_path());
      return above ? copy_left_directory(*above, place.filename(), to)
                   : Outcome<LinksLeftOut>(plain_failure(above.error().message));
    }
    case Model::Kind::files: {
      const Outcome<KeptFiles> kept = KeptFiles::of(server, experiment);
      return kept ? kept->copy(best.trial.number(), to) : Outcome<LinksLeftOut>(kept.failure());
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
  if (!copied) {
    return copied.failure();
  }
  LinksLeftOut left_out;
  for (const Value& link : list_at(*copied, "links_left_out")) {
    left_out.push_back(*link.as_text());
  }
  return left_out;
}

}  // namespace

int best_path(const BestOptions& options, const Output& output) {
  const Outcome<Reached> reached = reach_experiment(options.experiment.server, options.experiment.experiment,
                                                    Server::Need::readable, output);
  if (!reached) {
    return output.fail(reached.failure());
  }
  const Server& server = reached->server;
  const std::uint64_t experiment = reached->experiment;
  const Outcome<Value> answer = server.client().get(experiment_target(experiment, "/best"));
  if (answer && answer->is_null()) {
    return output.fail(not_found_failure("no trial has reported the metric yet"));
  }
  const auto best = read_as<api::Trial>(answer);
  if (!best) {
    return output.fail(best.failure());
  }
  const Outcome<Model> found = find_model(server, experiment, *best);
  if (!found) {
    return output.fail(found.failure());
  }
  if (options.copy_to) {
    const auto left_out = copy_model(server, experiment, *best, *found, *options.copy_to);
    if (!left_out) {
      return output.fail(left_out.failure());
    }
    print_links_left_out(*left_out, output);
  }
  const std::string trial = std::to_string(best->trial.number());
  if (output.json()) {
    Value::Map data{{"trial", member(*answer, "trial")},
                    {"metric", member(*answer, "best_metric")},
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
    output.print(found->path + "\n");  // Only the path, for scripts.
  }
  return 0;
}

}  // namespace hpsearch::cli
