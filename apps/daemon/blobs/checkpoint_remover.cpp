#include "daemon/blobs/checkpoint_remover.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <mutex>
#include <utility>

#include "hpsearch/io/checkpoints/place.hpp"
#include "hpsearch/io/checkpoints/removal.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/io/net/rclone.hpp"
#include "hpsearch/jobs/fields/remote_storage.hpp"
#include "hpsearch/proto/wire/checkpoint_manifest.hpp"

namespace hpsearch::daemon {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::minutes again_after{1};
using proto::manifest_name;

/// Returns the problem, or "". Removes the manifest first: without it, the rest is no longer a checkpoint.
std::string remove_remote(const std::string& address, const std::map<std::string, std::string>& environment) {
  const std::string place = jobs::rclone_place(address);
  // One try only: the next one comes in a minute, and the daemon's shutdown waits for this one.
  const auto remove = [&environment](std::vector<std::string> words) {
    words.insert(words.begin(), {"--retries=1", "--low-level-retries=1", "--contimeout=10s"});
    return net::run_rclone(words, environment);
  };
  static_cast<void>(remove({"deletefile", place + "/" + manifest_name}).has_value());
  const engine::Status removal = remove({"delete", "--rmdirs", place});
  // A directory that is missing was removed by an earlier try.
  const bool missing = !removal && removal.error().message.find("directory not found") != std::string::npos;
  return removal || missing ? "" : "cannot remove the checkpoint " + address + ": " + removal.error().message;
}

/// Returns the problem, or "".
std::string remove_from_directory(const fs::path& place, std::uint64_t store) {
  const auto shelf = checkpoints::open_shelf(place);
  if (!shelf) {
    return place.string() + " is not removed: " + shelf.error().message;
  }
  if (!shelf->has_value()) {
    return "";
  }
  const engine::Status removal = checkpoints::remove_directory(**shelf, place, store);
  return removal ? "" : removal.error().message;
}

}  // namespace

std::string remove_checkpoint(const std::string& path, engine::ExperimentId experiment, std::uint64_t store,
                              const std::map<std::string, std::string>& environment) {
  if (!checkpoints::is_place_of_a_checkpoint(path, experiment)) {
    return path + " is not removed: it is no place of a checkpoint of experiment " +
           std::to_string(experiment.number());
  }
  return jobs::is_remote(path) ? remove_remote(path, environment) : remove_from_directory(path, store);
}

struct CheckpointRemover::Shared {
  std::mutex mutex;
  std::deque<Wanted> wanted;
  bool ended = false;  ///< Used only on the loop's thread.
};

CheckpointRemover::CheckpointRemover(Runtime& runtime, EmployStoreExecutor employ,
                                     jobs::Programs::OpenSecrets open_secrets)
    : runtime_(runtime),
      open_secrets_(std::move(open_secrets)),
      store_(runtime.cluster()),
      shared_(std::make_shared<Shared>()) {
  thread_ = employ([this] { return work(); });
  again_ = runtime_.loop().every(again_after, [this] { remove_condemned(); });
}

CheckpointRemover::~CheckpointRemover() {
  shared_->ended = true;
  thread_.reset();
}

void CheckpointRemover::remove_condemned() {
  for (const auto& [id, record] : runtime_.engine().experiments()) {
    if (!record.condemned.empty()) {
      remove({id, record.condemned});
    }
  }
  for (const auto& [id, deleted] : runtime_.engine().deleted()) {
    // There may be many, and their removal is already queued.
    if (!deleted.condemned.empty() && !is_waiting(id)) {
      remove({id, {deleted.condemned.begin(), deleted.condemned.end()}});
    }
  }
}

bool CheckpointRemover::is_waiting(engine::ExperimentId experiment) const {
  const std::scoped_lock lock(shared_->mutex);
  return std::any_of(shared_->wanted.begin(), shared_->wanted.end(),
                     [experiment](const Wanted& waiting) { return waiting.order.experiment == experiment; });
}

const engine::Value* CheckpointRemover::config_of(engine::ExperimentId experiment) const {
  if (const auto* record = runtime_.engine().find(experiment)) {
    return &record->effective;
  }
  const auto deleted = runtime_.engine().deleted().find(experiment);
  return deleted == runtime_.engine().deleted().end() || deleted->second.effective.is_null()
             ? nullptr
             : &deleted->second.effective;
}

void CheckpointRemover::remove(const engine::DiscardCheckpoints& order) {
  Wanted wanted{order, {}};
  if (const engine::Value* effective = config_of(order.experiment)) {
    const engine::Result<engine::Value> config =
        open_secrets_ ? open_secrets_(*effective) : engine::Result<engine::Value>(*effective);
    if (!config) {
      net::log(net::Level::error,
               "checkpoints of experiment " + std::to_string(order.experiment.number()) +
                   " are not deleted: " + config.error().message,
               net::about(order.experiment));
      return;
    }
    if (auto remote = jobs::remote_storage(*config)) {
      wanted.storage_environment = std::move(remote->environment);
    }
  }
  {
    const std::scoped_lock lock(shared_->mutex);
    const auto again =
        std::find_if(shared_->wanted.begin(), shared_->wanted.end(), [&order](const Wanted& waiting) {
          return waiting.order.experiment == order.experiment && waiting.order.paths == order.paths;
        });
    if (again == shared_->wanted.end()) {
      shared_->wanted.push_back(std::move(wanted));
    }
  }
  thread_->wake();
}

bool CheckpointRemover::work() {
  Wanted wanted;
  {
    const std::scoped_lock lock(shared_->mutex);
    if (shared_->wanted.empty()) {
      return false;
    }
    wanted = std::move(shared_->wanted.front());
    shared_->wanted.pop_front();
  }
  std::vector<std::string> removed_paths;
  Left left;
  for (const std::string& path : wanted.order.paths) {
    const std::string failed =
        remove_checkpoint(path, wanted.order.experiment, store_, wanted.storage_environment);
    if (failed.empty()) {
      removed_paths.push_back(path);
    } else {
      left.complaint = left.paths.empty() ? failed : left.complaint;
      left.paths.push_back(path);
    }
  }
  runtime_.loop().post([this, shared = shared_, experiment = wanted.order.experiment,
                        removed_paths = std::move(removed_paths), left = std::move(left)] {
    if (!shared->ended) {
      removed(experiment, removed_paths, left);
    }
  });
  return true;
}

void CheckpointRemover::removed(engine::ExperimentId experiment, std::vector<std::string> paths, Left left) {
  const auto before = left_.find(experiment);
  const bool is_known = before != left_.end() && before->second.complaint == left.complaint;
  if (!left.paths.empty() && !is_known) {  // Removal is retried every minute.
    net::log(net::Level::warning, left.complaint);
  }
  if (left.paths.empty()) {
    left_.erase(experiment);
  } else {
    left_[experiment] = std::move(left);
  }
  removed_elsewhere(experiment, std::move(paths));
}

void CheckpointRemover::removed_elsewhere(engine::ExperimentId experiment, std::vector<std::string> paths) {
  if (paths.empty()) {
    return;
  }
  if (const auto left = left_.find(experiment); left != left_.end()) {
    std::erase_if(left->second.paths, [&paths](const std::string& path) {
      return std::find(paths.begin(), paths.end(), path) != paths.end();
    });
    if (left->second.paths.empty()) {
      left_.erase(left);
    }
  }
  static_cast<void>(runtime_.perform(engine::ConfirmDeleted{experiment, std::move(paths)}));
}

}  // namespace hpsearch::daemon
