#include <optional>
#include <string>
#include <utility>

#include "daemon/process/daemon_process.hpp"
#include "hpsearch/io/files/replace_file.hpp"
#include "hpsearch/io/net/log.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Status;
using net::Level;

}  // namespace

Status DaemonProcess::read_notified() {
  if (options_.notify.empty()) {
    next_receivers_.reset();
    return Done{};
  }
  auto receivers = read_receivers(options_.notify);
  if (!receivers) {
    return Error{Errc::bad_request, "--notify: " + receivers.error().message};
  }
  if (const auto failed = files::make_private_directory(notifications_directory())) {
    return failed->as_error();
  }
  next_receivers_ = *std::move(receivers);
  return Done{};
}

std::string DaemonProcess::notifications_directory() const {
  return directory_->path() + "/notifications";
}

void DaemonProcess::start_notifier() {
  notifier_.reset();
  if (next_receivers_) {
    notifier_.emplace(*runtime_, loop_, *std::exchange(next_receivers_, std::nullopt),
                      notifications_directory());
    notifier_->start();
  }
}

void DaemonProcess::reload_receivers() {
  if (const Status read = read_notified(); !read) {
    net::log(Level::error, read.error().message + "; notifications stay as they were");
    return;
  }
  if (stops_notifier_) {
    return;  // The former notifier is ending already.
  }
  if (!notifier_) {
    start_notifier();
    return;
  }
  stops_notifier_ = true;
  notifier_->retire([this] {
    stops_notifier_ = false;
    start_notifier();
  });
}

}  // namespace hpsearch::daemon
