#include "daemon/store/sqlite_store.hpp"

#include <optional>

#include "daemon/store/event_group.hpp"
#include "daemon/store/files/placed_files.hpp"
#include "daemon/store/log_writer.hpp"
#include "daemon/store/metrics_text.hpp"
#include "daemon/store/read_ahead.hpp"
#include "daemon/store/sqlite_file.hpp"
#include "daemon/store/sqlite_schema.hpp"
#include "daemon/store/tools/store_seal.hpp"
#include "daemon/store/tools/whole_store.hpp"
#include "daemon/store/tools/write_ahead_log.hpp"
#include "daemon/store/written_log.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

constexpr const char* head_query = "SELECT value FROM meta WHERE name = 'last_lsn'";

engine::Instant instant_at(const Use& rows, int column) {
  return engine::Instant::from_micros(static_cast<std::int64_t>(rows.number_at(column)));
}

}  // namespace

struct SqliteStore::Impl : WrittenLog {
  StoreLock lock;  // Declared before the file, which must be closed first: see StoreLock.
  SqliteFile file;
  LogWriter writer;
  Statement begin;
  Statement commit;
  Statement read_after;
  Statement read_metrics;
  Statement read_curves;
  Statement read_history;
  std::uint64_t cluster = 0;
  std::uint64_t epoch = 0;
  engine::Lsn head;  // The last event as the meta table has it, until the log was read.
  FileSystem* files = nullptr;
  int pages_per_checkpoint = 0;
  std::optional<StoreSeal> seal;
  std::optional<PlacedFiles> placed;

  Status configure() {
    // Exclusive before anything is read: the lock then lasts until the file is closed, and WAL needs no
    // shared memory. FULL: a commit is on the disk when it returns.
    for (const char* pragma :
         {"PRAGMA locking_mode=EXCLUSIVE", "PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL",
          "PRAGMA cell_size_check=ON", "PRAGMA trusted_schema=OFF", "PRAGMA mmap_size=0"}) {
      if (auto done = file.run(pragma, "cannot open"); !done) {
        return done;
      }
    }
    if (auto prepared = prepare_schema(file); !prepared) {
      return prepared;
    }
    // A failed sync of the database, too, may have left pages in the kernel's memory that no later sync
    // writes to the disk: moving them from the log again writes them.
    if (auto emptied = file.empty_log(); !emptied) {
      return emptied;
    }
    const std::size_t slash = file.path().rfind('/');
    return files->sync_directory(slash == std::string::npos ? "." : file.path().substr(0, slash + 1));
  }

  Status begin_epoch() {
    // Written before the store records a start: a store that has a start must have a seal.
    const auto stored = file.number("SELECT value FROM meta WHERE name = 'last_lsn'");
    const auto before = file.number("SELECT value FROM meta WHERE name = 'daemon_epoch'");
    const auto identity = file.number("SELECT value FROM meta WHERE name = 'cluster'");
    for (const auto* number : {&stored, &before, &identity}) {
      if (!*number) {
        return number->error();
      }
    }
    head = engine::Lsn(*stored);
    auto begun = StoreSeal::begin(*files, file.path(), {*identity, *before, head});
    if (!begun) {
      return begun.error();
    }
    seal = std::move(begun).value();
    if (auto done =
            file.run("UPDATE meta SET value = value + 1 WHERE name = 'daemon_epoch'", "cannot write to");
        !done) {
      return done;
    }
    cluster = *identity;
    epoch = *before + 1;
    chain = chain_start(cluster);
    seal->note({cluster, epoch, head});
    // A database that was copied without its log must not look like one that never had a start.
    return *before == 0 ? file.empty_log() : Status(Done{});
  }

  /// From here on SQLite has both files open.
  Status note_place() {
    if (auto named = add_second_names(*files, file.path()); !named) {
      return named;
    }
    auto now = PlacedFiles::now(*files, file.path());
    if (!now) {
      return now.error();
    }
    if (!lock.is_on(*files->identity(file.path()))) {
      return Error{Errc::wrong_state, file.path() + " was replaced while it was opened; start again"};
    }
    placed = std::move(now).value();
    return Done{};
  }

