#include "daemon/core/storage_watch.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "hpsearch/io/net/log.hpp"

namespace hpsearch::daemon {
namespace {

constexpr std::chrono::seconds look_every{1};

std::string in_mib(std::uint64_t bytes) {
  return std::to_string(bytes / (std::uint64_t{1024} * 1024)) + " MiB";
}

std::uint64_t size_of(const std::string& file) {
  std::error_code absent;
  const std::uintmax_t size = std::filesystem::file_size(file, absent);
  return absent ? 0 : size;
}

}  // namespace

StorageWatch::StorageWatch(Runtime& runtime, const std::string& directory, std::string store_file,
                           std::string database)
    : runtime_(runtime),
      directory_(directory),
      store_file_(std::move(store_file)),
      database_(std::move(database)),
      reserve_(directory + "/reserve"),
      logged_(name_of(Room::ample)) {
  look();
  clock_ = runtime_.loop().every(look_every, [this] { look(); });
}

void StorageWatch::found_no_room(const engine::Error& error) {
  const std::string state = database_.empty() ? "full" : "away";
  if (logged_ != state) {
    logged_ = state;
    net::log(net::Level::error, error.message + ". No request or report is acknowledged until " +
                                    (database_.empty() ? "there is space" : "the database answers") +
                                    ". Workers keep their reports; the daemon resumes automatically");
  }
  if (database_.empty()) {
    reserve_.give_up();
  }
  look();
}

void StorageWatch::look() {
  const auto space = disk_space_at(directory_);
  if (!space) {
    return;  // The store itself reports errors of its disk.
  }
  const Room room = space->room();
  const std::string left = in_mib(space->free) + " of " + in_mib(space->total) + " are left at " + directory_;
  Storage storage{.state = name_of(room), .free_bytes = space->free, .total_bytes = space->total, .why = {}};
  if (database_.empty()) {
    storage.store_bytes = size_of(store_file_);
    storage.wal_bytes = size_of(store_file_ + "-wal");
  }
  if (runtime_.stalled() && !database_.empty()) {
    storage.state = "away";
    storage.intake = Intake::nothing;
    storage.why = "the database " + database_ + " is away; the daemon resumes automatically when it answers";
  } else if (runtime_.stalled()) {
    storage.state = "full";
    storage.intake = Intake::nothing;
    storage.why =
        "no space is left in " + directory_ + "; the daemon resumes automatically when there is space";
  } else if (room == Room::exhausted) {
    storage.intake = Intake::what_ends;
    storage.why = "the disk is almost full (" + left + "); end experiments to free space";
  } else if (room == Room::scarce) {
    storage.intake = Intake::no_experiments;
    storage.why =
        "the disk is nearly full (" + left + "); new experiments are accepted again when there is space";
  } else {
    reserve_.set_aside(*space);
  }
  if (storage.state != logged_) {
    const bool trouble = room != Room::ample || runtime_.stalled();
    logged_ = storage.state;
    net::log(trouble ? net::Level::warning : net::Level::info,
             logged_ == "away" ? storage.why : "room on the disk is " + logged_ + ": " + left);
  }
  runtime_.set_storage(std::move(storage));
}

}  // namespace hpsearch::daemon
