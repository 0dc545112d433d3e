#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/trees/directory.hpp"
#include "hpsearch/workers/core/attempt_machine.hpp"
#include "hpsearch/workers/shell/attempt_directory.hpp"

namespace hpsearch::workers {

/// Puts down which files an attempt's working directory begins with, so that KeptFiles knows what is new.
/// Call it before the program starts. Cost: one system call for each file.
[[nodiscard]] engine::Status stamp_working_directory(const AttemptDirectory& attempt);

/// The files that programs left in their working directories, by trial (proto/kept_files.hpp):
///
///   trials/STORE/EXPERIMENT/kept.json
///   trials/STORE/EXPERIMENT/TRIAL/files/…  files.json
///
/// All of an experiment's files have a limit. If they are more, the trials with the worst metric lose theirs
/// first, those without a metric before them; the trial that ended last loses its own only to the best one.
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

 private:
  std::filesystem::path state_directory_;
  std::mutex mutex_;  ///< One trial after the other: all share kept.json.
};

}  // namespace hpsearch::workers
