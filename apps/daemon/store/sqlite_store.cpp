#include "daemon/store/sqlite_store.hpp"

#include <sqlite3.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "daemon/store/read_ahead.hpp"
#include "daemon/store/stored_record.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/json.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

// "hpse" in ASCII: `file` and other tools can tell whose database this is.
constexpr int application_id = 0x68707365;

/// migrations[n] takes the schema from version n to n+1. Only ever added to.
constexpr std::array<const char*, 2> migrations{R"sql(
  CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE event (
    lsn   INTEGER PRIMARY KEY,
    at    INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    type  TEXT NOT NULL,
    body  BLOB NOT NULL,
    chain INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE metric (
    experiment INTEGER NOT NULL,
    trial      INTEGER NOT NULL,
    attempt    INTEGER NOT NULL,
    seq        INTEGER NOT NULL,
    step       INTEGER NOT NULL,
    metrics    TEXT NOT NULL,
    PRIMARY KEY (experiment, trial, attempt, seq)
  ) STRICT, WITHOUT ROWID;
)sql",
                                                R"sql(
  CREATE TABLE trial_event (
    experiment INTEGER NOT NULL,
    trial      INTEGER NOT NULL,
    lsn        INTEGER NOT NULL,
    PRIMARY KEY (experiment, trial, lsn)
  ) STRICT, WITHOUT ROWID;
)sql"};

struct CloseDatabase {
  void operator()(sqlite3* database) const noexcept { sqlite3_close_v2(database); }
};
struct EndStatement {
  void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, EndStatement>;

std::int64_t signed_of(std::uint64_t number) noexcept {
  return static_cast<std::int64_t>(number);  // Modular: 64 bits in, the same 64 bits out.
}
std::uint64_t unsigned_at(sqlite3_stmt* row, int column) noexcept {
  return static_cast<std::uint64_t>(sqlite3_column_int64(row, column));
}

/// A prepared statement is reset when its use is over, however it ends.
class Use {
 public:
  explicit Use(const Statement& statement) : statement_(statement.get()) {}
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  ~Use() {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }

  void bind(int place, std::uint64_t number) { sqlite3_bind_int64(statement_, place, signed_of(number)); }
  void bind_text(int place, const std::string& text) {
    sqlite3_bind_text64(statement_, place, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
  }
  void bind_bytes(int place, const proto::Bytes& bytes) {
    sqlite3_bind_blob64(statement_, place, bytes.data(), bytes.size(), SQLITE_STATIC);
  }
  [[nodiscard]] int step() { return sqlite3_step(statement_); }
  [[nodiscard]] sqlite3_stmt* row() const noexcept { return statement_; }

 private:
  sqlite3_stmt* statement_;
};

engine::Value to_value(const engine::Metrics& metrics) {
  engine::Value::Map map;
  for (const auto& [name, number] : metrics) {
    map[name] = number;
  }
  return map;
}

/// Metrics are written by compact_json; a number in there reads back as the same double.
std::optional<engine::Metrics> metrics_of(const std::string& text) {
  const auto value = proto::parse_json(text);
  if (!value || value->as_map() == nullptr) {
    return std::nullopt;
  }
  engine::Metrics metrics;
  for (const auto& [name, number] : *value->as_map()) {
    if (!number.is_number()) {
      return std::nullopt;
    }
    metrics.emplace_back(name, number.number_or(0));
  }
  return metrics;
}

std::uint64_t random_number() {
  std::uint64_t number = 0;
  while (number == 0) {
    HPSEARCH_CHECK(::getrandom(&number, sizeof number, 0) == sizeof number,
                   "the kernel always has random bytes");
  }
  return number;
}

}  // namespace

struct SqliteStore::Impl {
  std::string path;
  Database database;
  Statement begin;
  Statement commit;
  Statement add_event;
  Statement add_metric;
  Statement add_to_history;
  Statement set_head;
  Statement read_all;
  Statement read_after;
  Statement read_metrics;
  Statement read_history;
  std::uint64_t cluster = 0;
  std::uint64_t epoch = 0;
  engine::Lsn last;
  std::uint32_t chain = 0;
  bool recovered = false;
  std::optional<Error> broken;  ///< The failed append; SQLite might let the next one through, we do not.

  [[nodiscard]] Error problem(const std::string& doing) const {
    const int code = sqlite3_extended_errcode(database.get());
    const int base = code & 0xff;
    std::string message = doing + " " + path + ": " + sqlite3_errmsg(database.get());
    const int system = sqlite3_system_errno(database.get());
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

  [[nodiscard]] Status run(const std::string& sql, const std::string& doing) {
    if (sqlite3_exec(database.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
      return problem(doing);
    }
    return Done{};
  }

  [[nodiscard]] Result<Statement> prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v3(database.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) !=
        SQLITE_OK) {
      return problem("cannot read");
    }
    return Statement(statement);
  }

