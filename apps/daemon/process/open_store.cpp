#include <sys/stat.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "daemon/process/daemon_process.hpp"
#include "daemon/store/files/store_address.hpp"
#include "daemon/store/postgresql/postgresql_store.hpp"
#include "hpsearch/engine/experiment/experiment_state.hpp"
#include "hpsearch/io/files/replace_file.hpp"
#include "hpsearch/io/net/core_files.hpp"
#include "hpsearch/io/net/descriptor_limit.hpp"
#include "hpsearch/io/net/log.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Duration;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using net::Level;

constexpr std::chrono::seconds progress_every{1};
constexpr std::chrono::seconds longest_without_progress{90};

}  // namespace

bool DaemonProcess::in_a_database() const noexcept {
  return !options_.store.empty();
}

Exit DaemonProcess::exit_of(const Error& error) const noexcept {
  switch (error.code) {
    case Errc::wrong_state:
      return Exit::conflict;
    case Errc::bad_request:
      return Exit::usage;
    case Errc::unavailable:
      return in_a_database() ? Exit::failed : Exit::storage;
    default:
      return Exit::storage;
  }
}

Status DaemonProcess::check_not_elsewhere() const {
  const auto elsewhere = in_a_database() ? Result<std::optional<StoreAddress>>(std::nullopt)
                                         : read_store_address(options_.state_dir);
  if (!elsewhere || !*elsewhere) {
    return elsewhere ? Status(Done{}) : Status(elsewhere.error());
  }
  return Error{Errc::wrong_state, "the store of the state directory " + options_.state_dir + " is " +
                                      (*elsewhere)->address +
                                      "; give it as --store, or copy it: hpsearch store copy --from " +
                                      (*elsewhere)->address + " --to NEW"};
}

Status DaemonProcess::open_storage() {
  if (auto here = check_not_elsewhere(); !here) {
    return here;
  }
  auto directory = StateDirectory::open(
      options_.state_dir,
      options_.allow_network_filesystem ? StateDirectory::NetworkFileSystems::allowed
                                        : StateDirectory::NetworkFileSystems::refused,
      files::file_system_at,
      options_.take_over ? StateDirectory::OtherHosts::ignored : StateDirectory::OtherHosts::respected,
      in_a_database() ? StateDirectory::Store::in_a_database : StateDirectory::Store::here);
  if (!directory) {
    Error error = directory.error();
    if (error.code == Errc::unavailable) {
      error.message += ". Give --state-dir a directory that can be written";
    }
    return error;
  }
  directory_ = std::move(directory).value();
  if (!directory_->warning().empty()) {
    net::log(Level::warning, directory_->warning());
  }
  net::forbid_core_files();
  // Peers need descriptors. Raised only here: a daemon that is refused should print one message only.
  net::raise_descriptor_limit();
  if (auto opened = in_a_database() ? open_database() : open_file(); !opened) {
    return remedy(opened.error());
  }
  movable_store_.emplace(*store_, directory_->path());
  runtime_ = std::make_unique<Runtime>(loop_, *movable_store_, registry_, patience(),
                                       in_a_database() ? on_another_thread : on_a_thread_of_its_own);
  if (auto recovered = replay(); !recovered) {
    return remedy(recovered.error());
  }
  return read_secrets_key();
}

Status DaemonProcess::open_file() {
  auto store = SqliteStore::open(directory_->database(), {}, directory_->take_store_lock());
  if (!store) {
    return store.error();
  }
  file_store_ = store->get();
  store_ = std::move(store).value();
  return Done{};
}

