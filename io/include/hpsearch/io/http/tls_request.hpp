#pragma once

#include "hpsearch/io/http/http.hpp"
#include "hpsearch/io/net/tls_client.hpp"

namespace hpsearch::net {

/// http_request() to a server that this machine's authorities need not know, or that asks for a certificate.
/// Also bad_request: OpenSSL cannot use a text of `tls`.
[[nodiscard]] engine::Result<HttpResponse> tls_request(const std::string& address, const std::string& method,
                                                       const std::string& target, const std::string& body,
                                                       std::chrono::milliseconds timeout,
                                                       const HttpHeaders& headers, AnswerLimit limit,
                                                       const TlsClient& tls);

}  // namespace hpsearch::net
