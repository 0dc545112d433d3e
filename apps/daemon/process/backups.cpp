#include "daemon/process/daemon_process.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Duration;
using engine::Status;

}  // namespace

Status DaemonProcess::open_backups() {
  if (file_store_ != nullptr) {
    backups_.emplace(*runtime_, *file_store_, directory_->path());
    scheduled_backups_.emplace(*runtime_, loop_, *backups_, directory_->path(), backup_plan());
  }
  return Done{};
}

BackupPlan DaemonProcess::backup_plan() const {
  return {options_.backup_to,
          Duration::micros(static_cast<std::int64_t>(options_.backup_every_seconds * 1e6)),
          options_.backup_keep, options_.backup_key_file};
}

}  // namespace hpsearch::daemon
