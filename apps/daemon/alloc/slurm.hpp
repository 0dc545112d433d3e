#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/alloc/backend.hpp"

namespace hpsearch::daemon {

/// Slurm by its commands: sbatch, squeue, scancel and scontrol.
class Slurm final : public Backend {
 public:
  explicit Slurm(std::uint64_t cluster) : cluster_(cluster) {}

  [[nodiscard]] std::string name() const override { return "Slurm"; }
  [[nodiscard]] engine::Status check_settings(const engine::QueueSettings& settings) const override;
  [[nodiscard]] std::vector<JobFile> files_of(const JobOrder& order) const override;
  [[nodiscard]] std::string submission_text(const JobOrder& order) const override;
  [[nodiscard]] std::string cancel_text(const std::string& job) const override;
  [[nodiscard]] JobSubmission submit(const JobOrder& order) override;
  [[nodiscard]] engine::Result<std::vector<BackendJob>> list() override;
  [[nodiscard]] engine::Status cancel(const std::string& job) override;
  [[nodiscard]] BackendCheck check(const JobOrder& order) override;

 private:
  std::uint64_t cluster_;
};

// Its commands and their answers, as texts. Nothing here runs a command.
namespace slurm {

/// bad_request: an option that the queue sets itself, and which option of ours does it.
[[nodiscard]] engine::Status check_arguments(const std::vector<std::string>& arguments);

/// The words of the command that submits the job; `only_tests`: that asks whether it would be taken.
[[nodiscard]] std::vector<std::string> submission(const JobOrder& order, bool only_tests = false);

/// The words of the command that lists the user's jobs.
[[nodiscard]] std::vector<std::string> job_list();
/// Jobs of the cluster. Lines that are none of job_list() are passed over.
[[nodiscard]] std::vector<BackendJob> read_jobs(std::string_view text, std::uint64_t cluster);

/// The meaning of a job's state, as "PENDING", and of the reason for which it waits.
[[nodiscard]] Standing standing_of(std::string_view state, std::string_view reason);

/// Why a job of the queue would wait for ever in its partition, by what `scontrol --oneliner show partition`
/// says. Partitions that the arguments name, else the default one.
[[nodiscard]] std::vector<std::string> problems_with_partition(std::string_view text,
                                                               const engine::QueueSettings& settings);

/// "0-08:03:00"
[[nodiscard]] std::string time_text(engine::Duration time);

}  // namespace slurm
}  // namespace hpsearch::daemon
