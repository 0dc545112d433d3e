#pragma once

#include <string>

#include "daemon/store/files/file_system.hpp"
#include "daemon/store/tools/store_seal.hpp"

namespace hpsearch::daemon {

/// Checks, before anything is written, that everything that was acknowledged is still there: compares the
/// store with its seal. Succeeds if no store was ever begun.
///
/// Reads the database with its write-ahead log, and changes neither. The caller must own the store and have
/// called check_log_of().
/// Fails:   not_found: the database, its log or its seal is missing, empty, older than what was acknowledged,
///          or another store's; the message contains the place and the remedy. As
///          SqliteFile::open_untouched() if the database cannot be read.
[[nodiscard]] engine::Status check_whole(FileSystem& files, const std::string& database);

/// The part of it that needs no lock: checks that a database exists if there is a seal.
[[nodiscard]] engine::Status check_not_missing(FileSystem& files, const std::string& database);

}  // namespace hpsearch::daemon
