#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "daemon/process/daemon_process.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/io/net/server_names.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Status;
using net::Level;

constexpr std::chrono::hours warned_before_expiry{14 * 24};

}  // namespace

Status DaemonProcess::read_certificate() {
  if (!options_.tls_self_signed && options_.tls_cert.empty()) {
    return Done{};
  }
  std::vector<std::string> names = options_.tls_names;
  for (std::string& name : net::names_of_server(options_.http)) {
    names.push_back(std::move(name));
  }
  auto identity = options_.tls_self_signed
                      ? net::TlsIdentity::self_signed(directory_->path(), names)
                      : net::TlsIdentity::from_files(options_.tls_cert, options_.tls_key);
  if (!identity) {
    return identity.error();
  }
  tls_ = *std::move(identity);
  warn_of_names();
  warn_of_expiry();
  certificate_watch_ = loop_.every(std::chrono::hours(24), [this] { warn_of_expiry(); });
  return Done{};
}

void DaemonProcess::warn_of_names() const {
  std::vector<std::string> wanted =
      options_.tls_self_signed ? options_.tls_names : std::vector<std::string>();
  if (const std::string host = net::host_of(options_.http); !net::is_any_address(host)) {
    wanted.push_back(host);
  }
  for (const std::string& name : wanted) {
    if (!tls_->names(name)) {
      net::log(Level::warning,
               "the TLS certificate is not for " + name + ": clients that check the name refuse it" +
                   (options_.tls_self_signed
                        ? ". To make one that is, remove tls.crt and tls.key from " + directory_->path() +
                              " and start the daemon again; its fingerprint is another"
                        : ""));
    }
  }
}

void DaemonProcess::warn_of_expiry() const {
  const auto left = tls_->valid_for();
  if (left < warned_before_expiry) {
    net::log(Level::warning,
             left.count() < 0
                 ? "the TLS certificate has expired: clients refuse it"
                 : "the TLS certificate expires in " +
                       std::to_string(std::chrono::duration_cast<std::chrono::hours>(left).count()) +
                       " hours; replace the files and send SIGHUP");
  }
}

void DaemonProcess::reload_certificate() {
  if (!tls_) {
    return;
  }
  if (auto read = tls_->reload(); !read) {
    net::log(Level::error, read.error().message + "; the certificate stays as it was");
    return;
  }
  net::log(Level::info, "the TLS certificate was read again; its fingerprint is " + tls_->fingerprint());
  warn_of_expiry();
}

}  // namespace hpsearch::daemon