  /// Only a clean end moves everything out of the log, also under its second name, and lets SQLite remove it.
  /// After any other end the files stay unchanged: their content is unknown, or other files have their names.
  [[nodiscard]] bool end() {
    return placed && !broken && placed->check() && file.empty_log() &&
           seal->note_durably({cluster, epoch, recovered ? last : head, true});
  }

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (end()) {
      file.at_close(SqliteFile::AtClose::tidy_up);
    }
  }

  Status prepare_all() {
    const std::pair<Statement*, const char*> wanted[] = {
        {&begin, "BEGIN IMMEDIATE"},
        {&commit, "COMMIT"},
        {&read_after,
         "SELECT first, count, epoch, events FROM event_group WHERE first >= "
         "coalesce((SELECT max(first) FROM event_group WHERE first <= ?), 0) ORDER BY first"},
        {&read_history,
         "SELECT first, count, epoch, events, lsn FROM trial_event JOIN event_group ON first = "
         "(SELECT max(first) FROM event_group WHERE first <= lsn) WHERE experiment = ? AND trial = ? ORDER "
         "BY lsn"},
        {&read_metrics,
         "SELECT attempt, seq, step, metrics, at FROM metric WHERE experiment = ? AND trial = ? AND "
         "(attempt, "
         "seq) > "
         "(?, ?) ORDER BY attempt, seq"},
        {&read_curves,
         "SELECT trial, attempt, seq, step, at, metrics FROM metric WHERE experiment = ? AND (trial, "
         "attempt, "
         "seq) > (?, ?, ?) AND trial <= ? ORDER BY trial, attempt, seq"},
    };
    for (const auto& [place, sql] : wanted) {
      auto statement = file.prepare(sql);
      if (!statement) {
        return statement.error();
      }
      *place = std::move(statement).value();
    }
    return writer.open(file, epoch);
  }

  /// The content of the first four columns; SQLite's own memory, valid until the next step.
  static EventGroup group_at(const Use& rows) {
    return {engine::Lsn(rows.number_at(0)), rows.number_at(1), rows.number_at(2), rows.bytes_at(3)};
  }

  /// Adds rows that follow `last` and chain to it, and ends the batch at the last one.
  void fill(RecordBatch& batch, Use& rows) {
    while (!batch.full() && !batch.end()) {
      const Use::Step came_to = rows.step();
      if (came_to != Use::Step::row) {
        batch.end(came_to == Use::Step::done
                      ? Status(Done{})
                      : file.problem("after event " + std::to_string(last.number()) + ": cannot read"));
        return;
      }
      const EventGroup group = group_at(rows);
      EventGroup sound;
      const Status checked = check_group(group, last, chain, sound);
      batch.add(sound);
      if (!checked) {
        batch.end(Error{checked.error().code, file.path() + ": " + checked.error().message});
      }
    }
  }

  /// Decodes the event of a record in the log into `events`.
  static Status take(const RecordView& record, proto::EventDecoder& decoder,
                     std::vector<engine::Event>& events) {
    return decode_record(record, decoder, events.emplace_back());
  }

  /// After a failed write the content of the file is unknown, and a kernel may call a page clean that it
  /// could not write: a retry would not notice. The store fails; a new start reads and checks what is really
  /// there.
  Error give_up(Error error) {
    error.code = Errc::corrupt;
    broken = error;
    return error;
  }

  Status add_all(std::span<const engine::Event> group, std::uint32_t& chain_now) {
    if (Use(begin).step() != Use::Step::done) {
      return file.problem("cannot store events in");
    }
    for (const engine::Event& event : group) {
      const StoredRecord record = make_record(event, epoch, chain_now);
      chain_now = record.chain;
      if (auto added = writer.add(record.view(), event); !added) {
        return added;
      }
    }
    if (auto finished = writer.finish(); !finished) {
      return finished;
    }
    if (Use(commit).step() != Use::Step::done) {
      return file.problem("cannot store events in");
    }
    return Done{};
  }
};

SqliteStore::SqliteStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {
}
SqliteStore::~SqliteStore() = default;

