#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/doctor/checks.hpp"
#include "cli/render/text.hpp"
#include "daemon/store/files/disk_space.hpp"

namespace hpsearch::cli {
namespace {

constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30U;
constexpr std::int64_t day = 86'400;

std::vector<std::string> names_of(const std::vector<SeenFile>& files) {
  std::vector<std::string> names;
  for (const SeenFile& file : files) {
    names.push_back(file.path + " (" + mode_text(file.mode) + ")");
  }
  return names;
}

/// "0.52 ms", "120 ms"
std::string millis_text(double millis) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), millis < 10 ? "%.2g ms" : "%.0f ms", millis);
  return text.data();
}

Finding file_system(const Facts& facts) {
  const StateFacts& state = *facts.state;
  if (state.network_file_system.empty()) {
    return good("the state directory is on a local disk");
  }
  const std::string finding = "the state directory is on " + state.network_file_system;
  return state.is_trusted_on_request
             ? error(finding + ", whose locks or syncs are not known to work",
                     "move it to a local disk: hpsearch store backup, then hpsearch store restore")
             : warning(finding + ": only one host may use it at a time, and a commit takes longer",
                       "use a local disk if you can");
}

Finding space(const Facts& facts) {
  const StateFacts& state = *facts.state;
  const daemon::DiskSpace disk{state.free_bytes, state.total_bytes};
  const std::string finding =
      bytes_text(disk.free) + " of " + bytes_text(disk.total) + " are free on the store's disk";
  const char* remedy = "make room there; below 1 GiB and 5 % no new experiments are accepted";
  switch (disk.room()) {
    case daemon::Room::ample:
      return good(finding);
    case daemon::Room::low:
      return warning(finding, remedy);
    case daemon::Room::scarce:
    case daemon::Room::exhausted:
      return error(finding, remedy);
  }
  return good(finding);
}

Finding permissions(const Facts& facts) {
  const SeenFile& directory = facts.state->directory;
  const std::string finding = "the state directory has the mode " + mode_text(directory.mode);
  const std::string remedy = "chmod 700 " + directory.path;
  if ((directory.mode & 0007U) != 0) {
    return error(finding + ": every user of this machine may enter it", remedy);
  }
  return (directory.mode & 0070U) != 0 ? warning(finding + ": its group may enter it", remedy)
                                       : good(finding);
}

Finding owner(const Facts& facts) {
  const StateFacts& state = *facts.state;
  return state.of_other_users.empty()
             ? good("all files of the store belong to one user")
             : error("files of the store belong to another user than their directory: " +
                         some_of(names_of(state.of_other_users)),
                     "chown them to the daemon's user; a program was once run as another one");
}

Finding secret_files(const Facts& facts) {
  std::vector<SeenFile> open;
  for (const SeenFile& file : facts.state->secrets) {
    if ((file.mode & 0077U) != 0) {
      open.push_back(file);
    }
  }
  return open.empty() ? good("only their owner may read keys and tokens")
                      : error("other users may read secrets: " + some_of(names_of(open)),
                              "chmod 600 these files, then replace the keys and tokens in them");
}

Finding lock(const Facts& facts) {
  const StateFacts& state = *facts.state;
  if (!state.owner_elsewhere.empty()) {
    return warning("a daemon on " + state.owner_elsewhere + " has the state directory",
                   "run hpsearch doctor there");
  }
  if (state.is_locked && !state.has_addresses) {
    return warning("a process has locked the state directory, but does not listen yet",
                   "wait for its start; hpsearchd's log says what it does");
  }
  return good(state.is_locked ? "a daemon has the state directory" : "no daemon has the state directory");
}

