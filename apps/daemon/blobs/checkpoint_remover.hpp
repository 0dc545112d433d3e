#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/core/runtime.hpp"
#include "daemon/core/store_executor.hpp"
#include "hpsearch/engine/experiment/orders.hpp"
#include "hpsearch/io/net/timeline.hpp"
#include "hpsearch/jobs/launch/launch_spec.hpp"

namespace hpsearch::daemon {

/// Removes a checkpoint completely; returns "" or the problem. Paths come from workers: this must be
/// ROOT/EXPERIMENT/TRIAL/ATTEMPT-STEP of that experiment. Where ROOT is a directory, no link below it is
/// followed and no mount is entered, the checkpoint must have a manifest, and ROOT/EXPERIMENT must not belong
/// to another store. The environment is for rclone.
[[nodiscard]] std::string remove_checkpoint(const std::string& path, engine::ExperimentId experiment,
                                            std::uint64_t store,
                                            const std::map<std::string, std::string>& environment = {});

/// Removes the checkpoints that the engine has collected (engine: CheckpointsCollected), on its own thread,
/// and reports each removal to the engine. Removals that a restart or a failing disk interrupted are retried
/// every minute.
///
/// Threads: call it on the runtime's thread; the runtime must outlive it.
class CheckpointRemover {
 public:
  explicit CheckpointRemover(Runtime& runtime, EmployStoreExecutor employ = on_a_thread_of_its_own,
                             jobs::Programs::OpenSecrets open_secrets = {});
  ~CheckpointRemover();
  CheckpointRemover(const CheckpointRemover&) = delete;
  CheckpointRemover& operator=(const CheckpointRemover&) = delete;

  /// Removes all checkpoints that are condemned now.
  void remove_condemned();
  void remove(const engine::DiscardCheckpoints& order);

  /// Checkpoints that the last try could not remove: perhaps only their user may (`--run-as submitter`), and
  /// a worker can.
  struct Left {
    std::vector<std::string> paths;
    std::string complaint;  ///< The problem of the first of them.
  };
  [[nodiscard]] const std::map<engine::ExperimentId, Left>& left() const noexcept { return left_; }
  /// Reports that a worker has removed these; paths that are not condemned are ignored.
  void removed_elsewhere(engine::ExperimentId experiment, std::vector<std::string> paths);

 private:
  struct Shared;
  struct Wanted {
    engine::DiscardCheckpoints order;
    std::map<std::string, std::string>
        storage_environment;  ///< For rclone, if checkpoints are not in directories.
  };
  [[nodiscard]] bool is_waiting(engine::ExperimentId experiment) const;
  /// nullptr: the experiment is unknown.
  [[nodiscard]] const engine::Value* config_of(engine::ExperimentId experiment) const;
  bool work();
  void removed(engine::ExperimentId experiment, std::vector<std::string> paths, Left left);

  Runtime& runtime_;
  jobs::Programs::OpenSecrets open_secrets_;
  const std::uint64_t store_;       ///< Read by the thread, too.
  std::shared_ptr<Shared> shared_;  ///< Shared with the thread and with the work that it posts to the loop.
  std::map<engine::ExperimentId, Left> left_;
  net::Watch again_;
  std::unique_ptr<StoreExecutor> thread_;
};

}  // namespace hpsearch::daemon
