#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/jobs/launch/launch_spec.hpp"

namespace hpsearch::workers {

/// The rendezvous of the processes of one attempt, as far as the worker decides it.
struct MeetingPoint {
  std::uint64_t port = 0;  ///< Free on this machine; for attempts on one worker.
  std::string hostfile;    ///< The path of the host file of `mpi`.
};

/// How the processes of an attempt find each other (docs/job-contract.md, "Several processes").
struct LaunchForm {
  std::map<std::string, std::string> variables;  ///< The variables of its kind; none for `process`.
  std::string hostfile;                          ///< The text of the file; "" = none.
  std::uint64_t processes = 1;                   ///< The number of processes that the worker starts here.
  std::uint64_t first_rank = 0;                  ///< The rank of the first of them; the others follow.
};

/// The effect of `launch` on this worker. Variables that differ between the processes of one worker (RANK,
/// LOCAL_RANK) aren't included: the program that starts the processes sets them.
[[nodiscard]] LaunchForm launch_form(const jobs::LaunchSpec& spec, const MeetingPoint& meeting);

/// Whether this worker starts no program: with `mpi`, rank 0's mpirun starts all processes.
[[nodiscard]] bool only_lends_slots(const jobs::LaunchSpec& spec) noexcept;

/// The port of this machine on which a process of an attempt on several workers will listen; nothing if there
/// is none, or if it is unknown.
[[nodiscard]] std::optional<std::uint64_t> port_to_listen_at(const jobs::LaunchSpec& spec);

/// The addresses of the attempt's workers, by rank.
[[nodiscard]] std::vector<std::string> addresses_of(const jobs::LaunchSpec& spec);

}  // namespace hpsearch::workers
