#include "daemon/checkpoint_remover.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string_view>
#include <system_error>
#include <utility>

#include "hpsearch/jobs/remote_storage.hpp"
#include "hpsearch/net/log.hpp"
#include "hpsearch/net/rclone.hpp"
#include "hpsearch/proto/checkpoint_manifest.hpp"
#include "hpsearch/proto/checkpoint_owner.hpp"

namespace hpsearch::daemon {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::minutes again_after{1};
using proto::manifest_name;

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// The complaint, or "". Manifest first: without it, what is left is no checkpoint.
std::string remove_remote(const std::string& address, const std::map<std::string, std::string>& environment) {
  const std::string place = jobs::rclone_place(address);
  // One try: the next one comes by itself, and the daemon's end waits for this one.
  const auto remove = [&environment](std::vector<std::string> words) {
    words.insert(words.begin(), {"--retries=1", "--low-level-retries=1", "--contimeout=10s"});
    return net::run_rclone(words, environment);
  };
  static_cast<void>(remove({"deletefile", place + "/" + manifest_name}).has_value());
  const engine::Status gone = remove({"delete", "--rmdirs", place});
  // What is not there any more was removed by an earlier try.
  const bool missing = !gone && gone.error().message.find("directory not found") != std::string::npos;
  return gone || missing ? "" : "cannot remove the checkpoint " + address + ": " + gone.error().message;
}

/// The complaint, or "". Under another name first, so that nobody takes half of it for a checkpoint.
std::string remove_directory(const fs::path& place) {
  const fs::path aside = place.parent_path() / ("." + place.filename().string() + ".deleted");
  std::error_code error;
  fs::remove_all(aside, error);  // What an earlier try left, which would be in the way.
  if (!error) {
    fs::rename(place, aside, error);
  }
  if (error == std::errc::no_such_file_or_directory) {
    error.clear();  // Removed already. After anything else it is still there.
  }
  if (!error) {
    fs::remove_all(aside, error);
  }
  if (error) {
    return "cannot remove the checkpoint " + place.string() + ": " + error.message();
  }
  fs::remove(place.parent_path(), error);  // Only when nothing is left in it.
  return "";
}

}  // namespace

std::optional<std::string> not_removable(const std::string& path, engine::ExperimentId experiment,
                                         std::uint64_t store) {
  const fs::path place(path);
  const std::string name = place.filename().string();
  const std::size_t dash = name.find('-');
  const bool remote = jobs::is_remote(path);
  const bool plain = remote ? path.find("/../") == std::string::npos
                            : place.is_absolute() && place == place.lexically_normal();
  const bool fits = plain && dash != std::string::npos &&
                    engine::read_attempt_label(std::string_view(name).substr(0, dash)) &&
                    is_number(std::string_view(name).substr(dash + 1)) &&
                    is_number(place.parent_path().filename().string()) &&
                    place.parent_path().parent_path().filename() == std::to_string(experiment.number());
  if (!fits) {
    return path + " is not removed: it is no place of a checkpoint of experiment " +
           std::to_string(experiment.number());
  }
  if (remote) {
    return std::nullopt;
  }
  std::error_code error;
  const fs::file_status status = fs::symlink_status(place, error);
  if (status.type() == fs::file_type::not_found) {
    return std::nullopt;
  }
  if (!fs::is_directory(status) || !fs::exists(fs::symlink_status(place / manifest_name, error))) {
    return path + " is not removed: it holds no checkpoint";
  }
  const fs::path owner = place.parent_path().parent_path() / proto::checkpoint_owner_name;
  std::string found;
  if (fs::exists(fs::symlink_status(owner, error)) &&
      (!std::getline(std::ifstream(owner, std::ios::binary), found) ||
       found + "\n" != proto::checkpoint_owner(store))) {
    return path + " is not removed: " + owner.parent_path().string() + proto::of_another_owner(found, store);
  }
  return std::nullopt;
}

std::string remove_checkpoint(const std::string& path, engine::ExperimentId experiment, std::uint64_t store,
                              const std::map<std::string, std::string>& environment) {
  if (const auto why = not_removable(path, experiment, store)) {
    return *why;
  }
  return jobs::is_remote(path) ? remove_remote(path, environment) : remove_directory(path);
}

struct CheckpointRemover::Shared {
  std::mutex mutex;
  std::deque<Wanted> wanted;
  bool ended = false;  ///< Only on the loop's thread.
};

CheckpointRemover::CheckpointRemover(Runtime& runtime, EmployStoreExecutor employ)
    : runtime_(runtime), store_(runtime.cluster()), shared_(std::make_shared<Shared>()) {
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
}

void CheckpointRemover::remove(const engine::DiscardCheckpoints& order) {
  Wanted wanted{order, {}};
  if (const auto* record = runtime_.engine().find(order.experiment)) {
    if (auto remote = jobs::remote_storage(record->effective)) {
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
  std::vector<std::string> gone;
  std::string complaint;
  for (const std::string& path : wanted.order.paths) {
    const std::string failed =
        remove_checkpoint(path, wanted.order.experiment, store_, wanted.storage_environment);
    if (failed.empty()) {
      gone.push_back(path);
    } else if (complaint.empty()) {
      complaint = failed;
    }
  }
  runtime_.loop().post([this, shared = shared_, experiment = wanted.order.experiment, gone = std::move(gone),
                        complaint = std::move(complaint)] {
    if (!shared->ended) {
      removed(experiment, gone, complaint);
    }
  });
  return true;
}

void CheckpointRemover::removed(engine::ExperimentId experiment, std::vector<std::string> paths,
                                const std::string& complaint) {
  if (!complaint.empty()) {
    net::log(net::Level::warning, complaint);
  }
  if (!paths.empty()) {
    static_cast<void>(runtime_.perform(engine::ConfirmDeleted{experiment, std::move(paths)}));
  }
}

}  // namespace hpsearch::daemon
