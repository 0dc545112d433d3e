#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/proto/api/access.hpp"
#include "hpsearch/proto/api/daemon.hpp"
#include "hpsearch/proto/api/queues.hpp"
#include "hpsearch/proto/api/workers.hpp"

namespace hpsearch::cli {

// The facts that the checks of `hpsearch doctor` judge. An empty optional was not found out. No field holds a
// secret: the report and its sentences are made of these.

/// A file or a directory, and who may do what.
struct SeenFile {
  std::string path;
  std::uint32_t mode = 0;  ///< The permissions, as chmod(1) takes them.
  std::uint32_t uid = 0;
};

/// This machine, as this process sees it.
struct MachineFacts {
  std::string version;  ///< The version of this program.
  std::uint32_t uid = 0;
  std::int64_t now = 0;  ///< In seconds since the epoch.
  std::optional<bool> clock_is_synchronized;
  std::string host;                            ///< Its name.
  std::vector<std::string> addresses;          ///< The addresses of that name.
  std::optional<std::string> name_of_address;  ///< Name of the first of them.
  std::map<std::string, bool>
      proxies;  ///< Variables that name a proxy; whether no_proxy leaves out this machine.
  std::uint64_t memory_available = 0;           ///< In bytes.
  std::uint64_t open_files = 0;                 ///< The hard limit.
  std::string rclone;                           ///< Its version; "" = not installed.
  std::optional<std::string> python_client;     ///< Version of the package hpsearch of python3.
  std::vector<std::string> units_with_percent;  ///< systemd units of hpsearch with a key that has a % in it.
};

/// A certificate and its key.
struct SeenCertificate {
  std::string problem;  ///< Why they can't be used; "" if they can.
  std::int64_t seconds_left = 0;
  bool names_this_host = false;
};

/// A state directory of a daemon on this machine.
struct StateFacts {
  SeenFile directory;
  std::vector<SeenFile> secrets;         ///< Files that only their owner may read.
  std::vector<SeenFile> of_other_users;  ///< Files of a user who is not the directory's.
  std::string network_file_system;       ///< Its name; "" if the disk is local.
  bool is_trusted_on_request = false;    ///< State may be there only with --allow-network-filesystem.
  std::uint64_t free_bytes = 0;
  std::uint64_t total_bytes = 0;
  std::string owner_elsewhere;  ///< Host of a daemon on another machine that has it; "" = none.
  bool is_locked = false;
  bool has_addresses = false;                 ///< A running daemon has written where it listens.
  std::vector<double> sync_millis;            ///< Times of writes with a sync, sorted.
  std::optional<std::uint32_t> store_format;  ///< Null: there is no store yet.
  std::uint32_t own_store_format = 0;         ///< What this program writes.
  std::uint64_t store_bytes = 0;
  std::uint64_t store_log_bytes = 0;  ///< Size of the write-ahead log.
  double store_age_days = 0;
  std::uint64_t context_bytes = 0;
  std::optional<SeenCertificate> certificate;
  std::optional<SeenFile> checkpoints;                  ///< The checkpoint root; null: there is none yet.
  bool checkpoints_are_writable = true;                 ///< By this user.
  std::vector<std::uint32_t> checkpoint_owners;         ///< The users whose checkpoints are there.
  std::optional<std::vector<std::string>> worker_keys;  ///< Names of workers with an allowed key.
};

/// A daemon that answers.
struct DaemonFacts {
  std::string address;
  std::string problem;  ///< Why there is no answer; "" = it answers. The other fields are empty then.
  api::Status status;
  std::vector<std::string> not_ready;     ///< Why it takes no work.
  std::map<std::string, double> metrics;  ///< Each sample by its name and labels, as they are written.
  std::optional<api::Configuration> configuration;  ///< Null: this user may not read it.
  std::vector<api::Worker> workers;
  std::vector<api::Queue> queues;
  std::map<std::string, std::optional<api::QueueCheck>> queue_checks;  ///< Null: no answer in time.
  std::optional<std::vector<api::Token>> tokens;                       ///< Null: this user may not list them.
};

/// Null: the option was not set.
[[nodiscard]] const api::ConfiguredOption* option_in(const api::Configuration& configuration,
                                                     std::string_view key);

/// This machine as one that runs a worker.
struct WorkerFacts {
  std::vector<std::string> missing_programs;
  bool has_control_groups = false;  ///< cgroup v2 is mounted.
  bool may_make_control_groups = false;
  bool has_nvidia_devices = false;
  std::optional<std::string> nvidia_driver;             ///< Null: the driver does not answer.
  std::vector<std::string> without_persistence;         ///< GPUs.
  std::vector<std::string> xid_errors;                  ///< Lines of the kernel's log of the last day.
  std::string device_problem;                           ///< From hpsearch-worker --list-devices.
  std::vector<std::string> runtimes;                    ///< Container runtimes that are installed.
  std::map<std::string, std::string> runtime_problems;  ///< Why one can't be used.
  std::optional<std::uint64_t> shared_memory;           ///< Size of /dev/shm in bytes; null: there is none.
  std::uint64_t processes = 0;                          ///< The limit of this user's processes.
  std::optional<SeenFile> directory;                    ///< The worker's state directory, if it is there.
  bool directory_forbids_programs = false;              ///< Mounted noexec.
  std::uint64_t free_bytes = 0;                         ///< At its directory.
  std::uint64_t total_bytes = 0;
  std::optional<std::string> joined;  ///< Address of the daemon that it joined.
  std::string joined_problem;         ///< Why that address can't be reached; "" = it can.
  std::optional<SeenFile> slot_table;
};

struct Facts {
  MachineFacts machine;
  std::optional<StateFacts> state;
  std::optional<DaemonFacts> daemon;
  std::optional<WorkerFacts> worker;
};

}  // namespace hpsearch::cli