  [[nodiscard]] Result<std::uint64_t> number(const char* sql) {
    auto statement = prepare(sql);
    if (!statement) {
      return statement.error();
    }
    Use use(*statement);
    const int code = use.step();
    if (code != SQLITE_ROW) {
      return code == SQLITE_DONE ? Error{Errc::corrupt, path + " lacks a part of its own description"}
                                 : problem("cannot read");
    }
    return unsigned_at(use.row(), 0);
  }

  Status configure() {
    // Exclusive before anything is read: the lock then lasts until the file is closed, and WAL needs no
    // shared memory. FULL: a commit is on the disk when it returns.
    for (const char* pragma :
         {"PRAGMA locking_mode=EXCLUSIVE", "PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL",
          "PRAGMA cell_size_check=ON", "PRAGMA trusted_schema=OFF", "PRAGMA mmap_size=0"}) {
      if (auto done = run(pragma, "cannot open"); !done) {
        return done;
      }
    }
    return Done{};
  }

  Status migrate() {
    const auto version = number("PRAGMA user_version");
    const auto owner = number("PRAGMA application_id");
    const auto tables = number("SELECT count(*) FROM sqlite_schema");
    for (const auto* asked : {&version, &owner, &tables}) {
      if (!*asked) {
        return asked->error();
      }
    }
    const bool fresh = *version == 0 && *tables == 0;
    if (!fresh && *owner != static_cast<std::uint64_t>(application_id)) {
      return Error{Errc::corrupt, path + " is a database of another program"};
    }
    if (*version > migrations.size()) {
      return Error{Errc::version_mismatch, path + " was written by a newer version (its schema is " +
                                               std::to_string(*version) + ", this one reads up to " +
                                               std::to_string(migrations.size()) + ")"};
    }
    if (*version == migrations.size()) {
      return Done{};
    }
    std::string script = "BEGIN IMMEDIATE;";
    for (std::size_t next = *version; next < migrations.size(); ++next) {
      script += migrations[next];
    }
    if (fresh) {
      const auto identity = std::to_string(signed_of(random_number()));
      script +=
          "INSERT INTO meta VALUES ('cluster', " + identity + "), ('daemon_epoch', 0), ('last_lsn', 0);";
    }
    script += "PRAGMA application_id=" + std::to_string(application_id) + ";";
    script += "PRAGMA user_version=" + std::to_string(migrations.size()) + ";COMMIT;";
    return run(script, "cannot prepare");
  }

  Status begin_epoch() {
    if (auto done = run("UPDATE meta SET value = value + 1 WHERE name = 'daemon_epoch'", "cannot write to");
        !done) {
      return done;
    }
    const auto identity = number("SELECT value FROM meta WHERE name = 'cluster'");
    const auto counted = number("SELECT value FROM meta WHERE name = 'daemon_epoch'");
    if (!identity || !counted) {
      return identity ? counted.error() : identity.error();
    }
    cluster = *identity;
    epoch = *counted;
    chain = chain_start(cluster);
    return Done{};
  }

  Status prepare_all() {
    const std::pair<Statement*, const char*> wanted[] = {
        {&begin, "BEGIN IMMEDIATE"},
        {&commit, "COMMIT"},
        {&add_event, "INSERT INTO event (lsn, at, epoch, type, body, chain) VALUES (?, ?, ?, ?, ?, ?)"},
        {&add_metric,
         "INSERT INTO metric (experiment, trial, attempt, seq, step, metrics) VALUES (?, ?, ?, ?, ?, ?)"},
        {&add_to_history, "INSERT INTO trial_event (experiment, trial, lsn) VALUES (?, ?, ?)"},
        {&set_head, "UPDATE meta SET value = ? WHERE name = 'last_lsn'"},
        {&read_all, "SELECT lsn, at, epoch, type, body, chain FROM event WHERE lsn > ? ORDER BY lsn"},
        {&read_after,
         "SELECT lsn, at, epoch, type, body, chain FROM event WHERE lsn > ? ORDER BY lsn LIMIT ?"},
        {&read_history,
         "SELECT event.lsn, at, epoch, type, body, chain FROM trial_event JOIN event USING (lsn) WHERE "
         "trial_event.experiment = ? AND trial_event.trial = ? ORDER BY trial_event.lsn"},
        {&read_metrics,
         "SELECT attempt, seq, step, metrics FROM metric WHERE experiment = ? AND trial = ? ORDER BY "
         "attempt, seq"},
    };
    for (const auto& [place, sql] : wanted) {
      auto statement = prepare(sql);
      if (!statement) {
        return statement.error();
      }
      *place = std::move(statement).value();
    }
    return Done{};
  }

