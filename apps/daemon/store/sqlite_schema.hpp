#pragma once

#include "daemon/store/sqlite_file.hpp"

namespace hpsearch::daemon {

/// Gives a new file the tables and an identity, all of it or nothing, and checks any other as check_schema()
/// does.
engine::Status prepare_schema(SqliteFile& file);

/// Whether the file is a store of this build's format, looked at only. corrupt: of another program, or empty;
/// version_mismatch: of another format.
engine::Status check_schema(SqliteFile& file);

}  // namespace hpsearch::daemon
