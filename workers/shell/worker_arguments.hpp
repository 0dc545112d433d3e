#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/configuration/option.hpp"
#include "hpsearch/io/configuration/reading.hpp"
#include "hpsearch/workers/core/worker_machine.hpp"
#include "hpsearch/workers/shell/devices/worker_slots.hpp"

namespace hpsearch::workers {

/// The settings of hpsearch-worker: by flags, variables and configuration files, and words that only a
/// command line has.
struct Arguments {
  bool joins = false;
  std::string invite;     ///< For join: INVITE, @FILE, "-" or "".
  bool no_start = false;  ///< For join: exits when the daemon has allowed the key.
  bool list_devices = false;
  bool show_key = false;

  std::string daemon;
  std::string server_key;
  std::string server_key_file;
  std::string state_directory;
  std::string name;
  std::string address;
  std::string pool;
  std::vector<std::string> labels;
  SlotArguments slots;
  std::string share_slots;   ///< How other searches name this one; "" = it shares no slots.
  bool slots_given = false;  ///< slots.offer has a value.
  std::uint64_t gpu_free = 90;
  std::optional<std::uint64_t> max_unslotted;
  double look_every = 15;
  double look_deadline = 20;
  double grace = 30;
  std::string orphan_policy = "continue";
  std::string run_as = "worker";
  std::optional<std::uint64_t> min_uid;
  std::vector<std::string> keep_environment;
  std::string allocation;
  std::optional<double> idle_timeout;
  double give_up_after = 600;
  std::optional<double> time_limit;
  std::string ends_from;
  double give_back = 180;
  std::optional<double> stop_within;
  std::string metrics;
  std::string log_level = "info";
  std::string log_format;  ///< As set_log_format() takes it.

  configuration::CommandLine command_line{};  ///< SIGHUP reads files and variables again, beside these flags.
  configuration::Values given{};              ///< The texts of the members above.
};

/// All options of the program, which store their values in `arguments`.
[[nodiscard]] configuration::Program program_of(Arguments& arguments);

/// Options that don't fit together. The path of a problem is a key.
[[nodiscard]] engine::Problems conflicts_of(const Arguments& arguments);

/// The policy for programs without a daemon: "continue", "pause_at_rung", "pause_at_rung=SECONDS" or
/// "stop_after=SECONDS". False for another text.
bool take_orphan_policy(const std::string& policy, WorkerRules& rules);

/// bad_request: one is not KEY=VALUE, or two have the same key.
[[nodiscard]] engine::Result<std::map<std::string, std::string>> labels_from(
    const std::vector<std::string>& given);

}  // namespace hpsearch::workers
