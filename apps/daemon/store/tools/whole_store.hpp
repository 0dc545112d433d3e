#pragma once

#include <string>

#include "daemon/store/files/file_system.hpp"
#include "daemon/store/tools/store_seal.hpp"

namespace hpsearch::daemon {

/// Whether everything that was acknowledged is still there, before anything is written: the store compared
/// with its seal. Fine where no store was ever begun.
///
/// Reads the database with its write-ahead log, and leaves both as they are. To be called by whoever owns the
/// store, after check_log_of().
/// Fails:   not_found: the database, its log or its seal is missing, empty, older than what was acknowledged,
/// or
///          another store's; the message names the place and says what to do. As SqliteFile::open_untouched()
///          where the database cannot be read.
[[nodiscard]] engine::Status check_whole(FileSystem& files, const std::string& database);

/// The part of it that needs no lock: that no database is missing which a seal knows of.
[[nodiscard]] engine::Status check_not_missing(FileSystem& files, const std::string& database);

}  // namespace hpsearch::daemon