  /// The row's own memory, until the next step.
  static RecordView record_at(sqlite3_stmt* row) {
    RecordView record;
    record.lsn = engine::Lsn(unsigned_at(row, 0));
    record.at = engine::Instant::from_micros(sqlite3_column_int64(row, 1));
    record.epoch = unsigned_at(row, 2);
    const auto* type = static_cast<const char*>(sqlite3_column_blob(row, 3));
    record.type = {type, static_cast<std::size_t>(sqlite3_column_bytes(row, 3))};
    const auto* body = static_cast<const std::byte*>(sqlite3_column_blob(row, 4));
    record.body = {body, static_cast<std::size_t>(sqlite3_column_bytes(row, 4))};
    record.chain = static_cast<std::uint32_t>(sqlite3_column_int64(row, 5));
    return record;
  }

  /// Adds rows that follow `last` and chain to it, and ends the batch where there are no more.
  void fill(RecordBatch& batch, Use& rows) {
    while (!batch.full()) {
      const int code = rows.step();
      if (code != SQLITE_ROW) {
        batch.end(code == SQLITE_DONE
                      ? Status(Done{})
                      : problem("after event " + std::to_string(last.number()) + ": cannot read"));
        return;
      }
      const RecordView record = record_at(rows.row());
      if (const Status checked = check_record(record, last, chain); !checked) {
        batch.end(Error{checked.error().code, path + ": " + checked.error().message});
        return;
      }
      batch.add(record);
      last = record.lsn;
      chain = record.chain;
    }
  }

  /// The events of rows that record_at() reads.
  Result<std::vector<engine::Event>> events_in(Use& rows) {
    std::vector<engine::Event> events;
    proto::EventDecoder decoder;
    int code = rows.step();
    for (; code == SQLITE_ROW; code = rows.step()) {
      if (const auto decoded = decode_record(record_at(rows.row()), decoder, events.emplace_back()); !decoded) {
        return decoded.error();
      }
    }
    if (code != SQLITE_DONE) {
      return problem("cannot read");
    }
    return events;
  }

  Status add(const engine::Event& event, std::uint32_t& chain_now) {
    const StoredRecord record = make_record(event, epoch, chain_now);
    Use row(add_event);
    row.bind(1, record.lsn.number());
    row.bind(2, static_cast<std::uint64_t>(record.at.micros()));
    row.bind(3, record.epoch);
    row.bind_text(4, record.type);
    row.bind_bytes(5, record.body);
    row.bind(6, record.chain);
    if (row.step() != SQLITE_DONE) {
      return problem("cannot store events in");
    }
    chain_now = record.chain;
    if (const std::optional<TrialPlace> place = history_of(event)) {
      Use mark(add_to_history);
      mark.bind(1, place->experiment.number());
      mark.bind(2, place->trial.number());
      mark.bind(3, event.lsn.number());
      if (mark.step() != SQLITE_DONE) {
        return problem("cannot store events in");
      }
    }
    const engine::MetricsReport* report = metrics_in(event);
    if (report == nullptr) {
      return Done{};
    }
    const auto& taken = *std::get_if<engine::ReportTaken>(&event.body);
    const std::string json = engine::compact_json(to_value(report->metrics));
    Use point(add_metric);
    point.bind(1, taken.key.experiment.number());
    point.bind(2, taken.key.trial.number());
    point.bind(3, taken.key.attempt.number());
    point.bind(4, taken.seq);
    point.bind(5, engine::count(report->step));
    point.bind_text(6, json);
    if (point.step() != SQLITE_DONE) {
      return problem("cannot store metrics in");
    }
    return Done{};
  }

  Status add_group(std::span<const engine::Event> group, std::uint32_t& chain_now) {
    if (Use(begin).step() != SQLITE_DONE) {
      return problem("cannot store events in");
    }
    for (const engine::Event& event : group) {
      if (auto added = add(event, chain_now); !added) {
        return added;
      }
    }
    {
      Use head(set_head);
      head.bind(1, group.back().lsn.number());
      if (head.step() != SQLITE_DONE) {
        return problem("cannot store events in");
      }
    }
    if (Use(commit).step() != SQLITE_DONE) {
      return problem("cannot store events in");
    }
    return Done{};
  }
};

SqliteStore::SqliteStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {
}
SqliteStore::~SqliteStore() = default;

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const std::string& path) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  sqlite3* database = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int opened = sqlite3_open_v2(path.c_str(), &database, flags, nullptr);
  impl->database.reset(database);
  if (opened != SQLITE_OK) {
    return database == nullptr ? Error{Errc::unavailable, "cannot open " + path + ": out of memory"}
                               : impl->problem("cannot open");
  }
  for (const auto step : {&Impl::configure, &Impl::migrate, &Impl::begin_epoch, &Impl::prepare_all}) {
    if (auto done = ((*impl).*step)(); !done) {
      return done.error();
    }
  }
  return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(impl)));
}

