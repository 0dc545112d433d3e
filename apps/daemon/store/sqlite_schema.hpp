#pragma once

#include <cstdint>

#include "daemon/store/sqlite_file.hpp"

namespace hpsearch::daemon {

/// In the header of the file (PRAGMA user_version). Changes whenever a table or the bytes in it change.
inline constexpr std::uint64_t format_version = 4;

/// Gives a new file the tables and an identity, atomically, and checks any other as check_schema() does.
engine::Status prepare_schema(SqliteFile& file);

/// Checks that the file is a store of this build's format, without changes. corrupt: of another program, or
/// empty; version_mismatch: another format.
engine::Status check_schema(SqliteFile& file);

}  // namespace hpsearch::daemon
