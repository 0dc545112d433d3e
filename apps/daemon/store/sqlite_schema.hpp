#pragma once

#include "daemon/store/sqlite_file.hpp"

namespace hpsearch::daemon {

/// Brings the tables of a file to this build's schema, all of it or nothing; a new file gets them, and an identity.
/// corrupt: a file of another program, or a log that fails its checks; version_mismatch: of a newer build.
/// O(log) where an old log has to be written anew.
engine::Status migrate(SqliteFile& file);

}  // namespace hpsearch::daemon
