#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "hpsearch/engine/base/result.hpp"

struct pg_conn;
struct pg_result;

namespace hpsearch::daemon {

/// The functions of libpq that a store calls. The library is loaded when the first store in a database is
/// opened: programs start without it, and machines without it use stores in files.
///
/// Threads: any; a connection and its results belong to one at a time.
class LibPq {
 public:
  /// unavailable: the library is missing, or lacks a function; the message has the remedy.
  [[nodiscard]] static engine::Result<LibPq> load(const char* file);
  /// Its usual file, loaded once and then kept. unavailable: as load().
  [[nodiscard]] static engine::Result<const LibPq*> usual();

  /// The options in the address of a database, with their values. bad_request: it can't be read.
  [[nodiscard]] engine::Result<std::map<std::string, std::string>> parse(const std::string& address) const;

  /// Connects with options; the address, as the option "dbname", counts instead of those before it. Null:
  /// there is not enough memory. Close it with finish().
  using Option = std::pair<const char*, const char*>;
  [[nodiscard]] pg_conn* connect(std::span<const Option> options) const;
  void finish(pg_conn* connection) const noexcept;
  [[nodiscard]] bool is_connected(const pg_conn* connection) const noexcept;
  [[nodiscard]] std::string message(const pg_conn* connection) const;

  /// Results end with clear().
  [[nodiscard]] pg_result* execute(pg_conn* connection, const char* statements) const;
  [[nodiscard]] pg_result* prepare(pg_conn* connection, const char* name, const char* statement,
                                   std::span<const unsigned> types) const;
  /// Values and results have the binary form.
  [[nodiscard]] pg_result* run(pg_conn* connection, const char* name,
                               std::span<const std::string> values) const;
  [[nodiscard]] bool succeeded(const pg_result* result) const noexcept;
  /// The error of a failed statement: five letters that classify it, "" if there are none, and its message.
  [[nodiscard]] std::string state(const pg_result* result) const;
  [[nodiscard]] std::string message(const pg_result* result) const;
  void clear(pg_result* result) const noexcept;

  [[nodiscard]] int rows(const pg_result* result) const noexcept;
  [[nodiscard]] bool is_null(const pg_result* result, int row, int column) const noexcept;
  [[nodiscard]] std::string_view value(const pg_result* result, int row, int column) const noexcept;

 private:
  struct Functions;
  explicit LibPq(std::shared_ptr<const Functions> functions) : call_(std::move(functions)) {}

  std::shared_ptr<const Functions> call_;
};

}  // namespace hpsearch::daemon
