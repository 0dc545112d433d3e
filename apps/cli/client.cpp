#include "cli/client.hpp"

#include "cli/text.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/net/http.hpp"
#include "hpsearch/proto/json.hpp"

namespace hpsearch::cli {
namespace {

using engine::Errc;
using engine::Value;

/// A page of trials with long configurations is long; this is still a limit.
constexpr proto::JsonLimits answer_limits{256UL * 1024 * 1024, 64, 20'000'000};

Failure failure_of(unsigned status, const Value& error) {
  Failure out;
  out.message = text_at(error, "message");
  if (out.message.empty()) {
    out.message = "the daemon answered with status " + std::to_string(status);
  }
  for (const Value& problem : list_at(error, "problems")) {
    out.problems.push_back({text_at(problem, "path"), text_at(problem, "what"), text_at(problem, "allowed")});
  }
  switch (status) {
    case 400:
    case 413:
      out.exit = Exit::usage;
      out.code = Errc::bad_request;
      break;
    case 404:
      out.exit = Exit::not_found;
      out.code = Errc::not_found;
      break;
    case 409:
      out.exit = Exit::conflict;
      out.code = Errc::wrong_state;
      break;
    case 422:
      out.exit = Exit::conflict;
      out.code = Errc::conflict;
      break;
    case 507:
      out.exit = Exit::storage;
      out.code = Errc::unavailable;
      break;
    default:
      out.exit = Exit::failed;
      out.code = Errc::unavailable;
      break;
  }
  return out;
}

}  // namespace

Outcome<Value> read_answer(unsigned status, const std::string& body, const std::string& address) {
  const bool good = status >= 200 && status < 300;
  const engine::Result<Value> parsed =
      body.empty() ? engine::Result<Value>(Value()) : proto::parse_json(body, answer_limits);
  if (!parsed) {
    if (good) {
      return Failure{Exit::failed, Errc::corrupt,
                     "what answers at " + address + " is not a daemon of ours: " + parsed.error().message};
    }
    return failure_of(status, Value());
  }
  if (!good) {
    return failure_of(status, member(*parsed, "error"));
  }
  return *parsed;
}

Outcome<Value> Client::ask(const std::string& method, const std::string& target, const std::string& body,
                           const std::string& idempotency_key) const {
  net::HttpHeaders headers;
  if (!idempotency_key.empty()) {
    headers.emplace_back("Idempotency-Key", idempotency_key);
  }
  const engine::Result<net::HttpResponse> response =
      net::http_request(address_, method, target, body, timeout_, headers);
  return response ? read_answer(response->status, response->body, address_) : failure_of(response.error());
}

Failure Client::failure_of(const engine::Error& error) const {
  if (error.code == Errc::unavailable) {
    return unreachable_failure(
        error.message + "; start hpsearchd there, or name another daemon with --server or --state-dir");
  }
  return Failure{Exit::failed, error.code, address_ + ": " + error.message};
}

Outcome<bool> Client::has(const std::string& target) const {
  const auto response = net::http_request(address_, "HEAD", target, "", timeout_);
  if (!response) {
    return failure_of(response.error());
  }
  if (response->status != 200 && response->status != 404) {
    return Failure{Exit::failed, Errc::unavailable,
                   "the daemon answered with status " + std::to_string(response->status)};
  }
  return response->status == 200;
}

Outcome<engine::Done> Client::put_archive(const std::string& target, const std::string& bytes) const {
  const std::chrono::seconds more(bytes.size() / 1'000'000);
  const auto response = net::http_request(address_, "PUT", target, bytes, timeout_ + more,
                                          {{"Content-Type", "application/x-tar"}});
  if (!response) {
    return failure_of(response.error());
  }
  const Outcome<Value> answer = read_answer(response->status, response->body, address_);
  return answer ? Outcome<engine::Done>(engine::Done{}) : answer.failure();
}

Outcome<Value> Client::get(const std::string& target) const {
  return ask("GET", target, "", "");
}

Outcome<Value> Client::post(const std::string& target, const Value& body,
                            const std::string& idempotency_key) const {
  return ask("POST", target, engine::compact_json(body), idempotency_key);
}

Outcome<Value> Client::patch(const std::string& target, const Value& body) const {
  return ask("PATCH", target, engine::compact_json(body), "");
}

std::string experiment_target(std::uint64_t experiment, const std::string& rest) {
  return "/api/v1/experiments/" + std::to_string(experiment) + rest;
}

}  // namespace hpsearch::cli
