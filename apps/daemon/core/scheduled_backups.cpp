#include "daemon/core/scheduled_backups.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "daemon/store/tools/closed_store.hpp"
#include "daemon/store/tools/last_backup.hpp"
#include "hpsearch/io/net/log.hpp"

namespace hpsearch::daemon {
namespace {

namespace fs = std::filesystem;
using engine::Done;
using engine::Duration;
using engine::Errc;
using engine::Error;
using engine::Instant;
using engine::Result;
using engine::Status;

constexpr std::chrono::seconds look_every{1};
constexpr Duration tried_again_after = Duration::seconds(3'600);
constexpr const char* staging_name = "/upload";  ///< Below `backups_directory`.

/// Checks the chain of a copy, and returns its last event.
Result<engine::Lsn> check_copy(const std::string& path, const std::atomic<bool>& stopped) {
  auto store = ClosedStore::open(path);
  if (!store) {
    return store.error();
  }
  const Status read = (*store)->read([&](const RecordView&, const engine::Event&) -> Status {
    return stopped ? Status(Error{Errc::unavailable, "the daemon is shutting down"}) : Status(Done{});
  });
  return read ? Result<engine::Lsn>((*store)->last_lsn()) : read.error();
}

}  // namespace

/// One backup, for the thread that writes it.
struct ScheduledBackups::Job {
  BackupPlan plan;
  BackupPlace::Settings place;
  std::string state_directory;
  std::string copy;  ///< The events, as Backups copied them.
  Instant begun;
  std::shared_ptr<std::atomic<bool>> stopped;

  /// Returns where the backup is.
  [[nodiscard]] Result<std::string> run() const {
    const auto backups = BackupPlace::of(place);
    if (!backups) {
      return backups.error();
    }
    if (const Status prepared = (*backups)->prepare(); !prepared) {
      return prepared.error();
    }
    std::optional<BackupKey> key;
    if (!plan.key_file.empty()) {
      auto read = BackupKey::in_file(plan.key_file);
      if (!read) {
        return read.error();
      }
      key = std::move(read).value();
    }
    const std::string name = backup_name(place.prefix, begun);
    auto drafted = NewBackup::begin((*backups)->path_of(name));
    if (!drafted) {
      return drafted.error();
    }
    NewBackup backup = std::move(drafted).value();
    {
      const auto store = ClosedStore::open(copy);
      const Status copied = store ? (*store)->copy_to(backup.events()) : Status(store.error());
      if (!copied) {
        return copied.error();
      }
    }
    const auto last = check_copy(backup.events(), *stopped);
    if (!last) {
      return last.error();
    }
    if (const Status finished = backup.finish(state_directory, key, *last, begun); !finished) {
      return finished.error();
    }
    auto taken = (*backups)->take(name);
    if (taken) {
      (*backups)->keep_newest(plan.keep);
    }
    return taken;
  }
};

ScheduledBackups::ScheduledBackups(Runtime& runtime, net::Loop& loop, Backups& backups,
                                   std::string state_directory, BackupPlan plan)
    : runtime_(runtime),
      backups_(backups),
      state_directory_(std::move(state_directory)),
      clock_(loop.every(look_every, [this] { begin_if_due(); })),
      disk_(loop, 1) {
  disk_.run([staging = state_directory_ + backups_directory + staging_name] {
    std::error_code ignored;
    fs::remove_all(staging, ignored);  // A killed daemon may have left a backup on its way.
    return [] {};
  });
  follow(std::move(plan));
}

void ScheduledBackups::follow(BackupPlan plan) {
  plan_ = std::move(plan);
  due_.reset();
  if (!plan_.to.empty()) {
    find_last();
  }
}

void ScheduledBackups::stop() noexcept {
  *stopped_ = true;
  clock_ = {};
}

BackupPlace::Settings ScheduledBackups::place() const {
  return {.to = plan_.to,
          .endpoint_url = plan_.endpoint_url,
          .prefix = backup_prefix(runtime_.cluster()),
          .staging = state_directory_ + backups_directory + staging_name,
          .stopped = stopped_};
}

void ScheduledBackups::find_last() {
  disk_.run([this, settings = place(), every = plan_.every] {
    const auto backups = BackupPlace::of(settings);
    const auto record = backups ? (*backups)->newest() : Result<std::optional<BackupRecord>>(backups.error());
    return [this, to = settings.to, every, record] {
      if (plan_.to == to && plan_.every == every) {
        found_last(record);
      }
    };
  });
}

void ScheduledBackups::found_last(const Result<std::optional<BackupRecord>>& record) {
  std::optional<Instant> made;
  if (record && *record) {
    made = Instant::from_micros((*record)->made_at);
    backups_.found_older(*made);
  } else if (!record) {
    // An object store may be out of reach just now: no reason for a backup before its time.
    made = backups_.last_good();
    net::log(net::Level::warning,
             "the last backup at " + plan_.to + " is unknown: " + record.error().message);
  }
  due_ = made ? *made + plan_.every : Instant();
}

void ScheduledBackups::begin_if_due() {
  if (busy_ || !due_ || runtime_.now() < *due_ || backups_.in_use()) {
    return;
  }
  busy_ = true;
  begun_ = runtime_.now();
  if (runtime_.storage().intake != Intake::everything) {
    end({}, Error{Errc::unavailable, runtime_.storage().why});
    return;
  }
  backups_.make([this](const Result<std::string>& copy) {
    if (*stopped_) {
      return;
    }
    if (copy) {
      write(*copy);
    } else {
      end({}, copy.error());
    }
  });
}

void ScheduledBackups::write(const std::string& copy) {
  disk_.run([this, job = Job{plan_, place(), state_directory_, copy, begun_, stopped_}] {
    const Result<std::string> outcome = job.run();
    return [this, copy = job.copy, outcome] { end(copy, outcome); };
  });
}

void ScheduledBackups::end(const std::optional<std::string>& copy, const Result<std::string>& outcome) {
  busy_ = false;
  if (copy) {
    const Status concluded =
        backups_.conclude(*copy, outcome ? Backups::Became::backup : Backups::Became::nothing);
    if (outcome && !concluded) {
      net::log(net::Level::warning,
               "the backup " + *outcome + " does not count: " + concluded.error().message);
    }
  }
  if (outcome) {
    net::log(net::Level::info, "the backup " + *outcome + " was made and checked");
  } else if (!*stopped_) {
    ++failures_;
    net::log(net::Level::error, "no backup was made: " + outcome.error().message);
  }
  due_ = begun_ + (outcome ? plan_.every : std::min(plan_.every, tried_again_after));
}

}  // namespace hpsearch::daemon
