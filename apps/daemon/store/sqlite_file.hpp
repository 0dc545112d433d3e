#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "hpsearch/engine/base/result.hpp"

struct sqlite3;
struct sqlite3_backup;
struct sqlite3_stmt;

namespace hpsearch::daemon {

struct EndStatement {
  void operator()(sqlite3_stmt* statement) const noexcept;
};
using Statement = std::unique_ptr<sqlite3_stmt, EndStatement>;

/// Maps 64 bits to the same 64 bits: SQLite's integers have a sign.
[[nodiscard]] constexpr std::int64_t signed_of(std::uint64_t number) noexcept {
  return static_cast<std::int64_t>(number);
}

/// One use of a prepared statement. The destructor resets the statement.
class Use {
 public:
  explicit Use(const Statement& statement) : statement_(statement.get()) {}
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  ~Use();

  /// Places count from 1. Bound values are borrowed until the use ends.
  void bind(int place, std::uint64_t number);
  void bind_text(int place, std::string_view text);
  void bind_bytes(int place, std::span<const std::byte> bytes);

  enum class Step : std::uint8_t { row, done, failed };
  /// Moves to the next row, or to the end of the statement.
  [[nodiscard]] Step step();

  /// Columns of the current row; they count from 0. Bytes and text belong to SQLite and are valid until the
  /// next step.
  [[nodiscard]] std::uint64_t number_at(int column) const noexcept;
  [[nodiscard]] std::span<const std::byte> bytes_at(int column) const noexcept;
  [[nodiscard]] std::string_view text_at(int column) const noexcept;

 private:
  sqlite3_stmt* statement_;
};

/// An open database file.
///
/// It moves pages out of the write-ahead log only when requested: by default, SQLite does so after a commit
/// and does not report that a disk failed.
///
/// Owns:    the connection; its statements must end before it does.
/// Threads: one at a time.
class SqliteFile {
 public:
  SqliteFile() = default;
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;
  ~SqliteFile();

  /// Opens or makes the file. unavailable: the file system refuses. `files` is a FileSystem's sqlite_name().
  engine::Status open(const std::string& path, const char* files = nullptr);

  /// Opens a file to read it, and changes no byte of it or of its write-ahead log; no other process can open
  /// it meanwhile. not_found: it is missing; wrong_state: another process has it open; corrupt: it is not a
  /// database. `files` as for open().
  engine::Status open_untouched(const std::string& path, const char* files = nullptr);

  /// Effect of closing: `leave` changes nothing; `tidy_up`, the default, moves the log into the database and
  /// removes it, by a name that may be another file's by now.
  enum class AtClose : std::uint8_t { tidy_up, leave };
  void at_close(AtClose what) noexcept;

  /// Copies pages into the file that `to` has open, which is unchanged until the last page is copied; pages
  /// that are written here meanwhile are in the copy too. step() is true if there are more. At most `pages`
  /// of them, of 4 KiB each.
  class Copy {
   public:
    [[nodiscard]] engine::Result<bool> step(int pages);
    Copy(Copy&& other) noexcept : to_(other.to_), backup_(std::exchange(other.backup_, nullptr)) {}
    Copy& operator=(Copy&&) = delete;
    ~Copy();

   private:
    friend class SqliteFile;
    Copy(SqliteFile& to, sqlite3_backup* backup) : to_(&to), backup_(backup) {}
    SqliteFile* to_;
    sqlite3_backup* backup_;
  };
  [[nodiscard]] engine::Result<Copy> copy_to(SqliteFile& to);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Runs any number of statements without rows. `doing` begins the message if one fails: "cannot open".
  [[nodiscard]] engine::Status run(const std::string& sql, const std::string& doing);
  [[nodiscard]] engine::Result<Statement> prepare(const char* sql);
  /// The one number that a statement returns. corrupt: it returns none.
  [[nodiscard]] engine::Result<std::uint64_t> number(const char* sql);
  /// Rolls a transaction back, if there is one.
  void roll_back() noexcept;
  [[nodiscard]] bool in_transaction() const noexcept;

  /// Moves the content of the write-ahead log into the database if it has `pages` pages or more; call it
  /// while no statement is in use. Lack of room is not a failure: committed pages stay in the log. corrupt:
  /// the disk failed.
  [[nodiscard]] engine::Status checkpoint_if_due(int pages);

  /// Like checkpoint_if_due() for all pages, after which the log is empty. Must be called before anything is
  /// written: a log that an earlier process left may be in the kernel's memory only.
  [[nodiscard]] engine::Status empty_log();

  /// Whether a transaction has just failed for lack of room: then nothing was written that counts.
  [[nodiscard]] bool lacks_room() const noexcept;

  /// The error of the last call. wrong_state: another process has the file open; corrupt: it is damaged or
  /// not a database; unavailable: anything else.
  [[nodiscard]] engine::Error problem(const std::string& doing) const;

 private:
  struct CloseDatabase {
    void operator()(sqlite3* database) const noexcept;
  };

  [[nodiscard]] engine::Status checkpoint(int mode);
  engine::Status open_with(const std::string& path, int flags, const char* files);

  std::string path_;
  bool made_log_ = false;  // This opened a file without a write-ahead log, and SQLite made an empty one.
  int pages_to_move_ = 0;  // Pages in the write-ahead log, as of the last commit.
  std::unique_ptr<sqlite3, CloseDatabase> database_;
};

}  // namespace hpsearch::daemon
