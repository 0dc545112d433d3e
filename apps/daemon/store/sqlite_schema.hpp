#pragma once

#include "daemon/store/sqlite_file.hpp"

namespace hpsearch::daemon {

/// Gives a new file the tables and an identity, atomically, and checks any other as check_schema() does.
engine::Status prepare_schema(SqliteFile& file);

/// Checks that the file is a store of this build's format, without changes. corrupt: of another program, or
/// empty; version_mismatch: another format.
engine::Status check_schema(SqliteFile& file);

}  // namespace hpsearch::daemon
