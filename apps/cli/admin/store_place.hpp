#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "cli/render/output.hpp"
#include "cli/verbs/failure.hpp"
#include "daemon/store/postgresql/database_url.hpp"
#include "daemon/store/tools/stored_log.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::cli {

/// Where a store is: in a directory of a daemon, a run or a backup, a file on its own, or a database.
struct StorePlace {
  std::filesystem::path file;                      ///< "" for a database without a directory.
  std::optional<std::filesystem::path> directory;  ///< The directory of a daemon or a backup.
  std::optional<daemon::DatabaseUrl> database;     ///< Where the events are, if not in the file.

  /// For messages.
  [[nodiscard]] std::string name() const { return database ? database->text() : file.string(); }

  /// Process id of the daemon that has it open.
  [[nodiscard]] std::optional<pid_t> held_by() const;
};

[[nodiscard]] Outcome<StorePlace> find_store(const std::string& given);

/// Opens a store in a file that no process has open; `instead` is the remedy if one has. A store in a
/// database is read as it is now, also while a daemon has it.
[[nodiscard]] Outcome<std::unique_ptr<daemon::StoredLog>> open_closed(const StorePlace& place,
                                                                      const std::string& instead);

/// The path of a new store in a state directory, which is made if necessary.
[[nodiscard]] Outcome<std::filesystem::path> new_store_in(const std::string& given);

/// The store's wall clock.
[[nodiscard]] engine::Instant wall_clock_now();

/// A count as a JSON value.
[[nodiscard]] engine::Value count_value(std::uint64_t count);

/// Warns if a new state directory has no key for the secrets of experiments.
void warn_of_sealed_secrets(const std::string& state_directory, const Output& output);

/// "WHAT PATH: N events, checked"
int print_copy(const std::string& what, const std::filesystem::path& path, engine::Lsn last,
               const Output& output);

}  // namespace hpsearch::cli
