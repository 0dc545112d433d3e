#include "daemon/store/sqlite_file.hpp"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "daemon/store/files/file_sync.hpp"

namespace hpsearch::daemon {
namespace {

/// The error of the last failed call on one of a database's files; 0 if none failed.
int last_errno(sqlite3* database, int which_file) {
  sqlite3_file* file = nullptr;
  int error = 0;
  if (sqlite3_file_control(database, "main", which_file, &file) == SQLITE_OK && file != nullptr &&
      file->pMethods != nullptr) {
    file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &error);
  }
  return error;
}
constexpr int database_itself = SQLITE_FCNTL_FILE_POINTER;
constexpr int write_ahead_log = SQLITE_FCNTL_JOURNAL_POINTER;

/// A failed write has written nothing that counts; after a failed sync the content of the disk is unknown.
bool lack_of_room(int code, int error) noexcept {
  return (code & 0xff) == SQLITE_FULL || (code == SQLITE_IOERR_WRITE && is_lack_of_room(error));
}

}  // namespace

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

void EndStatement::operator()(sqlite3_stmt* statement) const noexcept {
  sqlite3_finalize(statement);
}

Use::~Use() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

void Use::bind(int place, std::uint64_t number) {
  sqlite3_bind_int64(statement_, place, signed_of(number));
}

void Use::bind_text(int place, std::string_view text) {
  sqlite3_bind_text64(statement_, place, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

void Use::bind_bytes(int place, std::span<const std::byte> bytes) {
  sqlite3_bind_blob64(statement_, place, bytes.data(), bytes.size(), SQLITE_STATIC);
}

Use::Step Use::step() {
  const int code = sqlite3_step(statement_);
  return code == SQLITE_ROW ? Step::row : code == SQLITE_DONE ? Step::done : Step::failed;
}

std::uint64_t Use::number_at(int column) const noexcept {
  return static_cast<std::uint64_t>(sqlite3_column_int64(statement_, column));
}

std::span<const std::byte> Use::bytes_at(int column) const noexcept {
  const auto* bytes = static_cast<const std::byte*>(sqlite3_column_blob(statement_, column));
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::string_view Use::text_at(int column) const noexcept {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

void SqliteFile::CloseDatabase::operator()(sqlite3* database) const noexcept {
  sqlite3_close_v2(database);
}

SqliteFile::~SqliteFile() {
  const std::string log = path_ + "-wal";
  struct stat found {};
  // While the lock is still ours: once it is released, the log may contain commits of another process.
  if (made_log_ && ::stat(log.c_str(), &found) == 0 && found.st_size == 0) {
    ::unlink(log.c_str());
  }
}

Status SqliteFile::open(const std::string& path, const char* files) {
  return open_with(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, files);
}

void SqliteFile::at_close(AtClose what) noexcept {
  sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, what == AtClose::leave ? 1 : 0,
                    nullptr);
}

Status SqliteFile::open_untouched(const std::string& path, const char* files) {
  const bool of_kernel = files == nullptr;
  if (of_kernel && ::access(path.c_str(), F_OK) != 0) {
    return Error{Errc::not_found, "there is no " + path};
  }
  // To read a write-ahead log, SQLite needs either shared memory, which is a file beside it, or the exclusive
  // lock, which needs a writable descriptor. Nothing is written here, and closing leaves the log where it is.
  const bool has_log = ::access((path + "-wal").c_str(), F_OK) == 0;
  if (auto opened = open_with(path, SQLITE_OPEN_READWRITE, files); !opened) {
    return opened;
  }
  at_close(AtClose::leave);
  for (const char* pragma :
       {"PRAGMA locking_mode=EXCLUSIVE", "PRAGMA query_only=ON", "PRAGMA cell_size_check=ON",
        "PRAGMA trusted_schema=OFF", "SELECT count(*) FROM sqlite_schema"}) {
    if (auto done = run(pragma, "cannot read"); !done) {
      return done;
    }
  }
  made_log_ = of_kernel && !has_log;  // The lock is ours only from here on.
  return Done{};
}

Status SqliteFile::open_with(const std::string& path, int how, const char* files) {
  path_ = path;
  sqlite3* database = nullptr;
  const int flags = how | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int opened = sqlite3_open_v2(path.c_str(), &database, flags, files);
  database_.reset(database);
  if (opened == SQLITE_OK) {
    // Replaces SQLite's own hook, which would checkpoint.
    sqlite3_wal_hook(
        database,
        [](void* pages, sqlite3*, const char*, int count) {
          *static_cast<int*>(pages) = count;
          return SQLITE_OK;
        },
        &pages_to_move_);
    return Done{};
  }
  return database == nullptr ? Error{Errc::unavailable, "cannot open " + path + ": out of memory"}
                             : problem("cannot open");
}

Status SqliteFile::run(const std::string& sql, const std::string& doing) {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return problem(doing);
  }
  return Done{};
}

Result<Statement> SqliteFile::prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(database_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) !=
      SQLITE_OK) {
    return problem("cannot read");
  }
  return Statement(statement);
}

