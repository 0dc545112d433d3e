#include "daemon/backup/stored_keys.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/process/daemon_process.hpp"
#include "hpsearch/io/net/log.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Status;
using net::Level;

}  // namespace

Status DaemonProcess::open_stored_keys(const DatabaseUrl& url) {
  if (options_.store_key_file.empty()) {
    return Done{};
  }
  auto key = BackupKey::in_file(options_.store_key_file);
  if (!key) {
    return Error{key.error().code, "--store-key-file: " + key.error().message};
  }
  stored_keys_.emplace(url, *std::move(key), directory_->path(), [](const std::string& problem) {
    net::log(Level::warning, "changed keys are not in the database yet: " + problem);
  });
  const Status opened = stored_keys_->check();
  // A standby waits for a database that is away.
  return !opened && opened.error().code == Errc::unavailable && options_.standby ? Status(Done{}) : opened;
}

Status DaemonProcess::fetch_keys() {
  if (!stored_keys_) {
    const auto url = DatabaseUrl::read(options_.store);
    const auto others = url ? has_stored_keys(*url) : engine::Result<bool>(url.error());
    const bool differ = others && *others;
    net::log(differ ? Level::warning : Level::info,
             differ ? "the database has keys of this store, which need --store-key-file: this daemon uses "
                      "those of " +
                          directory_->path() + ", and workers and clients may refuse it"
                    : "keys and tokens are in " + directory_->path() +
                          " only; a standby has them too if all daemons have --store-key-file");
    return Done{};
  }
  const auto written = stored_keys_->fetch();
  if (!written) {
    return written.error();
  }
  std::string names;
  for (const std::string& name : *written) {
    names += (names.empty() ? "" : ", ") + name;
  }
  if (!names.empty()) {
    net::log(Level::info, "keys of the database were written to " + directory_->path() + ": " + names);
  }
  return Done{};
}

Status DaemonProcess::store_keys() {
  if (!stored_keys_) {
    return Done{};
  }
  const auto keep_as = [this](const char* name) {
    return [this, name](std::string_view content, const std::function<Status()>& write) {
      return stored_keys_->keep(name, content, write);
    };
  };
  tokens_->keep_as_well(keep_as("tokens.json"));
  if (worker_keys_) {
    worker_keys_->keep_as_well(keep_as("worker_keys"));
  }
  return stored_keys_->begin(store_->daemon_epoch());
}

}  // namespace hpsearch::daemon
