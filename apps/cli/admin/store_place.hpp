#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "cli/render/output.hpp"
#include "cli/verbs/failure.hpp"
#include "daemon/store/tools/closed_store.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::cli {

/// Where a store is: in a directory of a daemon, a run or a backup, or a file of its own.
struct StorePlace {
  std::filesystem::path file;
  std::optional<std::filesystem::path> directory;  ///< That of a daemon or a backup.

  /// The process of the daemon that has it open.
  [[nodiscard]] std::optional<pid_t> held_by() const;
};

[[nodiscard]] Outcome<StorePlace> find_store(const std::string& given);

/// Opens a store that nobody has open; `instead` says what to do if somebody has.
[[nodiscard]] Outcome<std::unique_ptr<daemon::ClosedStore>> open_closed(const StorePlace& place,
                                                                        const std::string& instead);

/// The file a new store gets in a state directory, which is made if need be.
[[nodiscard]] Outcome<std::filesystem::path> new_store_in(const std::string& given);

/// The store's wall clock.
[[nodiscard]] engine::Instant wall_clock_now();

/// A count in JSON.
[[nodiscard]] engine::Value count_value(std::uint64_t count);

/// Says so where a new state directory has no key of the secrets of experiments.
void warn_of_sealed_secrets(const std::string& state_directory, const Output& output);

/// "WHAT PATH: N events, checked"
int print_copy(const std::string& what, const std::filesystem::path& path, engine::Lsn last,
               const Output& output);

}  // namespace hpsearch::cli
