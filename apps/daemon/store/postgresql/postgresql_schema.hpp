#pragma once

#include "daemon/store/postgresql/connection.hpp"

namespace hpsearch::daemon {

/// Creates the tables of a store, with a new identity, unless they exist, and checks any others as
/// check_tables_of() does.
engine::Status prepare_tables(Connection& connection);

/// Checks that the database has a store of this build's format, without changes. not_found: it has none;
/// version_mismatch: another format.
engine::Status check_tables_of(Connection& connection);

}  // namespace hpsearch::daemon
