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

/// Removes a checkpoint: nothing is left of it, or the complaint is not "". Paths come from workers: this
/// must be ROOT/EXPERIMENT/TRIAL/ATTEMPT-STEP of that experiment. Where ROOT is a directory, no link below it
/// is followed and no mount is entered, the checkpoint must hold a manifest, and ROOT/EXPERIMENT must not be
/// another store's. The environment is for rclone.
[[nodiscard]] std::string remove_checkpoint(const std::string& path, engine::ExperimentId experiment,
                                            std::uint64_t store,
                                            const std::map<std::string, std::string>& environment = {});

/// Removes what the engine has collected (engine: CheckpointsCollected), on a thread of its own, and says so
/// to the engine when it is gone. What a restart or a failing disk left is tried again, every minute.
///
/// Threads: all calls on the runtime's; it must outlive this.
class CheckpointRemover {
 public:
  explicit CheckpointRemover(Runtime& runtime, EmployStoreExecutor employ = on_a_thread_of_its_own,
                             jobs::Programs::OpenSecrets open_secrets = {});
  ~CheckpointRemover();
  CheckpointRemover(const CheckpointRemover&) = delete;
  CheckpointRemover& operator=(const CheckpointRemover&) = delete;

  /// Everything that is condemned now.
  void remove_condemned();
  void remove(const engine::DiscardCheckpoints& order);

  /// What the last try could not remove: perhaps only its user may (`--run-as submitter`), and a worker can.
  struct Left {
    std::vector<std::string> paths;
    std::string complaint;  ///< About the first of them.
  };
  [[nodiscard]] const std::map<engine::ExperimentId, Left>& left() const noexcept { return left_; }
  /// A worker has removed these; what nobody has condemned is not forgotten.
  void removed_elsewhere(engine::ExperimentId experiment, std::vector<std::string> paths);

 private:
  struct Shared;
  struct Wanted {
    engine::DiscardCheckpoints order;
    std::map<std::string, std::string>
        storage_environment;  ///< For rclone, when they are not in directories.
  };
  [[nodiscard]] bool is_waiting(engine::ExperimentId experiment) const;
  /// nullptr: there was no such experiment.
  [[nodiscard]] const engine::Value* config_of(engine::ExperimentId experiment) const;
  bool work();
  void removed(engine::ExperimentId experiment, std::vector<std::string> paths, Left left);

  Runtime& runtime_;
  jobs::Programs::OpenSecrets open_secrets_;
  const std::uint64_t store_;       ///< For the thread, too.
  std::shared_ptr<Shared> shared_;  ///< With the thread, and with what it posts to the loop.
  std::map<engine::ExperimentId, Left> left_;
  net::Watch again_;
  std::unique_ptr<StoreExecutor> thread_;
};

}  // namespace hpsearch::daemon