Result<std::uint64_t> SqliteFile::number(const char* sql) {
  auto statement = prepare(sql);
  if (!statement) {
    return statement.error();
  }
  Use use(*statement);
  const Use::Step came_to = use.step();
  if (came_to != Use::Step::row) {
    return came_to == Use::Step::done ? Error{Errc::corrupt, path_ + " lacks a part of its own description"}
                                      : problem("cannot read");
  }
  return use.number_at(0);
}

void SqliteFile::roll_back() noexcept {
  sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

Result<SqliteFile::Copy> SqliteFile::copy_to(SqliteFile& to) {
  sqlite3_backup* backup = sqlite3_backup_init(to.database_.get(), "main", database_.get(), "main");
  if (backup == nullptr) {
    return to.problem("cannot write");
  }
  return Copy(to, backup);
}

Result<bool> SqliteFile::Copy::step(int pages) {
  const int code = sqlite3_backup_step(backup_, pages);
  if (code != SQLITE_OK && code != SQLITE_DONE) {
    sqlite3_backup_finish(std::exchange(backup_, nullptr));
    return to_->problem("cannot copy into");
  }
  return code == SQLITE_OK;
}

SqliteFile::Copy::~Copy() {
  sqlite3_backup_finish(backup_);
}

bool SqliteFile::in_transaction() const noexcept {
  return sqlite3_get_autocommit(database_.get()) == 0;
}

Status SqliteFile::checkpoint_if_due(int pages) {
  if (pages_to_move_ < pages) {
    return Done{};
  }
  return checkpoint(SQLITE_CHECKPOINT_PASSIVE);
}

Status SqliteFile::empty_log() {
  return checkpoint(SQLITE_CHECKPOINT_TRUNCATE);
}

Status SqliteFile::checkpoint(int mode) {
  const int code = sqlite3_wal_checkpoint_v2(database_.get(), nullptr, mode, nullptr, nullptr);
  if (code == SQLITE_OK || code == SQLITE_BUSY || code == SQLITE_LOCKED ||
      lack_of_room(code, last_errno(database_.get(), database_itself))) {
    return Done{};
  }
  Error error = problem("cannot move what was committed into");
  error.code = Errc::corrupt;
  return error;
}

bool SqliteFile::lacks_room() const noexcept {
  return lack_of_room(sqlite3_extended_errcode(database_.get()),
                      last_errno(database_.get(), write_ahead_log));
}

Error SqliteFile::problem(const std::string& doing) const {
  const int code = sqlite3_extended_errcode(database_.get());
  const int base = code & 0xff;
  std::string message = doing + " " + path_ + ": " + sqlite3_errmsg(database_.get());
  int system = sqlite3_system_errno(database_.get());
  if (system == 0) {  // SQLite forgets the error when it rolls a transaction back itself; the files don't.
    system = last_errno(database_.get(), write_ahead_log);
  }
  if (system != 0 && (base == SQLITE_IOERR || base == SQLITE_CANTOPEN)) {
    message += std::string(" (") + std::strerror(system) + ")";
  }
  if (base == SQLITE_BUSY || base == SQLITE_LOCKED) {
    return Error{Errc::wrong_state, message + "; another process has it open"};
  }
  if (base == SQLITE_CORRUPT || base == SQLITE_NOTADB) {
    return Error{Errc::corrupt, std::move(message)};
  }
  return Error{Errc::unavailable, std::move(message)};
}

}  // namespace hpsearch::daemon
