#pragma once

#include <memory>
#include <string>

#include "daemon/store/postgresql/connection.hpp"
#include "daemon/store/tools/stored_log.hpp"

namespace hpsearch::daemon {

/// A store in a PostgreSQL database as it was when this was opened: one transaction that only reads. The
/// daemon that has the store goes on meanwhile.
class PostgresqlLog final : public StoredLog {
 public:
  /// not_found: the database has no store; version_mismatch: another format than this build's; otherwise as
  /// Connection.
  [[nodiscard]] static engine::Result<std::unique_ptr<PostgresqlLog>> open(const DatabaseUrl& url);

  [[nodiscard]] const std::string& path() const noexcept override { return connection_.url(); }
  /// The daemon that had the store, for people; "" if none had.
  [[nodiscard]] const std::string& holder() const noexcept { return holder_; }
  engine::Status read(const Visit& visit) override;
  /// The database watches its own pages (data checksums, pg_amcheck): always "".
  [[nodiscard]] engine::Result<std::string> damaged_pages() override { return std::string(); }
  engine::Status check_tables(const engine::Event& event) override;
  engine::Status check_table_sizes(std::uint64_t metrics, std::uint64_t trial_events) override;
  engine::Status copy_to(const std::string& path) override;

 private:
  explicit PostgresqlLog(const DatabaseUrl& url);

  Connection connection_;
  std::string holder_;
};

}  // namespace hpsearch::daemon
