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

/// A trial's files as they were when the daemon was to be told of them.
struct UnsentFiles {
  engine::AttemptKey key;  ///< The last attempt of the trial here.
  std::optional<double> metric;
  bool larger_is_better = false;
  std::uint64_t change = 0;  ///< Later ones have higher ones.
  proto::DroppedFiles dropped;
  files::Directory directory;  ///< The trial's.
};

/// Puts down which files an attempt's working directory begins with, so that KeptFiles knows what is new.
/// Call it before the program starts. Cost: one system call for each file.
[[nodiscard]] engine::Status stamp_working_directory(const AttemptDirectory& attempt);

/// The files that programs left in their working directories, by trial (proto/wire/kept_files.hpp):
///
///   trials/STORE/EXPERIMENT/kept.json
///   trials/STORE/EXPERIMENT/TRIAL/files/…  files.json  sent.json
///
/// All of an experiment's files have a limit. If they are more, the trials with the worst metric lose theirs
/// first, those without a metric before them; the trial that ended last loses its own only to the best one.
///
/// Each change of a trial's files is to be sent to the daemon, which sent.json says until sent() is told:
/// also the next worker on the directory knows.
///
/// Owns:    trials/ in the worker's state directory. Programs can write there too: nothing is reached through
///          a link.
/// Threads: any, also several at once.
class KeptFiles {
 public:
  explicit KeptFiles(std::filesystem::path state_directory) : state_directory_(std::move(state_directory)) {}

  /// Moves the files and links that are new or changed in an attempt's working directory to its trial's; of
  /// earlier attempts of the trial those stay that have other paths. Caches of Python (__pycache__) and empty
  /// directories are nobody's loss.
  ///
  /// What was dropped, as a sentence, or "". not_found, wrong_state: the working directory is not there any
  /// more as the worker made it. Doing it again after a crash is fine.
  [[nodiscard]] engine::Result<std::string> take(const AttemptDirectory& attempt,
                                                 const engine::AttemptKey& key, std::uint64_t store,
                                                 const Keeping& keeping);

  using TrialKey = std::pair<engine::ExperimentId, engine::TrialNumber>;
  /// Whose files changed since the daemon took them. The first call for a store looks at all its trials.
  [[nodiscard]] std::vector<TrialKey> unsent(std::uint64_t store);
  /// not_found, corrupt: nothing says what is to be sent.
  [[nodiscard]] engine::Result<UnsentFiles> unsent_files(std::uint64_t store, const TrialKey& trial);
  /// The daemon has taken or refused them; if they have not changed since, that was all.
  void sent(std::uint64_t store, const UnsentFiles& files);
  void forget_unsent(std::uint64_t store, const TrialKey& trial);

 private:
  void look_for_unsent(std::uint64_t store);

  std::filesystem::path state_directory_;
  std::mutex mutex_;                                    ///< One trial after the other: all share kept.json.
  std::map<std::uint64_t, std::set<TrialKey>> unsent_;  ///< By store, once it was looked at.
};

}  // namespace hpsearch::workers
