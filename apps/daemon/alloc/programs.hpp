#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/alloc/backend.hpp"

namespace hpsearch::daemon {

/// Three programs that speak to another scheduler. docs/clusters/other-schedulers.md says what each gets and
/// prints.
struct ProgramSet {
  std::string name;  ///< "pbs"; of a directory its path.
  bool is_built_in;  ///< The programs are texts for a shell, else paths.
  std::string submit;
  std::string status;
  std::string cancel;
};

/// The sets that are built in, by their names.
[[nodiscard]] const std::vector<ProgramSet>& built_in_sets();

/// A scheduler that is reached through three programs. A job runs one worker.
class Programs final : public Backend {
 public:
  /// `name`: of a set that is built in, or the absolute path of a directory with such programs.
  Programs(const std::string& name, std::uint64_t cluster);

  [[nodiscard]] std::string name() const override { return set_.name; }
  [[nodiscard]] engine::Status check_settings(const engine::QueueSettings& settings) const override;
  [[nodiscard]] std::vector<JobFile> files_of(const JobOrder& order) const override;
  [[nodiscard]] std::string submission_text(const JobOrder& order) const override;
  [[nodiscard]] std::string cancel_text(const std::string& job) const override;
  [[nodiscard]] JobSubmission submit(const JobOrder& order) override;
  [[nodiscard]] engine::Result<std::vector<BackendJob>> list() override;
  [[nodiscard]] engine::Status cancel(const std::string& job) override;
  [[nodiscard]] BackendCheck check(const JobOrder& order) override;

 private:
  ProgramSet set_;
  std::uint64_t cluster_;
};

/// Jobs of the cluster in the output of a status program. bad_request: a line is none of its lines.
[[nodiscard]] engine::Result<std::vector<BackendJob>> read_status(std::string_view text,
                                                                  std::uint64_t cluster);

}  // namespace hpsearch::daemon
