#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "daemon/store/postgresql/database_url.hpp"
#include "scratch.hpp"

namespace hpsearch::daemon {

/// A genuine PostgreSQL server in a temporary folder, which listens on a Unix socket there and trusts
/// everyone who reaches it. PostgreSQL refuses root: then it runs as another user.
///
/// It doesn't sync its files: a killed server loses nothing, and no test takes the power away.
class PostgresqlServer {
 public:
  /// The one of this process, started at its first use. Null: the machine has none.
  static PostgresqlServer* of_process();
  /// Why there is none; "" if there is one.
  static const std::string& missing();

  ~PostgresqlServer();
  PostgresqlServer(const PostgresqlServer&) = delete;
  PostgresqlServer& operator=(const PostgresqlServer&) = delete;

  /// The address of a new schema, which no other test has.
  [[nodiscard]] DatabaseUrl new_schema();

  /// Ends the server at once, as if it was killed. Connections are lost.
  void stop();
  /// Starts it again, and returns when it answers.
  void start();

 private:
  PostgresqlServer() = default;
  static std::unique_ptr<PostgresqlServer> begin();

  Scratch scratch_;
  std::string programs_;  ///< The directory of initdb and postgres.
  uid_t user_ = 0;
  gid_t group_ = 0;
  pid_t server_ = -1;
  int schemas_ = 0;
};

}  // namespace hpsearch::daemon
