#include "daemon/backup/stored_backups.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "daemon/store/files/file_sync.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/io/net/rclone.hpp"

namespace hpsearch::daemon {
namespace {

namespace fs = std::filesystem;
using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

std::string all_but_the_record() {
  return std::string("--exclude=/") + backup_record_name;
}

/// For lists and removals, which the next backup repeats. Uploads and downloads are retried as rclone's
/// variables say.
std::vector<std::string> in_one_try(std::vector<std::string> words) {
  words.insert(words.end(), {"--retries=1", "--low-level-retries=3", "--contimeout=10s", "--timeout=1m"});
  return words;
}

/// An object store has no directories: one without a file is missing.
bool is_missing(const Error& error) {
  return error.message.find("directory not found") != std::string::npos;
}

/// The names of directories with a record, directly below the address, in no order.
Result<std::vector<std::string>> names_with_record(const BackupAddress& address, const std::string& prefix,
                                                   const std::atomic<bool>* stopped) {
  const auto listed =
      net::read_rclone(in_one_try({"lsf", "-R", "--files-only", "--max-depth=2",
                                   "--include=/" + prefix + "*/" + backup_record_name, address.place_of("")}),
                       address.environment, stopped);
  if (!listed) {
    return is_missing(listed.error()) ? Result<std::vector<std::string>>(std::vector<std::string>{})
                                      : listed.error();
  }
  std::vector<std::string> names;
  std::string_view left = *listed;
  while (!left.empty()) {
    const std::string_view line = left.substr(0, left.find('\n'));
    if (const std::size_t slash = line.find('/'); slash != std::string_view::npos) {
      names.emplace_back(line.substr(0, slash));
    }
    left.remove_prefix(std::min(left.size(), line.size() + 1));
  }
  return names;
}

/// Null: there is none.
Result<std::optional<BackupRecord>> record_below(const BackupAddress& address, const std::string& name,
                                                 const std::atomic<bool>* stopped) {
  const std::string below = (name.empty() ? "" : name + "/") + backup_record_name;
  const auto text =
      net::read_rclone(in_one_try({"cat", address.place_of(below)}), address.environment, stopped);
  if (!text) {
    return is_missing(text.error()) ? Result<std::optional<BackupRecord>>(std::nullopt) : text.error();
  }
  if (text->empty()) {
    return std::optional<BackupRecord>();
  }
  auto record = parse_backup_record(*text, address.root + "/" + below);
  return record ? Result<std::optional<BackupRecord>>(std::optional(std::move(record).value()))
                : record.error();
}

}  // namespace

StoredBackups::StoredBackups(BackupAddress address, Settings settings)
    : address_(std::move(address)), settings_(std::move(settings)) {
}

Result<std::vector<std::string>> StoredBackups::whole() const {
  auto names = names_with_record(address_, settings_.prefix, settings_.stopped.get());
  if (!names) {
    return names;
  }
  std::erase_if(*names, [this](const std::string& name) { return !is_backup_name(settings_.prefix, name); });
  std::sort(names->begin(), names->end());
  return names;
}

Status StoredBackups::run(std::vector<std::string> words) const {
  return net::run_rclone(words, address_.environment, settings_.stopped.get());
}

Result<std::optional<BackupRecord>> StoredBackups::newest() {
  const auto names = whole();
  if (!names) {
    return names.error();
  }
  return names->empty() ? Result<std::optional<BackupRecord>>(std::nullopt)
                        : record_below(address_, names->back(), settings_.stopped.get());
}

Status StoredBackups::prepare() {
  std::error_code failed;
  fs::remove_all(settings_.staging, failed);
  if (::mkdir(settings_.staging.c_str(), 0700) != 0) {
    return system_error("cannot make the directory " + settings_.staging);
  }
  const auto complete = whole();
  if (!complete) {
    return Error{complete.error().code,
                 "cannot list the backups at " + address_.root + ": " + complete.error().message};
  }
  const auto listed = net::read_rclone(
      in_one_try({"lsf", "--dirs-only", "--include=/" + settings_.prefix + "*/**", address_.place_of("")}),
      address_.environment, settings_.stopped.get());
  std::string_view left = listed ? std::string_view(*listed) : std::string_view();
  while (!left.empty()) {
    const std::string_view line = left.substr(0, left.find('\n'));
    const std::string name(line.substr(0, line.find('/')));
    if (is_backup_name(settings_.prefix, name) &&
        !std::binary_search(complete->begin(), complete->end(), name)) {
      if (const Status removed = remove(name); !removed) {
        net::log(net::Level::warning, "the rest of an interrupted backup stays at " + address_.root + "/" +
                                          name + ": " + removed.error().message);
      }
    }
    left.remove_prefix(std::min(left.size(), line.size() + 1));
  }
  return Done{};
}

std::string StoredBackups::path_of(const std::string& name) const {
  return settings_.staging + "/" + name;
}

Status StoredBackups::upload(const std::string& name) const {
  const std::string to = address_.place_of(name);
  Status done = run({"copy", path_of(name), to, all_but_the_record()});
  if (done) {
    done = run({"check", "--one-way", path_of(name), to, all_but_the_record()});
  }
  return done ? run({"copyto", path_of(name) + "/" + backup_record_name, to + "/" + backup_record_name})
              : done;
}

Result<std::string> StoredBackups::take(const std::string& name) {
  const Status uploaded = upload(name);
  if (!uploaded) {
    // A record may have arrived although its upload failed. What can't be removed now, prepare() removes.
    static_cast<void>(remove(name).has_value());
  }
  std::error_code ignored;
  fs::remove_all(settings_.staging, ignored);
  if (!uploaded) {
    return Error{uploaded.error().code, "cannot upload the backup to " + address_.root + "/" + name + ": " +
                                            uploaded.error().message};
  }
  return address_.root + "/" + name;
}

Status StoredBackups::remove(const std::string& name) const {
  const std::string place = address_.place_of(name);
  static_cast<void>(run(in_one_try({"deletefile", place + "/" + backup_record_name})).has_value());
  const Status removed = run(in_one_try({"delete", "--rmdirs", place}));
  return removed || is_missing(removed.error()) ? Status(Done{}) : removed;
}

void StoredBackups::keep_newest(std::uint64_t count) {
  auto names = whole();
  if (!names) {
    net::log(net::Level::warning, "old backups stay at " + address_.root + ": " + names.error().message);
    return;
  }
  names->resize(names->size() - std::min<std::size_t>(names->size(), count));
  for (const std::string& name : *names) {
    if (const Status removed = remove(name); !removed) {
      net::log(net::Level::warning,
               "an old backup stays at " + address_.root + "/" + name + ": " + removed.error().message);
    }
  }
}

Result<BackupRecord> read_stored_record(const BackupAddress& address) {
  const auto record = record_below(address, "", nullptr);
  if (!record) {
    return Error{record.error().code,
                 "cannot read the backup at " + address.root + ": " + record.error().message};
  }
  if (*record) {
    return **record;
  }
  // Names of several stores: the newest is that with the latest time, after the last dash.
  const auto time_of = [](const std::string& name) { return name.substr(name.rfind('-') + 1); };
  const auto names = names_with_record(address, "hpsearch-", nullptr);
  std::string newest;
  for (const std::string& name : names ? *names : std::vector<std::string>{}) {
    newest = newest.empty() || time_of(name) > time_of(newest) ? name : newest;
  }
  return Error{Errc::not_found,
               "there is no whole backup at " + address.root + ": it has no " + backup_record_name +
                   (newest.empty() ? "" : "; the newest one below it is " + address.root + "/" + newest)};
}

Status fetch_backup(const BackupAddress& address, const std::string& directory) {
  const Status fetched = net::run_rclone({"copy", address.place_of(""), directory}, address.environment);
  return fetched ? fetched
                 : Status(Error{fetched.error().code,
                                "cannot fetch the backup " + address.root + ": " + fetched.error().message});
}

}  // namespace hpsearch::daemon
