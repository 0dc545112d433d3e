#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/http/http.hpp"

namespace hpsearch::workers {

/// The way of one session to the daemon's HTTP interface, which serves contexts and takes logs and files.
struct DaemonAccess {
  std::string address;  ///< As contexts_address() returns it; "" = the daemon has announced none.
  std::string key;      ///< The key of this session; "" = none is needed.
};

struct DaemonRequest {
  std::string method;
  std::string target;
  std::string body{};
  std::string type = "application/json";  ///< The type of the body.
  std::chrono::milliseconds patience{};
  net::AnswerLimit limit{};
  std::optional<net::HttpHeaders::value_type> header{};  ///< One more.
};

/// Fails as http_request() does. Threads: any; it waits.
[[nodiscard]] engine::Result<net::HttpResponse> ask(const DaemonAccess& daemon, const DaemonRequest& request);

/// Whether the same request may succeed later: the daemon has no room or no time.
[[nodiscard]] bool may_help_later(const net::HttpResponse& answer) noexcept;

/// The problem in the daemon's answer; the status if the answer names none.
[[nodiscard]] std::string problem_in(const net::HttpResponse& answer);

}  // namespace hpsearch::workers
