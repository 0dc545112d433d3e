#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/io/files/directory.hpp"
#include "hpsearch/proto/wire/kept_files.hpp"
#include "hpsearch/workers/core/attempt_machine.hpp"
#include "hpsearch/workers/shell/attempt_directory.hpp"

namespace hpsearch::workers {

/// A trial's files at the time of a change that the daemon hasn't received.
struct UnsentFiles {
  engine::AttemptKey key;  ///< The trial's last attempt here.
  std::optional<double> metric;
  bool larger_is_better = false;
  std::uint64_t change = 0;  ///< Higher for later changes.
  proto::DroppedFiles dropped;
  files::Directory directory;  ///< The trial's directory.
};

/// Records the files with which an attempt's working directory begins, so that KeptFiles can find new ones.
/// Call it before the program starts. Cost: one system call for each file.
[[nodiscard]] engine::Status stamp_working_directory(const AttemptDirectory& attempt);

/// The files that programs left in their working directories, by trial (proto/wire/kept_files.hpp):
///
///   trials/STORE/EXPERIMENT/kept.json
///   trials/STORE/EXPERIMENT/TRIAL/files/…  files.json  sent.json
///
/// All files of an experiment together have a limit. Beyond it, the trials with the worst metric lose their
/// files first, those without a metric before them; the last trial loses its own only to the best one.
///
/// Each change of a trial's files must be sent to the daemon. sent.json records it until sent() is called, so
/// that the next worker on the directory can send it, too.
///
/// Owns:    trials/ in the worker's state directory. Programs can write there, too, so links are never
///          followed.
/// Threads: any, even several at once.
class KeptFiles {
 public:
  explicit KeptFiles(std::filesystem::path state_directory) : state_directory_(std::move(state_directory)) {}

  /// Moves new or changed files and links from an attempt's working directory to its trial's directory; files
  /// of earlier attempts of the trial stay if their paths differ. Caches of Python (__pycache__) and empty
  /// directories aren't kept.
  ///
  /// Returns a sentence about dropped files, or "". not_found, wrong_state: the working directory was removed
  /// or replaced. It may be repeated after a crash.
  [[nodiscard]] engine::Result<std::string> take(const AttemptDirectory& attempt,
                                                 const engine::AttemptKey& key, std::uint64_t store,
                                                 const Keeping& keeping);

  using TrialKey = std::pair<engine::ExperimentId, engine::TrialNumber>;
  /// The trials whose files changed since the daemon received them. The first call reads all trials.
  [[nodiscard]] std::vector<TrialKey> unsent(std::uint64_t store);
  /// not_found, corrupt: there is no record of what to send.
  [[nodiscard]] engine::Result<UnsentFiles> unsent_files(std::uint64_t store, const TrialKey& trial);
  /// The daemon has received or refused them; unless they have changed since, nothing is left to send.
  void sent(std::uint64_t store, const UnsentFiles& files);
  void forget_unsent(std::uint64_t store, const TrialKey& trial);

 private:
  void look_for_unsent(std::uint64_t store);

  std::filesystem::path state_directory_;
  std::mutex mutex_;  ///< Allows one trial at a time, because all share kept.json.
  std::map<std::uint64_t, std::set<TrialKey>> unsent_;  ///< By store, after its first use.
};

}  // namespace hpsearch::workers