Status SqliteStore::check_ours() const {
  return impl_->placed->check();
}

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const std::string& path, const StorePlace& place,
                                                       std::optional<StoreLock> lock) {
  auto impl = std::make_unique<Impl>();
  if (auto there = check_not_missing(place.files, path); !there) {
    return there.error();
  }
  if (lock) {
    impl->lock = *std::move(lock);
  } else if (auto taken = place.files.lock_store(path)) {
    impl->lock = std::move(taken).value();
  } else {
    return taken.error();
  }
  impl->files = &place.files;
  impl->pages_per_checkpoint = place.pages_per_checkpoint;
  // SQLite would end the log where it is damaged, and remove what follows.
  for (const auto check : {check_log_of, check_whole}) {
    if (auto checked = check(place.files, path); !checked) {
      return checked.error();
    }
  }
  if (auto renewed = renew_log_of(place.files, path); !renewed) {
    return renewed.error();
  }
  if (auto opened = impl->file.open(path, place.files.sqlite_name()); !opened) {
    return opened.error();
  }
  impl->file.at_close(SqliteFile::AtClose::leave);
  for (const auto step : {&Impl::configure, &Impl::begin_epoch, &Impl::note_place, &Impl::prepare_all}) {
    if (auto done = ((*impl).*step)(); !done) {
      return done.error();
    }
  }
  return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(impl)));
}

Result<SqliteFile::Copy> SqliteStore::copy_to(SqliteFile& to) {
  return impl_->file.copy_to(to);
}

std::uint64_t SqliteStore::cluster() const noexcept {
  return impl_->cluster;
}

std::uint64_t SqliteStore::daemon_epoch() const noexcept {
  return impl_->epoch;
}

Status SqliteStore::recover(const Visit& visit) {
  Impl& impl = *impl_;
  impl.check_before_recovery();
  const auto head = impl.file.number(head_query);
  if (!head) {
    return head.error();
  }
  impl.chain = chain_start(impl.cluster);
  {
    Use rows(impl.read_after);
    rows.bind(1, std::uint64_t{1});
    ReadAhead ahead(impl.file.path(), [&](RecordBatch& batch) { impl.fill(batch, rows); });
    if (auto handed_out = ahead.hand_out(visit); !handed_out) {
      return handed_out;
    }
  }
  if (impl.last.number() != *head) {
    return impl.other_end(impl.file.path(), engine::Lsn(*head));
  }
  impl.recovered = true;
  return Done{};
}

Status SqliteStore::append(std::span<const engine::Event> group) {
  Impl& impl = *impl_;
  if (auto may = impl.check_before_append(group); !may || group.empty()) {
    return may;
  }
  std::uint32_t chain = impl.chain;
  if (auto added = impl.add_all(group, chain); !added) {
    const bool only_room = impl.file.lacks_room();
    impl.file.roll_back();
    impl.writer.forget();
    if (only_room && !impl.file.in_transaction()) {
      return Error{Errc::unavailable, added.error().message};
    }
    return impl.give_up(added.error());
  }
  // Commits to files that no start will find must not be acknowledged.
  if (auto in_place = impl.placed->check(); !in_place) {
    return impl.give_up(in_place.error());
  }
  impl.chain = chain;
  impl.last = group.back().lsn;
  impl.seal->note({impl.cluster, impl.epoch, impl.last});
  if (auto moved = impl.file.checkpoint_if_due(impl.pages_per_checkpoint); !moved) {
    return impl.give_up(moved.error());
  }
  return Done{};
}

engine::Lsn SqliteStore::last_lsn() const noexcept {
  return impl_->last;
}

engine::Lsn SqliteStore::stored_lsn() const {
  const auto stored = impl_->file.number(head_query);
  return engine::Lsn(stored ? *stored : 0);
}

