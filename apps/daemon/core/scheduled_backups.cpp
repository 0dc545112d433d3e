#include "daemon/core/scheduled_backups.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "daemon/backup/backup_set.hpp"
#include "daemon/store/files/file_system.hpp"
#include "daemon/store/tools/closed_store.hpp"
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
constexpr std::string_view removed_ending = ".removed";
constexpr std::string_view unfinished_ending = ".unfinished";

/// "hpsearch-0123456789abcdef-": so backups of several stores can be in one directory.
std::string prefix_of(std::uint64_t store) {
  std::array<char, 32> text{};
  static_cast<void>(
      std::snprintf(text.data(), text.size(), "hpsearch-%016llx-", static_cast<unsigned long long>(store)));
  return text.data();
}

/// "20310504T113000Z": names in their order are in the order of time.
std::string time_in_name(Instant at) {
  const std::time_t seconds = at.micros() / 1'000'000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  static_cast<void>(std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &parts));
  return text.data();
}

bool is_time_in_name(std::string_view text) {
  constexpr std::string_view form = "00000000T000000Z";
  return std::equal(text.begin(), text.end(), form.begin(), form.end(), [](char found, char wanted) {
    return wanted == '0' ? found >= '0' && found <= '9' : found == wanted;
  });
}

/// Names of whole backups of the store, oldest first.
std::vector<std::string> backups_in(const std::string& directory, const std::string& prefix) {
  std::vector<std::string> names;
  for (const std::string& name : kernel_files().names_in(directory)) {
    if (!name.starts_with(prefix) || !is_time_in_name(std::string_view(name).substr(prefix.size()))) {
      continue;
    }
    if (const auto record = read_backup_record(directory + "/" + name); record && *record) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Removes what interrupted backups and removals have left.
void remove_remains(const std::string& directory, const std::string& prefix) {
  for (const std::string& name : kernel_files().names_in(directory)) {
    if (!name.starts_with(prefix) || !(name.ends_with(removed_ending) || name.ends_with(unfinished_ending))) {
      continue;
    }
    std::error_code failed;
    fs::remove_all(directory + "/" + name, failed);
    if (failed) {
      net::log(net::Level::warning, "cannot remove " + directory + "/" + name + ": " + failed.message());
    }
  }
}

/// Renames before it removes: what an interruption leaves is no backup any more.
void remove_older(const std::string& directory, const std::string& prefix, std::uint64_t keep) {
  std::vector<std::string> names = backups_in(directory, prefix);
  names.resize(names.size() - std::min<std::size_t>(names.size(), keep));
  for (const std::string& name : names) {
    const std::string path = directory + "/" + name;
    if (const Status renamed = kernel_files().rename(path, path + std::string(removed_ending)); !renamed) {
      net::log(net::Level::warning, "an old backup stays: " + renamed.error().message);
    }
  }
  remove_remains(directory, prefix);
}

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
  std::string state_directory;
  std::string prefix;
  std::string copy;  ///< The events, as Backups copied them.
  Instant begun;
  std::shared_ptr<std::atomic<bool>> stopped;

  /// Returns the path of the backup.
  [[nodiscard]] Result<std::string> run() const {
    std::error_code unknown;
    if (!fs::is_directory(plan.to, unknown)) {
      return Error{Errc::unavailable, plan.to + " is not a directory; make it, or mount its file system"};
    }
    std::optional<BackupKey> key;
    if (!plan.key_file.empty()) {
      auto read = BackupKey::in_file(plan.key_file);
      if (!read) {
        return read.error();
      }
      key = std::move(read).value();
    }
    remove_remains(plan.to, prefix);
    const std::string path = plan.to + "/" + prefix + time_in_name(begun);
    auto drafted = NewBackup::begin(path);
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
    remove_older(plan.to, prefix, plan.keep);
    return path;
  }
};

ScheduledBackups::ScheduledBackups(Runtime& runtime, net::Loop& loop, Backups& backups,
                                   std::string state_directory, BackupPlan plan)
    : runtime_(runtime),
      backups_(backups),
      state_directory_(std::move(state_directory)),
      clock_(loop.every(look_every, [this] { begin_if_due(); })),
      disk_(loop, 1) {
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

void ScheduledBackups::find_last() {
  disk_.run([this, to = plan_.to, every = plan_.every, prefix = prefix_of(runtime_.cluster())] {
    const std::vector<std::string> names = backups_in(to, prefix);
    const auto record = names.empty() ? Result<std::optional<BackupRecord>>(std::nullopt)
                                      : read_backup_record(to + "/" + names.back());
    const Instant due = record && *record ? Instant::from_micros((*record)->made_at) + every : Instant();
    return [this, to, every, due] {
      if (plan_.to == to && plan_.every == every) {
        due_ = due;
      }
    };
  });
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
  disk_.run(
      [this, job = Job{plan_, state_directory_, prefix_of(runtime_.cluster()), copy, begun_, stopped_}] {
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
