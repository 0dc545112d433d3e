#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "hpsearch/io/net/tls.hpp"
#include "hpsearch/io/net/tls_client.hpp"
#include "net/asio.hpp"

namespace hpsearch::net {

struct TlsIdentity::Impl {
  std::string certificate;
  std::string key;
  std::shared_ptr<asio::ssl::context> context;  ///< Connections keep the one they began with.
};

/// SHA-256 of a certificate's DER, in hexadecimal.
[[nodiscard]] std::string fingerprint_of(X509* certificate);

/// What a client accepts: the certificate with that fingerprint, or, when it is "", one that the machine's
/// authorities, or those of `tls`, vouch for and that names `host`. Throws if OpenSSL can't use a text of
/// `tls`.
[[nodiscard]] std::shared_ptr<asio::ssl::context> client_context(const std::string& fingerprint,
                                                                 const std::string& host,
                                                                 const TlsClient& tls);

}  // namespace hpsearch::net