Result<std::vector<engine::Event>> SqliteStore::read(engine::Lsn after, std::size_t limit) {
  std::vector<engine::Event> events;
  if (after >= last_lsn()) {
    return events;  // Also if the next number is not one of SQLite's.
  }
  proto::EventDecoder decoder;
  Use rows(impl_->read_after);
  rows.bind(1, after.number() + 1);
  Use::Step came_to = Use::Step::row;
  while (events.size() < limit && (came_to = rows.step()) == Use::Step::row) {
    GroupReader reader(Impl::group_at(rows));
    for (auto record = reader.next(); record && events.size() < limit; record = reader.next()) {
      if (record->lsn > after) {
        if (const auto taken = Impl::take(*record, decoder, events); !taken) {
          return taken.error();
        }
      }
    }
  }
  return came_to == Use::Step::failed ? impl_->file.problem("cannot read") : Result(std::move(events));
}

Result<std::vector<engine::Event>> SqliteStore::history(engine::ExperimentId experiment,
                                                        engine::TrialNumber trial) {
  std::vector<engine::Event> events;
  proto::EventDecoder decoder;
  Use rows(impl_->read_history);
  rows.bind(1, experiment.number());
  rows.bind(2, trial.number());
  Use::Step came_to = rows.step();
  for (; came_to == Use::Step::row; came_to = rows.step()) {
    const engine::Lsn wanted(rows.number_at(4));
    GroupReader reader(Impl::group_at(rows));
    std::optional<RecordView> record = reader.next();
    while (record && record->lsn < wanted) {
      record = reader.next();
    }
    if (!record) {
      return damaged(wanted, "is missing");
    }
    if (const auto taken = Impl::take(*record, decoder, events); !taken) {
      return taken.error();
    }
  }
  return came_to == Use::Step::done ? Result(std::move(events)) : impl_->file.problem("cannot read");
}

Result<std::vector<MetricPoint>> SqliteStore::metrics(engine::ExperimentId experiment,
                                                      engine::TrialNumber trial, MetricPosition after,
                                                      std::size_t enough_numbers) {
  std::vector<MetricPoint> points;
  Use rows(impl_->read_metrics);
  rows.bind(1, experiment.number());
  rows.bind(2, trial.number());
  rows.bind(3, after.attempt.number());
  rows.bind(4, after.seq);
  std::size_t numbers = 0;
  Use::Step came_to = rows.step();
  for (; came_to == Use::Step::row && numbers < enough_numbers; came_to = rows.step()) {
    auto metrics = metrics_of(std::string(rows.text_at(3)));
    if (!metrics) {
      return Error{Errc::corrupt, impl_->file.path() + ": a metrics report of trial " +
                                      std::to_string(trial.number()) + " of experiment " +
                                      std::to_string(experiment.number()) + " is damaged"};
    }
    numbers += metrics->size();
    points.push_back({engine::AttemptNumber(rows.number_at(0)), rows.number_at(1),
                      engine::Units(rows.number_at(2)), std::move(*metrics), instant_at(rows, 4)});
  }
  if (came_to == Use::Step::failed) {
    return impl_->file.problem("cannot read");
  }
  return points;
}

Result<CurvePage> SqliteStore::curves(engine::ExperimentId experiment, const std::string& metric,
                                      CurvePosition after, engine::TrialNumber last,
                                      std::size_t most_reports) {
  CurvePage page;
  const std::string key = metric_key(metric);
  Use rows(impl_->read_curves);
  rows.bind(1, experiment.number());
  rows.bind(2, after.trial.number());
  rows.bind(3, after.report.attempt.number());
  rows.bind(4, after.report.seq);
  rows.bind(5, last.number());
  std::size_t looked_at = 0;
  Use::Step came_to = rows.step();
  for (; came_to == Use::Step::row; came_to = rows.step()) {
    const engine::TrialNumber trial(rows.number_at(0));
    const engine::AttemptNumber attempt(rows.number_at(1));
    if (const std::optional<double> value = number_in(rows.text_at(5), key)) {
      page.points.push_back({trial, attempt, engine::Units(rows.number_at(3)), instant_at(rows, 4), *value});
    }
    if (++looked_at == most_reports) {
      page.next = CurvePosition{trial, {attempt, rows.number_at(2)}};
      return page;
    }
  }
  if (came_to == Use::Step::failed) {
    return impl_->file.problem("cannot read");
  }
  return page;
}

}  // namespace hpsearch::daemon
