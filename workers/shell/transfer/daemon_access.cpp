#include "hpsearch/workers/shell/transfer/daemon_access.hpp"

#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::workers {

engine::Result<net::HttpResponse> ask(const DaemonAccess& daemon, const DaemonRequest& request) {
  // The name under which a worker reaches the daemon may be any: that check protects browsers.
  net::HttpHeaders headers{{"Host", "localhost"}};
  if (!request.body.empty()) {
    headers.emplace_back("Content-Type", request.type);
  }
  if (request.header) {
    headers.push_back(*request.header);
  }
  if (!daemon.key.empty()) {
    headers.emplace_back("Authorization", "Bearer " + daemon.key);
  }
  return net::http_request(daemon.address, request.method, request.target, request.body, request.patience,
                           headers, request.limit);
}

bool may_help_later(const net::HttpResponse& answer) noexcept {
  return answer.status >= 500 || answer.status == 429;
}

std::string problem_in(const net::HttpResponse& answer) {
  const engine::Result<engine::Value> value = proto::parse_json(answer.body);
  const engine::Value* const message = value ? value->at_path("error.message") : nullptr;
  return message != nullptr && message->as_text() != nullptr
             ? *message->as_text()
             : "the daemon answered with status " + std::to_string(answer.status);
}

}  // namespace hpsearch::workers
