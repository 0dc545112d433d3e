#pragma once

#include "daemon/store/sqlite_file.hpp"

namespace hpsearch::daemon {

/// Brings the tables of a file to this build's schema, all of it or nothing; a new file gets them, and an
/// identity. corrupt: a file of another program, or a log that fails its checks; version_mismatch: of a newer
/// build. O(log) where an old log has to be written anew.
engine::Status migrate(SqliteFile& file);

/// Whether the file is a store of this build's schema, looked at only. corrupt: of another program;
/// version_mismatch: of a newer build, or of an older one that no daemon has brought up to date.
engine::Status check_schema(SqliteFile& file);

}  // namespace hpsearch::daemon
