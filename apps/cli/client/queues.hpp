#pragma once

#include <chrono>
#include <string>

#include "cli/client/client.hpp"
#include "hpsearch/io/http/http.hpp"
#include "hpsearch/proto/api/queues.hpp"
#include "hpsearch/proto/encoding/record.hpp"

namespace hpsearch::cli {

/// "/api/v1/queues/gpu" followed by `rest`, or "/api/v1/queues" for all.
[[nodiscard]] inline std::string queue_target(const std::string& queue = "", const std::string& rest = "") {
  return "/api/v1/queues" + (queue.empty() ? "" : "/" + net::percent_encoded(queue)) + rest;
}

/// Asks whether an allocation of the queue would start: an api::QueueCheck. The daemon runs commands of the
/// other scheduler first, for up to a minute in all.
[[nodiscard]] inline Outcome<engine::Value> check_queue(Client client, const api::QueueRequest& queue) {
  client.set_timeout(std::chrono::seconds(75));
  return client.post(queue_target("", "/check"), proto::encode_value(queue));
}

}  // namespace hpsearch::cli
