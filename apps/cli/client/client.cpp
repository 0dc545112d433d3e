#include "cli/client/client.hpp"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "cli/client/answers.hpp"
#include "cli/render/text.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/http/http.hpp"
#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::cli {
namespace {

using engine::Errc;
using engine::Value;

/// A page of trials with long configurations is long; the limits are above it.
constexpr proto::JsonLimits answer_limits{256UL * 1024 * 1024, 64, 20'000'000};

/// Whether the address is a socket of this machine that this user may not open.
bool is_closed_to_us(const std::string& address) {
  constexpr std::string_view unix_socket = "unix://";
  return address.starts_with(unix_socket) &&
         ::access(address.c_str() + unix_socket.size(), R_OK | W_OK) != 0 && errno == EACCES;
}

Failure failure_of_status(unsigned status, const Value& error) {
  Failure out;
  out.message = text_at(error, "message");
  if (out.message.empty()) {
    out.message = status == 401   ? "a token is needed here"
                  : status == 403 ? "the role of this token does not allow that"
                                  : "the daemon answered with status " + std::to_string(status);
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
    case 401:
      out.message += "; give the token with --token-file FILE, HPSEARCH_TOKEN_FILE or hpsearch context add";
      out.code = Errc::unavailable;
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
    case 429:
      out.exit = text_at(error, "code") == "quota" ? Exit::conflict : Exit::failed;
      out.code = text_at(error, "code") == "quota" ? Errc::quota : Errc::unavailable;
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
    return failure_of_status(status, Value());
  }
  if (!good) {
    return failure_of_status(status, member(*parsed, "error"));
  }
  return *parsed;
}

Failure unexpected_answer(const engine::Error& error) {
  return plain_failure("the daemon's answer cannot be read: " + printable(error.message) +
                       "; use the hpsearch of the daemon's release (hpsearch version shows both)");
}

Outcome<Value> Client::ask(const std::string& method, const std::string& target, const std::string& body,
                           const std::string& idempotency_key) const {
  net::HttpHeaders all = headers();
  if (!idempotency_key.empty()) {
    all.emplace_back("Idempotency-Key", idempotency_key);
  }
  const engine::Result<net::HttpResponse> response =
      net::http_request(address_, method, target, body, timeout_, all);
  if (!response) {
    return failure_of(response.error());
  }
  return read_answer(response->status, response->body, address_);
}

Outcome<Value> Client::get_list(const std::string& target, const std::string& name) const {
  Value::List all;
  for (std::uint64_t after = 0;;) {
    const Outcome<Value> page = get(after == 0 ? target : target + "?after=" + std::to_string(after));
    if (!page) {
      return page.failure();
    }
    const Value::List& some = list_at(*page, name);
    all.insert(all.end(), some.begin(), some.end());
    const std::uint64_t next = count_at(*page, "next");
    if (next <= after) {  // null on the last page.
      return Value(Value::Map{{name, std::move(all)}});
    }
    after = next;
  }
}

Outcome<std::string> Client::get_bytes(const std::string& target, std::uint64_t offset,
                                       std::uint64_t limit) const {
  net::HttpHeaders all = headers();
  all.push_back(net::range_header(offset, limit));
  const auto response = net::http_request(address_, "GET", target, "", timeout_, all);
  if (!response) {
    return failure_of(response.error());
  }
  if (response->status == 416) {
    return std::string();  // It ends before `offset`.
  }
  if (response->status != 200 && response->status != 206) {
    const Outcome<Value> answer = read_answer(response->status, response->body, address_);
    return answer ? failure_of_status(response->status, Value()) : answer.failure();
  }
  return response->body;
}

Outcome<engine::Done> Client::read_bytes(
    const std::string& target, const std::function<Outcome<engine::Done>(std::string_view)>& take) const {
  auto reading = net::HttpReading::open(address_, target, timeout_, headers());
  if (!reading) {
    return failure_of(reading.error());
  }
  std::string refusal;
  for (;;) {
    const auto piece = reading->read(timeout_);
    if (!piece) {
      return failure_of(piece.error());
    }
    if (!*piece) {
      break;
    }
    if ((*piece)->empty()) {
      return failure_of(engine::Error{engine::Errc::unavailable, "the answer stopped before its end"});
    }
    if (reading->status() != 200) {
      refusal += **piece;
    } else if (const Outcome<engine::Done> taken = take(**piece); !taken) {
      return taken;
    }
  }
  if (reading->status() == 200) {
    return engine::Done{};
  }
  const Outcome<Value> answer = read_answer(reading->status(), refusal, address_);
  return answer ? failure_of_status(reading->status(), Value()) : answer.failure();
}

Outcome<net::HttpReading> Client::stream(const std::string& target, const std::string& last_id) const {
  net::HttpHeaders all = headers();
  all.emplace_back("Accept", "text/event-stream");
  if (!last_id.empty()) {
    all.emplace_back("Last-Event-ID", last_id);
  }
  auto reading = net::HttpReading::open(address_, target, timeout_, all);
  if (!reading) {
    return failure_of(reading.error());
  }
  if (reading->status() == 200 && reading->content_type().starts_with("text/event-stream")) {
    return *std::move(reading);
  }
  std::string body;
  for (auto piece = reading->read(timeout_); piece && *piece && !(*piece)->empty();
       piece = reading->read(timeout_)) {
    body += **piece;
  }
  const Outcome<Value> answer = read_answer(reading->status(), body, address_);
  return answer ? plain_failure("the daemon at " + address_ + " answered a request for a stream without one")
                : answer.failure();
}

std::vector<std::pair<std::string, std::string>> Client::headers() const {
  return token_.empty() ? net::HttpHeaders() : net::HttpHeaders{{"Authorization", "Bearer " + token_}};
}

Failure Client::failure_of(const engine::Error& error) const {
  if (error.code == Errc::unavailable && is_closed_to_us(address_)) {
    return unreachable_failure(error.message +
                               "; ask who runs that daemon, or name another with --server or --state-dir");
  }
  if (error.code == Errc::unavailable) {
    return unreachable_failure(
        error.message + "; start hpsearchd there, or name another daemon with --server or --state-dir");
  }
  return Failure{Exit::failed, error.code, address_ + ": " + error.message};
}

Outcome<bool> Client::has(const std::string& target) const {
  const auto response = net::http_request(address_, "HEAD", target, "", timeout_, headers());
  if (!response) {
    return failure_of(response.error());
  }
  if (response->status != 200 && response->status != 404) {
    return failure_of_status(response->status, Value());  // The answer to a HEAD has no body.
  }
  return response->status == 200;
}

Outcome<engine::Done> Client::put_archive(const std::string& target, const std::string& bytes) const {
  const std::chrono::seconds more(bytes.size() / 1'000'000);
  net::HttpHeaders all = headers();
  all.emplace_back("Content-Type", "application/x-tar");
  const auto response = net::http_request(address_, "PUT", target, bytes, timeout_ + more, all);
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

Outcome<Value> Client::put(const std::string& target, const Value& body) const {
  return ask("PUT", target, engine::compact_json(body), "");
}

Outcome<Value> Client::patch(const std::string& target, const Value& body) const {
  return ask("PATCH", target, engine::compact_json(body), "");
}

Outcome<Value> Client::remove(const std::string& target) const {
  return ask("DELETE", target, "", "");
}

std::string token_target(const std::string& id) {
  return "/api/v1/tokens/" + net::percent_encoded(id);
}

bool is_server_address(const std::string& text) {
  constexpr std::string_view unix_socket = "unix://";
  constexpr std::string_view tls = "https://";
  if (text.starts_with(unix_socket)) {
    return text.size() > unix_socket.size() + 1 && text[unix_socket.size()] == '/';
  }
  std::string_view place = text;
  if (text.starts_with(tls)) {
    place.remove_prefix(tls.size());
    const std::size_t mark = place.find('#');
    if (mark != std::string_view::npos && !is_fingerprint(place.substr(mark + 1))) {
      return false;
    }
    place = place.substr(0, mark);
  }
  const std::size_t colon = place.rfind(':');
  return colon != std::string_view::npos && colon > 0 && colon + 1 < place.size() &&
         place.find('/') == std::string_view::npos &&
         place.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
}

bool is_fingerprint(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string experiment_target(std::uint64_t experiment, const std::string& rest) {
  return "/api/v1/experiments/" + std::to_string(experiment) + rest;
}

}  // namespace hpsearch::cli
