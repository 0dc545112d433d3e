#include <string>
#include <vector>

#include "cli/doctor/checks.hpp"
#include "cli/render/text.hpp"
#include "daemon/store/files/disk_space.hpp"

namespace hpsearch::cli {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;

Finding programs(const Facts& facts) {
  const std::vector<std::string>& missing = facts.worker->missing_programs;
  return missing.empty() ? good("all programs of a worker are installed")
                         : error("programs that are missing or can't be executed: " + some_of(missing),
                                 "install them in the directory of hpsearch");
}

Finding own_control_groups(const Facts& facts) {
  const WorkerFacts& worker = *facts.worker;
  if (!worker.has_control_groups) {
    return warning("cgroup v2 is not mounted: workers find processes in the process table",
                   "boot with systemd.unified_cgroup_hierarchy=1");
  }
  return worker.may_make_control_groups
             ? good("a worker of this user may make control groups")
             : warning(
                   "this user may not make control groups here: workers find processes in the process table",
                   "run the worker as a systemd service with Delegate=yes");
}

Finding nvidia_driver(const Facts& facts) {
  const WorkerFacts& worker = *facts.worker;
  if (!worker.has_nvidia_devices) {
    return good("there is no GPU of NVIDIA");
  }
  return worker.nvidia_driver
             ? good("NVIDIA's driver is " + *worker.nvidia_driver)
             : error("there are GPUs of NVIDIA, but their driver does not answer",
                     "nvidia-smi says why; load the kernel module of the library's version, or restart");
}

Finding nvidia_persistence(const Facts& facts) {
  const WorkerFacts& worker = *facts.worker;
  if (!worker.nvidia_driver) {
    return skipped("there is no driver of NVIDIA");
  }
  return worker.without_persistence.empty()
             ? good("persistence mode is on")
             : warning("persistence mode is off: " + some_of(worker.without_persistence),
                       "start nvidia-persistenced: each trial waits for the driver else");
}

Finding xid_errors(const Facts& facts) {
  const WorkerFacts& worker = *facts.worker;
  return worker.xid_errors.empty()
             ? good("the kernel's log has no Xid error of the last day, as far as this user may read it")
             : warning("Xid errors in the last day: " + some_of(worker.xid_errors),
                       "look the number up in NVIDIA's list; drain the worker if they come again");
}

Finding devices(const Facts& facts) {
  return facts.worker->device_problem.empty()
             ? good("hpsearch-worker lists the devices")
             : error("hpsearch-worker can't list the devices: " + facts.worker->device_problem,
                     "run hpsearch-worker --list-devices");
}

Finding containers(const Facts& facts) {
  const WorkerFacts& worker = *facts.worker;
  std::vector<std::string> problems;
  for (const auto& [runtime, problem] : worker.runtime_problems) {
    problems.push_back(runtime + " (" + problem + ")");
  }
  if (!problems.empty()) {
    return warning(
        "container runtimes that this user can't use: " + some_of(problems),
        "only trials with environment.image need one; add the user to its group, or start its service");
  }
  return good(worker.runtimes.empty() ? "there is no container runtime; only environment.image needs one"
                                      : "container runtimes: " + some_of(worker.runtimes));
}

Finding shared_memory(const Facts& facts) {
  const auto& bytes = facts.worker->shared_memory;
  const char* remedy = "mount a larger tmpfs at /dev/shm: data loaders with processes need it";
  if (!bytes) {
    return warning("there is no /dev/shm", remedy);
  }
  const std::string finding = "/dev/shm has " + bytes_text(*bytes);
  return *bytes > 64 * mebibyte ? good(finding) : warning(finding, remedy);
}

Finding processes(const Facts& facts) {
  const std::string finding = "this user may have " + std::to_string(facts.worker->processes) + " processes";
  return facts.worker->processes >= 4'096
             ? good(finding)
             : warning(finding,
                       "raise the limit: LimitNPROC= of the unit, or nproc in /etc/security/limits.conf");
}

Finding worker_directory(const Facts& facts) {
  const WorkerFacts& worker = *facts.worker;
  if (!worker.directory) {
    return skipped("no worker has run here");
  }
  if (worker.directory_forbids_programs) {
    return error(worker.directory->path + " is mounted with noexec: programs of contexts can't run there",
                 "choose another --state-dir, or mount it without noexec");
  }
  return (worker.directory->mode & 0007U) == 0 || (worker.directory->mode & 0007U) == 1U
             ? good("the worker's state directory has the mode " + mode_text(worker.directory->mode))
             : error("the worker's state directory has the mode " + mode_text(worker.directory->mode) +
                         ": every user of this machine may read it",
                     "chmod 700 " + worker.directory->path);
}

Finding worker_space(const Facts& facts) {
  const WorkerFacts& worker = *facts.worker;
  if (worker.total_bytes == 0) {
    return skipped("no worker has run here");
  }
  const daemon::DiskSpace disk{worker.free_bytes, worker.total_bytes};
  const std::string finding =
      bytes_text(disk.free) + " of " + bytes_text(disk.total) + " are free on the worker's disk";
  const char* remedy = "make room there: attempts, logs and contexts need it";
  return disk.room() == daemon::Room::ample ? good(finding)
         : disk.room() == daemon::Room::low ? warning(finding, remedy)
                                            : error(finding, remedy);
}

Finding joined_daemon(const Facts& facts) {
  const WorkerFacts& worker = *facts.worker;
  if (!worker.joined) {
    return skipped("the worker has not joined a daemon");
  }
  return worker.joined_problem.empty()
             ? good("the daemon's port, " + *worker.joined + ", accepts connections")
             : error("the daemon's port, " + *worker.joined + ", can't be reached: " + worker.joined_problem,
                     "start the daemon, or open the port in the firewall");
}

Finding slot_table(const Facts& facts) {
  const WorkerFacts& worker = *facts.worker;
  if (!worker.slot_table) {
    return good("no searches share slots here");
  }
  if (worker.slot_table->uid != facts.machine.uid) {
    return error(worker.slot_table->path + ", the slot table, belongs to uid " +
                     std::to_string(worker.slot_table->uid),
                 "remove it, or set HPSEARCH_SLOT_TABLE to another directory");
  }
  return (worker.slot_table->mode & 0022U) == 0
             ? good("the slot table is this user's")
             : error(worker.slot_table->path + ", the slot table, has the mode " +
                         mode_text(worker.slot_table->mode) + ": other users may write there",
                     "chmod 700 " + worker.slot_table->path);
}

constexpr Check checks[] = {
    {"worker-programs", Part::worker,
     "`hpsearch-worker`, `hpsearch-shim` and their companions are installed.", programs},
    {"own-control-groups", Part::worker, "This user may make control groups (cgroup v2, `Delegate=yes`).",
     own_control_groups},
    {"nvidia-driver", Part::worker, "If there are GPUs of NVIDIA, their driver answers.", nvidia_driver},
    {"nvidia-persistence", Part::worker, "Persistence mode is on.", nvidia_persistence},
    {"xid-errors", Part::worker, "The kernel's log has no Xid error of the last day.", xid_errors},
    {"devices", Part::worker, "`hpsearch-worker --list-devices` works.", devices},
    {"containers", Part::worker, "This user can use the container runtimes that are installed.", containers},
    {"shared-memory", Part::worker, "`/dev/shm` has more than 64 MiB.", shared_memory},
    {"processes", Part::worker, "This user may have 4096 processes.", processes},
    {"worker-directory", Part::worker,
     "The worker's state directory is closed to others and allows programs.", worker_directory},
    {"worker-space", Part::worker, "Its disk has room.", worker_space},
    {"joined-daemon", Part::worker, "The port of the daemon that it joined accepts connections.",
     joined_daemon},
    {"slot-table", Part::worker, "The slot table belongs to this user alone.", slot_table},
};

}  // namespace

std::span<const Check> worker_checks() {
  return checks;
}

}  // namespace hpsearch::cli
