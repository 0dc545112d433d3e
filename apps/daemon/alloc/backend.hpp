#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/alloc/job_mark.hpp"
#include "hpsearch/engine/alloc/queue.hpp"
#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::daemon {

/// The job of an allocation, as the daemon wants it.
struct JobOrder {
  engine::QueueSettings settings{};
  std::uint64_t workers = 1;
  JobMark mark{};
  std::string directory{};    ///< The directory of the allocation; nodes have it at the same path.
  std::string worker{};       ///< The program hpsearch-worker.
  std::string daemon{};       ///< The address for workers.
  bool needs_invite = false;  ///< Workers join with the word in invite_file.
};

/// The file in the directory of an allocation with the invite for its workers.
inline constexpr const char* invite_file = "invite";

/// A file in the directory of an allocation; its owner alone may read it.
struct JobFile {
  std::string name;
  std::string text;
};

/// The meaning of a job's state for its allocation.
struct Standing {
  enum class Phase : std::uint8_t {
    waits,
    runs,
    unclear,  ///< It is there; nothing else follows.
    ended,
  };
  Phase phase = Phase::waits;
  bool will_not_start = false;   ///< It waits for something that does not come by itself.
  engine::AllocationEnd end{};   ///< Once it has ended.
  bool processes_ended = false;  ///< The other scheduler has ended its processes, and says so.
};

/// A job that the other scheduler knows.
struct BackendJob {
  std::string id;
  std::string key;     ///< The key of its allocation.
  std::string state;   ///< In the words of the other scheduler, as "PENDING".
  std::string reason;  ///< Why it waits, likewise; "" = it does not say.
  Standing standing;
};

/// The result of a submission.
struct JobSubmission {
  enum class Outcome : std::uint8_t {
    taken,
    refused,
    unknown,  ///< The other scheduler may have taken it: its lists will say so.
  };
  Outcome outcome = Outcome::unknown;
  std::string job{};      ///< If it was taken.
  std::string problem{};  ///< If not.
};

/// The other scheduler's opinion of a job; it does not get one.
struct BackendCheck {
  bool would_start = false;
  std::vector<std::string> findings;  ///< What is wrong, and what is known.
};

/// Another scheduler, in which allocations are jobs.
///
/// Threads: functions that say so block, one at a time, on a thread beside the loop; the others only make
/// texts.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  /// For sentences, as "Slurm".
  [[nodiscard]] virtual std::string name() const = 0;
  /// bad_request: settings that no allocation there can have.
  [[nodiscard]] virtual engine::Status check_settings(const engine::QueueSettings& settings) const = 0;
  /// The files that the job needs beside the invite.
  [[nodiscard]] virtual std::vector<JobFile> files_of(const JobOrder& order) const = 0;
  /// How the job is submitted, for people: comment lines of a shell.
  [[nodiscard]] virtual std::string submission_text(const JobOrder& order) const = 0;
  /// The command that ends the job, for people.
  [[nodiscard]] virtual std::string cancel_text(const std::string& job) const = 0;

  /// Whether a job that is submitted twice is still one job.
  [[nodiscard]] virtual bool may_submit_again() const { return false; }
  /// Whether fetch_output() is needed: jobs do not write into the directories of their allocations.
  [[nodiscard]] virtual bool has_output_elsewhere() const { return false; }

  /// Submits the job, whose files are there. Blocks.
  [[nodiscard]] virtual JobSubmission submit(const JobOrder& order) = 0;
  /// The jobs of this cluster. An error: nothing is known about any job. Blocks.
  [[nodiscard]] virtual engine::Result<std::vector<BackendJob>> list() = 0;
  /// Asks for the end of a job. Blocks.
  [[nodiscard]] virtual engine::Status cancel(const std::string& job) = 0;
  /// The files of the order are in a directory for this check alone. Blocks.
  [[nodiscard]] virtual BackendCheck check(const JobOrder& order) = 0;
  /// Writes the output of a job into NAME.out files in the directory of its allocation, as far as it is still
  /// there. Blocks.
  virtual void fetch_output(const std::string& /*job*/, const std::string& /*directory*/) {}
};

/// The backend with that name in the settings of a queue. For a name that there is not, its check_settings()
/// says which there are.
[[nodiscard]] std::unique_ptr<Backend> backend_named(const std::string& name, std::uint64_t cluster);

}  // namespace hpsearch::daemon
