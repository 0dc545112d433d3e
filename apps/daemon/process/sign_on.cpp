#include <unistd.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/process/daemon_process.hpp"
#include "daemon/sign_on/sign_in_file.hpp"
#include "hpsearch/io/net/log.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Status;
using net::Level;

}  // namespace

Status DaemonProcess::read_tokens() {
  tokens_.emplace(directory_->path());
  browsers_.emplace(directory_->path());
  if (!tokens_->problem().empty()) {
    net::log(Level::error,
             tokens_->problem() +
                 ". No token is accepted; the daemon's own user and root are served over the Unix "
                 "socket. Repair or remove the file, then send SIGHUP");
  }
  authentication_.emplace(
      *tokens_,
      Authentication::Rules{.owner = ::geteuid(),
                            .open = options_.http_open,
                            .groups = options_.groups,
                            .proxy = options_.proxy},
      [this](std::string_view key) { return sessions_->is_http_key(key); },
      [this](std::string id) {
        checks_.run([tokens = &*tokens_, id = std::move(id), now = runtime_->now()] {
          tokens->note_use(id, now);
          return [] {};
        });
      },
      &*browsers_);
  return read_sign_in();
}

Status DaemonProcess::read_sign_in() {
  SignInFile file;
  if (!options_.sign_in_file.empty()) {
    auto read = read_sign_in_file(options_.sign_in_file);
    if (!read) {
      return Error{Errc::bad_request, "--sign-in-file: " + read.error().message};
    }
    file = *std::move(read);
  }
  if (!file.provider) {
    provider_.reset();
  } else if (provider_ == nullptr || provider_->settings() != *file.provider) {
    provider_ = std::make_shared<Provider>(*std::move(file.provider));
  }
  authentication_->use_roles(std::move(file.roles), provider_ == nullptr ? "" : provider_->settings().issuer);
  return Done{};
}

void DaemonProcess::store_session_uses() {
  if (browsers_->uses_are_due()) {
    checks_.run([browsers = &*browsers_, now = runtime_->now()] {
      browsers->store_uses(now);
      return [] {};
    });
  }
}

Status DaemonProcess::open_audit() {
  auto changes = AuditFiles::open(directory_->path(), audited_changes);
  auto refusals = AuditFiles::open(directory_->path(), audited_refusals);
  if (!changes || !refusals) {
    return changes ? refusals.error() : changes.error();
  }
  audit_.emplace(loop_, std::move(changes).value(), std::move(refusals).value());
  if (invites_) {
    joins_.emplace(*runtime_, *invites_, *worker_keys_, *audit_, checks_);
  }
  return Done{};
}

}  // namespace hpsearch::daemon
