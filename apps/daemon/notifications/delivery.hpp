#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/notifications/receivers.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/http/http.hpp"

namespace hpsearch::daemon {

/// The headers of a webhook that let its receiver check who sent it and when, as Standard Webhooks 1.0.0 has
/// them (webhook-id, webhook-timestamp, webhook-signature: "v1," and the HMAC-SHA256 of "ID.SECONDS.BODY" in
/// base64). Without a key there is no signature.
[[nodiscard]] net::HttpHeaders webhook_headers(const std::string& key, const std::string& id,
                                               std::int64_t seconds, const std::string& body);

/// The mail of a notification: headers and text, for a program such as sendmail.
[[nodiscard]] std::string mail_of(const Notification& notification, const std::vector<std::string>& to);

/// Sends it, and waits for the answer, of a webhook for 10 s and of sendmail for 30 s: for threads beside the
/// loop. unavailable: it may not have arrived; the message says why, without the path of the address, which
/// may be a secret.
[[nodiscard]] engine::Status deliver(const Notification& notification, const Receiver& receiver,
                                     const std::string& sendmail);

}  // namespace hpsearch::daemon