std::uint64_t SqliteStore::cluster() const noexcept {
  return impl_->cluster;
}

std::uint64_t SqliteStore::daemon_epoch() const noexcept {
  return impl_->epoch;
}

Result<std::uint32_t> SqliteStore::chain_at(engine::Lsn lsn) {
  if (lsn == engine::Lsn{}) {
    return chain_start(impl_->cluster);
  }
  Use rows(impl_->read_after);
  rows.bind(1, lsn.number() - 1);
  rows.bind(2, 1);
  const int code = rows.step();
  if (code != SQLITE_ROW && code != SQLITE_DONE) {
    return impl_->problem("cannot read");
  }
  const RecordView record = code == SQLITE_ROW ? Impl::record_at(rows.row()) : RecordView{};
  if (record.lsn != lsn) {
    return Error{Errc::not_found, impl_->path + " has no event " + std::to_string(lsn.number())};
  }
  return record.chain;
}

Status SqliteStore::recover(engine::Lsn after, const Visit& visit) {
  Impl& impl = *impl_;
  HPSEARCH_CHECK(!impl.recovered, "recovery happens once");
  const auto head = impl.number("SELECT value FROM meta WHERE name = 'last_lsn'");
  if (!head) {
    return head.error();
  }
  const auto known = chain_at(after);
  if (!known) {
    return known.error();
  }
  impl.last = after;
  impl.chain = *known;
  {
    Use rows(impl.read_all);
    rows.bind(1, after.number());
    ReadAhead ahead(impl.path, [&](RecordBatch& batch) { impl.fill(batch, rows); });
    if (auto handed_out = ahead.hand_out(visit); !handed_out) {
      return handed_out;
    }
  }
  if (impl.last.number() != *head) {
    return Error{Errc::corrupt, impl.path + ": the log ends with event " +
                                    std::to_string(impl.last.number()) + ", but event " +
                                    std::to_string(*head) + " was stored"};
  }
  impl.recovered = true;
  return Done{};
}

Status SqliteStore::append(std::span<const engine::Event> group) {
  Impl& impl = *impl_;
  HPSEARCH_CHECK(impl.recovered, "nothing is appended before recovery");
  if (impl.broken) {
    return *impl.broken;
  }
  if (group.empty()) {
    return Done{};
  }
  for (std::size_t i = 0; i < group.size(); ++i) {
    HPSEARCH_CHECK(group[i].lsn.number() == impl.last.number() + 1 + i, "events are appended without gaps");
  }
  std::uint32_t chain = impl.chain;
  if (auto added = impl.add_group(group, chain); !added) {
    impl.broken = added.error();
    // Whatever a failed write left behind is in doubt: it is given up, and so is this store.
    sqlite3_exec(impl.database.get(), "ROLLBACK", nullptr, nullptr, nullptr);
    return added;
  }
  impl.chain = chain;
  impl.last = group.back().lsn;
  return Done{};
}

engine::Lsn SqliteStore::last_lsn() const noexcept {
  return impl_->last;
}

Result<std::vector<engine::Event>> SqliteStore::read(engine::Lsn after, std::size_t limit) {
  Use rows(impl_->read_after);
  rows.bind(1, after.number());
  rows.bind(2, limit);
  return impl_->events_in(rows);
}

Result<std::vector<engine::Event>> SqliteStore::history(engine::ExperimentId experiment, engine::TrialNumber trial) {
  Use rows(impl_->read_history);
  rows.bind(1, experiment.number());
  rows.bind(2, trial.number());
  return impl_->events_in(rows);
}

Result<std::vector<MetricPoint>> SqliteStore::metrics(engine::ExperimentId experiment,
                                                      engine::TrialNumber trial) {
  std::vector<MetricPoint> points;
  Use rows(impl_->read_metrics);
  rows.bind(1, experiment.number());
  rows.bind(2, trial.number());
  int code = rows.step();
  for (; code == SQLITE_ROW; code = rows.step()) {
    const auto* text = sqlite3_column_text(rows.row(), 3);
    auto metrics = metrics_of(std::string(text, text + sqlite3_column_bytes(rows.row(), 3)));
    if (!metrics) {
      return Error{Errc::corrupt, impl_->path + ": a metrics report of trial " +
                                      std::to_string(trial.number()) + " of experiment " +
                                      std::to_string(experiment.number()) + " is damaged"};
    }
    points.push_back({engine::AttemptNumber(unsigned_at(rows.row(), 0)), unsigned_at(rows.row(), 1),
                      engine::Units(unsigned_at(rows.row(), 2)), std::move(*metrics)});
  }
  if (code != SQLITE_DONE) {
    return impl_->problem("cannot read");
  }
  return points;
}

}  // namespace hpsearch::daemon
