#include "daemon/access/authentication.hpp"

#include <optional>
#include <utility>

#include "daemon/http_answers.hpp"
#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Duration;
using engine::Instant;
using net::HttpResponse;

constexpr Duration failures_counted_for = Duration::seconds(60);
constexpr std::string_view scheme = "Bearer ";

HttpResponse unauthorized(const std::string& why) {
  HttpResponse response = refusal(401, why);
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

}  // namespace

HttpResponse token_needed() {
  return unauthorized(
      "a token is needed here (Authorization: Bearer hps_...); on the daemon's machine its user makes one: "
      "hpsearch token "
      "create");
}

std::string_view bearer_of(const net::HttpRequest& request) noexcept {
  const std::string_view shown = request.header("Authorization");
  return shown.starts_with(scheme) ? shown.substr(scheme.size()) : std::string_view();
}

std::variant<Caller, HttpResponse> Authentication::caller_of(const net::HttpRequest& request, Instant now) {
  if (request.peer.uid) {
    if (*request.peer.uid == 0 || *request.peer.uid == rules_.owner) {
      return Caller{Role::admin, request.peer.name, "", true};
    }
    return refusal(403, request.peer.name + " may not use this daemon: only its own user and root may");
  }
  const std::string_view shown = request.header("Authorization");
  if (shown.empty()) {
    return rules_.open ? Caller{Role::admin, "anyone", "", false} : Caller{};
  }
  const std::string_view key = bearer_of(request);
  if (const std::optional<Token> token = read_token(key)) {
    if (const std::optional<TokenRecord> record = tokens_.find(*token, now)) {
      note_use(*record, now);
      return Caller{record->role, "token " + record->name, record->id, false};
    }
  } else if (is_worker_key_ && is_worker_key_(key)) {
    return Caller{Role::worker, "worker", "", false};
  }
  return refused(request.peer.name, now);
}

void Authentication::note_use(const TokenRecord& token, Instant now) {
  const std::int64_t today = Tokens::day_of(now);
  if (on_use_ && token.used < today && std::exchange(noted_[token.id], today) != today) {
    on_use_(token.id);
  }
}

HttpResponse Authentication::refused(const std::string& address, Instant now) {
  if (failures_.size() >= most_addresses && !failures_.contains(address)) {
    std::erase_if(failures_,
                  [now](const auto& one) { return one.second.since + failures_counted_for <= now; });
    if (failures_.size() >= most_addresses) {
      failures_.erase(failures_.begin());
    }
  }
  Failures& failures = failures_[address];
  if (failures.since + failures_counted_for <= now) {
    failures = {now, 0};
  }
  if (++failures.count <= failures_a_minute) {
    return unauthorized("the token is wrong, has expired or was revoked");
  }
  HttpResponse response = refusal(429, "too many wrong tokens came from " + address + "; try again later");
  const double seconds = (failures.since + failures_counted_for - now).in_seconds();
  response.headers.emplace_back("Retry-After", std::to_string(static_cast<int>(seconds) + 1));
  return response;
}

}  // namespace hpsearch::daemon