Status DaemonProcess::open_database() {
  const auto url = DatabaseUrl::read(options_.store);
  if (!url) {
    return url.error();
  }
  struct stat place {};
  const OwnerRecord owner = this_owner();
  if (::stat(directory_->path().c_str(), &place) != 0) {
    return Error{Errc::unavailable, "the state directory " + directory_->path() + " is missing"};
  }
  const StoreHolder holder{
      .name = "hpsearchd on " + owner.host + ", process " + std::to_string(owner.pid),
      .place = owner.boot + ":" + std::to_string(place.st_dev) + ":" + std::to_string(place.st_ino),
      .take_over = options_.take_over,
      .standby = options_.standby,
      .counts_for = Duration::micros(static_cast<std::int64_t>(options_.take_over_after_seconds * 1e6))};
  if (auto keys = open_stored_keys(*url); !keys) {
    return keys;
  }
  std::string said;
  auto store = PostgresqlStore::open(*url, holder, [&](const std::string& why) {
    const bool is_new = std::exchange(said, why) != why;
    if (is_new) {
      net::log(options_.standby ? Level::info : Level::warning, why);
    }
    if (!options_.standby) {
      service_.starting("waits for the store", longest_without_progress);
    } else if (is_new) {
      service_.ready("standby: " + why);  // It may wait for days; its manager must not time it out.
    }
  });
  if (!store) {
    return store.error();
  }
  const StoreAddress address{url->text(), std::to_string((*store)->cluster())};
  if (auto belongs = check_belongs(directory_->path(), address); !belongs) {
    return belongs;
  }
  if (auto written = write_store_address(directory_->path(), address); !written) {
    return written;
  }
  store_ = std::move(store).value();
  net::log(Level::info,
           "has the store " + url->text() + " as its start " + std::to_string(store_->daemon_epoch()));
  return fetch_keys();
}

Status DaemonProcess::replay() {
  const std::string end = std::to_string(store_->stored_lsn().number());
  auto next = std::chrono::steady_clock::now() + progress_every;
  return runtime_->recover([&](engine::Lsn lsn) {
    if (std::chrono::steady_clock::now() < next) {
      return;
    }
    next = std::chrono::steady_clock::now() + progress_every;
    service_.starting("replays the log: event " + std::to_string(lsn.number()) + " of " + end,
                      longest_without_progress);
  });
}

Error DaemonProcess::remedy(Error error) const {
  switch (error.code) {
    case Errc::corrupt:
      error.message +=
          ". No event was changed. List the damage with: hpsearch store verify " +
          (in_a_database() ? options_.store : directory_->path()) +
          ". Create a working state directory with: hpsearch store restore BACKUP --to NEW, or: hpsearch "
          "store salvage " +
          (in_a_database() ? options_.store : directory_->path()) + " --to NEW";
      break;
    case Errc::not_found:
    case Errc::wrong_state:
    case Errc::bad_request:
      break;  // The warnings already name the remedy.
    case Errc::version_mismatch:
      error.message += ". Use the release that wrote this state directory";
      break;
    default:
      if (!in_a_database()) {
        error.message +=
            ". Make room or repair the file system of " + directory_->path() + ", then start again";
      }
      break;
  }
  return error;
}

Status DaemonProcess::read_secrets_key() {
  bool have_secrets = false;
  for (const auto& [id, record] : runtime_->engine().experiments()) {
    have_secrets =
        have_secrets || (!engine::is_ended(record.state) && SealedSecrets::are_in(record.effective));
  }
  const bool must_exist = have_secrets && !options_.forget_secrets;
  auto secrets = SealedSecrets::in(
      directory_->path(), must_exist ? SealedSecrets::Missing::refused : SealedSecrets::Missing::made);
  if (!secrets) {
    return without_key(secrets.error());
  }
  secrets_.emplace(*std::move(secrets));
  for (const auto& [id, record] : runtime_->engine().experiments()) {
    if (engine::is_ended(record.state) || options_.forget_secrets ||
        !SealedSecrets::are_in(record.effective)) {
      continue;
    }
    if (const auto opened = secrets_->open(record.effective); !opened) {
      return without_key(Error{Errc::unavailable,
                               "experiment " + std::to_string(id.number()) + ": " + opened.error().message});
    }
  }
  return Done{};
}

Error DaemonProcess::without_key(Error error) const {
  error.code = Errc::unavailable;
  error.message += ". Copy secrets.key from the state directory that the store comes from into " +
                   directory_->path() +
                   "; if it is lost, start with --forget-secrets, and the trials that need a secret fail";
  return error;
}

}  // namespace hpsearch::daemon
