#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/jobs/launch/launch_spec.hpp"

namespace hpsearch::workers {

/// Where the processes of one attempt meet, as far as the worker itself decides it.
struct MeetingPoint {
  std::uint64_t port = 0;  ///< Free on this machine; for attempts on one worker.
  std::string hostfile;    ///< Where the host file of `mpi` will lie.
};

/// How the processes of an attempt find each other (docs/job-contract.md, "Several processes").
struct LaunchForm {
  std::map<std::string, std::string> variables;  ///< Of its kind; none for `process`.
  std::string hostfile;                          ///< Its text; "" = none is wanted.
  std::uint64_t processes = 1;                   ///< That the worker itself starts here.
  std::uint64_t first_rank = 0;                  ///< Of the first of them; the others follow it.
};

/// What `launch` means on this worker. Variables of a process level that differ between its processes (RANK,
/// LOCAL_RANK) are not among them: the program that starts the processes adds them.
[[nodiscard]] LaunchForm launch_form(const jobs::LaunchSpec& spec, const MeetingPoint& meeting);

/// Nothing of the experiment is started on this worker: of `mpi` beside rank 0, whose mpirun does that.
[[nodiscard]] bool only_lends_slots(const jobs::LaunchSpec& spec) noexcept;

/// Where a process of an attempt on several workers will listen on this one; nothing when none does, or none
/// of us knows.
[[nodiscard]] std::optional<std::uint64_t> port_to_listen_at(const jobs::LaunchSpec& spec);

/// The parts of an attempt as other contracts count them: how many workers, and their addresses by rank.
[[nodiscard]] std::vector<std::string> addresses_of(const jobs::LaunchSpec& spec);

}  // namespace hpsearch::workers