Finding sync_time(const Facts& facts) {
  const std::vector<double>& millis = facts.state->sync_millis;
  if (millis.empty()) {
    return skipped("this user may not write to the state directory");
  }
  const double median = millis[millis.size() / 2];
  const double slow = millis[std::min(millis.size() - 1, millis.size() * 99 / 100)];
  const std::string finding =
      "a sync takes " + millis_text(median) + ", and 1 of 100 takes " + millis_text(slow) +
      " or more: " + std::to_string(std::llround(median > 0 ? 1'000 / median : 1e6)) + " commits a second";
  const char* remedy = "use a faster disk, or one that no other program keeps busy";
  if (median > 100) {
    return error(finding, remedy);
  }
  return slow > 250 ? warning(finding, remedy) : good(finding);
}

Finding store_format(const Facts& facts) {
  const StateFacts& state = *facts.state;
  if (!state.store_format) {
    return skipped("there is no store yet");
  }
  const std::string finding = "the store has the format " + std::to_string(*state.store_format);
  return *state.store_format == state.own_store_format
             ? good(finding)
             : error(finding + ", and this release has " + std::to_string(state.own_store_format),
                     *state.store_format > state.own_store_format
                         ? "use the newer release that wrote it"
                         : "use the older release that wrote it, or export the store with it");
}

Finding store_growth(const Facts& facts) {
  const StateFacts& state = *facts.state;
  if (!state.store_format || state.store_age_days < 1) {
    return skipped("the store is younger than a day");
  }
  const double per_day = static_cast<double>(state.store_bytes) / state.store_age_days;
  const double days = per_day > 0 ? static_cast<double>(state.free_bytes) / per_day : INFINITY;
  const std::string finding =
      "the store grows by " + bytes_text(static_cast<std::uint64_t>(per_day)) + " a day";
  if (days >= 30) {
    return good(finding);
  }
  const std::string end = ": the disk is full in " + std::to_string(static_cast<int>(days)) + " days";
  const char* remedy = "move the state directory to a larger disk, or delete experiments (hpsearch delete)";
  return days < 7 ? error(finding + end, remedy) : warning(finding + end, remedy);
}

Finding store_log(const Facts& facts) {
  const std::string finding = "the store's write-ahead log has " + bytes_text(facts.state->store_log_bytes);
  return facts.state->store_log_bytes <= gibibyte
             ? good(finding)
             : warning(finding, "end programs that keep the store open, then restart the daemon");
}

Finding context_bytes(const Facts& facts) {
  const StateFacts& state = *facts.state;
  const std::string finding = "contexts of experiments take " + bytes_text(state.context_bytes);
  return state.context_bytes <= 10 * gibibyte || state.context_bytes < state.free_bytes
             ? good(finding)
             : warning(finding + ", more than is free on the disk",
                       "delete ended experiments (hpsearch delete), which removes their contexts");
}

Finding certificate(const Facts& facts) {
  const auto& seen = facts.state->certificate;
  if (!seen) {
    return skipped("the state directory has no certificate (tls.crt)");
  }
  if (!seen->problem.empty()) {
    return error("tls.crt can't be used: " + seen->problem,
                 "remove tls.crt and tls.key and restart the daemon: it makes new ones");
  }
  const char* remedy =
      "replace it: remove tls.crt and tls.key and restart the daemon; clients need the new fingerprint";
  if (seen->seconds_left < 0) {
    return error("the certificate has expired", remedy);
  }
  const std::string finding =
      "the certificate is valid for " + std::to_string(seen->seconds_left / day) + " days";
  return seen->seconds_left < 14 * day ? warning(finding, remedy) : good(finding);
}

Finding certificate_name(const Facts& facts) {
  const auto& seen = facts.state->certificate;
  if (!seen || !seen->problem.empty()) {
    return skipped("there is no certificate that can be used");
  }
  return seen->names_this_host
             ? good("the certificate is for " + facts.machine.host)
             : warning("the certificate is not for this machine's name, " + facts.machine.host,
                       "start the daemon with --tls-name NAME after you removed tls.crt and tls.key");
}

Finding checkpoint_root(const Facts& facts) {
  const StateFacts& state = *facts.state;
  if (!state.checkpoints) {
    return skipped("there is no checkpoint root yet");
  }
  return state.checkpoints_are_writable ? good(state.checkpoints->path + " is writable")
                                        : error("this user may not write to " + state.checkpoints->path,
                                                "let the daemon's user and the workers' users write there: "
                                                "the daemon reads checkpoints and "
                                                "deletes old ones");
}

Finding checkpoint_owners(const Facts& facts) {
  const StateFacts& state = *facts.state;
  if (!state.checkpoints) {
    return skipped("there is no checkpoint root yet");
  }
  std::vector<std::string> others;
  for (const std::uint32_t uid : state.checkpoint_owners) {
    if (uid != state.directory.uid) {
      others.push_back(std::to_string(uid));
    }
  }
  return others.empty()
             ? good("checkpoints belong to the daemon's user")
             : warning("checkpoints belong to other users than the daemon's: uid " + some_of(others),
                       "run workers with the daemon's uid, or let it write to their directories");
}

constexpr Check checks[] = {
    {"state-file-system", Part::state, "The state directory is on a local disk.", file_system},
    {"state-space", Part::state, "Its disk has room: at least 4 GiB or 10 %.", space},
    {"state-permissions", Part::state, "No other user may enter it.", permissions},
    {"state-owner", Part::state, "Its files belong to its owner.", owner},
    {"secret-files", Part::state, "Only their owner may read keys and tokens.", secret_files},
    {"state-lock", Part::state, "No other host has it, and the process that locked it listens.", lock},
    {"sync-time", Part::state,
     "200 writes with a sync: their median and 99th percentile, and the commits a second "
     "that this allows.",
     sync_time},
    {"store-format", Part::state, "The store has the format of this release.", store_format},
    {"store-growth", Part::state, "At its pace of growth, the disk lasts 30 days.", store_growth},
    {"store-log", Part::state, "The store's write-ahead log has at most 1 GiB.", store_log},
    {"context-bytes", Part::state, "Contexts take less than what is free.", context_bytes},
    {"certificate", Part::state, "`tls.crt` and its key belong together and are valid for 14 days.",
     certificate},
    {"certificate-name", Part::state, "The certificate is for this machine's name.", certificate_name},
    {"checkpoint-root", Part::state, "The checkpoint root is writable.", checkpoint_root},
    {"checkpoint-owners", Part::state, "Checkpoints belong to the daemon's user.", checkpoint_owners},
};

}  // namespace

std::span<const Check> state_checks() {
  return checks;
}

}  // namespace hpsearch::cli
