#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/store/postgresql/database_url.hpp"
#include "hpsearch/engine/base/result.hpp"

struct pg_conn;
struct pg_result;

namespace hpsearch::daemon {

/// Values for the places $1, $2, … of a statement, in the binary form of PostgreSQL. Numbers are bigint
/// there: 64 bits stay the same 64 bits, with a sign.
class Parameters {
 public:
  Parameters& number(std::uint64_t number);
  Parameters& text(std::string_view text);
  Parameters& numbers(std::span<const std::uint64_t> numbers);
  Parameters& byte_strings(std::span<const std::string> strings);

 private:
  friend class Connection;
  std::vector<std::string> values_;
  std::vector<unsigned> types_;
};

struct FreeRows {
  void operator()(pg_result* rows) const noexcept;
};

/// The rows that a statement returned. Rows and columns count from 0; bytes and text are valid as long as
/// this.
class Rows {
 public:
  [[nodiscard]] int count() const noexcept;
  [[nodiscard]] bool is_null(int row, int column) const noexcept;
  [[nodiscard]] std::uint64_t number(int row, int column) const noexcept;
  [[nodiscard]] std::string_view text(int row, int column) const noexcept;
  [[nodiscard]] std::span<const std::byte> bytes(int row, int column) const noexcept;

 private:
  friend class Connection;
  explicit Rows(pg_result* rows) : rows_(rows) {}
  std::unique_ptr<pg_result, FreeRows> rows_;
};

struct EndConnection {
  void operator()(pg_conn* connection) const noexcept;
};

/// Settings of a connection: a commit that was answered is not lost with the memory of the database's
/// machine.
inline constexpr const char* durable_commits =
    "SELECT set_config('default_transaction_isolation', 'read committed', false), "
    "set_config('statement_timeout', '0', false), "
    "set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' "
    "ELSE current_setting('synchronous_commit') END, false)";

/// A connection to a database, made when the first statement needs it, and made again when it was lost.
///
/// Threads: one at a time.
/// Fails:   unavailable: the database cannot be reached, ends, lacks room or is a standby: the same statement
///          may be given again, although it is unknown whether one that changes something did so.
///          bad_request: the database refuses this user; not_found: there is no such database. corrupt:
///          anything else.
class Connection {
 public:
  /// `settings`: statements that each new connection runs first; "" = none.
  explicit Connection(DatabaseUrl url, std::string settings = "");

  [[nodiscard]] const std::string& url() const noexcept { return url_.text(); }

  /// Runs one statement, which is prepared at its first use.
  [[nodiscard]] engine::Result<Rows> run(const std::string& sql, const Parameters& parameters = {});
  /// Runs a statement that changes nothing, once more if the connection was lost.
  [[nodiscard]] engine::Result<Rows> read(const std::string& sql, const Parameters& parameters = {});
  /// Runs several statements without rows: all of them, or none.
  engine::Status run_all(const std::string& statements);

  /// Begins a transaction: until end(), a lost connection is not made again.
  engine::Status begin(const std::string& kind = "");
  engine::Status commit();

  void close() noexcept;

 private:
  engine::Status connect();
  [[nodiscard]] engine::Result<std::string> prepare(const std::string& sql, const Parameters& parameters);
  [[nodiscard]] engine::Error problem(const pg_result* result);

  DatabaseUrl url_;
  std::string settings_;
  std::unique_ptr<pg_conn, EndConnection> connection_;
  std::map<std::string, std::string> prepared_;  // Names of statements of this connection.
  bool in_transaction_ = false;
};

}  // namespace hpsearch::daemon
