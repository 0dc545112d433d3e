#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::net {

/// A server's certificate with its key, for TLS 1.2 and 1.3 (OpenSSL). Copies share it: what reload() reads,
/// all of them have.
///
/// Threads: that of the loop that serves it.
class TlsIdentity {
 public:
  /// A certificate chain and its key, in PEM. bad_request: they cannot be read, or do not belong together.
  [[nodiscard]] static engine::Result<TlsIdentity> from_files(const std::string& certificate,
                                                              const std::string& key);

  /// DIRECTORY/tls.crt and tls.key (mode 0600), a P-256 pair that signs itself; made when both are missing,
  /// for these names and IP addresses, and valid for ten years. Clients know it by its fingerprint, or trust
  /// tls.crt and check the name. unavailable: they cannot be written; else as from_files().
  [[nodiscard]] static engine::Result<TlsIdentity> self_signed(const std::string& directory,
                                                               const std::vector<std::string>& names = {});

  /// Reads the files again, for connections from now on. When it fails, the old pair stays.
  [[nodiscard]] engine::Status reload();

  /// SHA-256 of the certificate (DER), 64 digits of lower case hexadecimal.
  [[nodiscard]] std::string fingerprint() const;
  /// Whether it is for that name or IP address.
  [[nodiscard]] bool names(const std::string& host) const;
  /// What is left of its validity; negative when it has expired.
  [[nodiscard]] std::chrono::seconds valid_for() const;

  struct Impl;
  [[nodiscard]] Impl& impl() const noexcept { return *impl_; }
  explicit TlsIdentity(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace hpsearch::net
