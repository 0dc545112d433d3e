#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/blobs/log_quota.hpp"
#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/io/http/http.hpp"
#include "hpsearch/io/net/background.hpp"

namespace hpsearch::daemon {

/// One stream of one process of an attempt.
struct LogName {
  engine::AttemptKey key;
  engine::WorkerId worker;    ///< Where it ran.
  std::uint64_t process = 0;  ///< Of those on that worker.
  std::string stream;         ///< "stdout" or "stderr".
};

/// Keeps the output of attempts that have ended (hpsearch/io/archive/kept_log.hpp), so that it can be read
/// when the worker that ran them is gone: DIRECTORY/EXPERIMENT/TRIAL/ATTEMPT/WORKER.PROCESS.STREAM.zst.
///
/// All of them have at most a quota; what has to go for it is remembered as gone. They are written without
/// waiting for the disk: after a power failure the last ones may be missing or damaged, and are then said to
/// be.
///
/// Threads: on the loop's. Files are read, checked and written beside it, one at a time.
class KeptLogs {
 public:
  using EndedAt = LogQuota::EndedAt;

  /// Makes the directory if need be and counts what lies in it, beside the loop. `ended_at` is asked on the
  /// loop; it and the loop must outlive this.
  KeptLogs(net::Loop& loop, std::string directory, std::uint64_t quota, EndedAt ended_at);
  KeptLogs(const KeptLogs&) = delete;
  KeptLogs& operator=(const KeptLogs&) = delete;

  /// Takes one in, in the place of what was there under that name. bad_request: it is not as workers pack
  /// them. unavailable: it cannot be written.
  using Answer = std::function<void(const engine::Status&)>;
  void take(LogName name, std::shared_ptr<const net::UploadedFile> packed, Answer answer);

  /// A piece for people: clean UTF-8, whole characters.
  struct Piece {
    std::uint64_t offset = 0;  ///< Of the first byte of `text`, in the stream.
    std::uint64_t size = 0;    ///< Of the stream.
    std::string text;
  };
  /// Up to `limit` bytes from `offset` on, or the last ones; of what is left out, what follows it. not_found:
  /// nothing is kept under that name. corrupt, unavailable: it cannot be read.
  using ReadAnswer = std::function<void(const engine::Result<Piece>&)>;
  void read(LogName name, std::uint64_t offset, std::uint64_t limit, bool from_end, ReadAnswer answer);

  /// The worker could not hand over its logs of the attempt; told again after a restart too. A log of the
  /// same attempt and worker that comes after all says otherwise.
  void note_problem(const engine::AttemptKey& key, engine::WorkerId worker, std::string_view why);
  /// Why nothing is kept of the attempt, of that worker; "" = nobody said so.
  [[nodiscard]] std::string problem_of(const engine::AttemptKey& key, engine::WorkerId worker) const;
  /// The same of the trial's last attempt of which something was said.
  [[nodiscard]] std::string problem_of(engine::ExperimentId experiment, engine::TrialNumber trial) const;

  /// Removes what is kept of an experiment that was deleted, after what is being written. What cannot be
  /// removed is logged, and stays until the next start.
  void remove(engine::ExperimentId experiment);

  /// Whether what was kept of the trial had to go for the quota.
  [[nodiscard]] bool was_removed(engine::ExperimentId experiment, engine::TrialNumber trial) const {
    return quota_.was_removed(experiment, trial);
  }

 private:
  using TrialKey = std::pair<engine::ExperimentId, engine::TrialNumber>;
  struct Found;

  [[nodiscard]] static Found look_around(const std::string& directory);
  void keep_within_quota();

  std::string directory_;
  LogQuota quota_;
  EndedAt ended_at_;
  std::map<TrialKey, std::map<std::string, std::string>> problems_;  ///< By "ATTEMPT/WORKER".
  net::Background looking_;
  net::Background files_;
};

}  // namespace hpsearch::daemon
