#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/alloc/queue.hpp"
#include "hpsearch/engine/base/result.hpp"

// Commands for Slurm and its answers, as texts. Nothing here runs a command.

namespace hpsearch::daemon::slurm {

/// bad_request: an option that the queue sets itself, and which option of ours does it.
[[nodiscard]] engine::Status check_arguments(const std::vector<std::string>& arguments);

/// The file in the directory of an allocation with the invite for its workers.
inline constexpr const char* invite_file = "invite";

/// The scripts of an allocation need this beside the queue.
struct Place {
  std::string directory;  ///< The directory of the allocation; nodes have it at the same path.
  std::string worker;     ///< The program hpsearch-worker.
  std::string daemon;     ///< The address for workers.
  bool needs_invite;      ///< Workers join with the word in invite_file.
};

/// The job's script: it starts the worker's script on every node and waits.
[[nodiscard]] std::string job_script(const engine::QueueSettings& settings, std::uint64_t workers,
                                     const Place& place);
/// The script for each node: it runs one worker, whose state is removed when it has ended.
[[nodiscard]] std::string worker_script(const engine::QueueSettings& settings,
                                        const engine::AllocationName& name, const Place& place);

/// "hpsearch/CLUSTER/QUEUE/NUMBER/KEY", by which the job is found again.
[[nodiscard]] std::string comment_of(std::uint64_t cluster, const engine::AllocationRecord& allocation);

/// The words of the command that submits the script; `only_tests`: that asks whether it would be taken.
[[nodiscard]] std::vector<std::string> submission(const engine::QueueSettings& settings,
                                                  const engine::AllocationName& name, std::uint64_t workers,
                                                  const std::string& comment, const std::string& directory,
                                                  bool only_tests = false);

/// The words of the command that lists the user's jobs.
[[nodiscard]] std::vector<std::string> job_list();

struct Job {
  std::string id;
  std::string state;    ///< "PENDING"
  std::string comment;  ///< "" = none.
  std::string reason;   ///< "Priority"
};
/// Lines that are none of job_list() are passed over.
[[nodiscard]] std::vector<Job> read_jobs(std::string_view text);

/// The allocation's key in the comment of a job of this cluster; nothing: the job is another's.
[[nodiscard]] std::optional<std::string> key_in(const Job& job, std::uint64_t cluster);

/// The meaning of a job's state for its allocation.
struct Standing {
  enum class Phase : std::uint8_t { waits, runs, ended };
  Phase phase = Phase::waits;
  bool will_not_start = false;   ///< It waits for something that does not come by itself.
  engine::AllocationEnd end{};   ///< Once it has ended.
  bool processes_ended = false;  ///< Slurm has ended its processes, and says so.
};
[[nodiscard]] Standing standing_of(const Job& job);

/// Why a job of the queue would wait for ever in its partition, by what `scontrol --oneliner show partition`
/// says. Partitions that the arguments name, else the default one.
[[nodiscard]] std::vector<std::string> problems_with_partition(std::string_view text,
                                                               const engine::QueueSettings& settings);

/// "0-08:03:00"
[[nodiscard]] std::string time_text(engine::Duration time);

}  // namespace hpsearch::daemon::slurm
