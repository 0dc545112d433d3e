#pragma once

#include <cstdint>
#include <string>

#include "daemon/store/postgresql/database_url.hpp"
#include "daemon/store/tools/stored_log.hpp"

namespace hpsearch::daemon {

/// Copies a store, event by event, with its identity and the number of its daemon's starts: a daemon that
/// starts on the copy goes on where the last one ended, and workers see no difference. A daemon must not
/// start on both.
///
/// Fails: as StoredLog::read() if the log is damaged. Nothing is left of a copy that failed.

enum class WithSeal : std::uint8_t { no, yes };

/// Into a new SQLite file; a daemon starts only on one that has its seal. wrong_state: something is at the
/// path; unavailable: it cannot be written.
engine::Status copy_log_to_file(StoredLog& from, const std::string& path, WithSeal seal);

/// Into a database without events, in one transaction. wrong_state: it has a store with events, or one that a
/// daemon has; otherwise as Connection.
engine::Status copy_log_to_database(StoredLog& from, const DatabaseUrl& to);

/// Checks that a copy has the identity, the starts and every byte of the log that it comes from. corrupt:
/// names the difference.
engine::Status check_same_log(StoredLog& from, StoredLog& copy);

}  // namespace hpsearch::daemon
