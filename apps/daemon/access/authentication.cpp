#include "daemon/access/authentication.hpp"

#include <optional>
#include <utility>

#include "daemon/access/session_cookie.hpp"
#include "daemon/http/http_answers.hpp"
#include "daemon/sign_on/machine_names.hpp"
#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Duration;
using engine::Instant;
using net::HttpResponse;

constexpr Duration failures_counted_for = Duration::seconds(60);
constexpr std::string_view scheme = "Bearer ";

constexpr const char* wrong_token = "the token is wrong, has expired or was revoked";

Caller caller_of_token(const TokenRecord& token) {
  Caller caller{token.role, "token " + token.name, token.id, false};
  caller.token_hash = token.hash;
  caller.unix_user = token.unix_user;
  caller.scope = Scope(token.workspaces);
  return caller;
}

/// "" if the machine has no such user.
std::string user_name(std::uint32_t uid) {
  const auto user = user_with_uid(uid);
  return user ? user->name : "";
}

Caller caller_of_person(const std::string& name, Rights rights) {
  Caller caller{rights.role, "user " + name, "", false};
  caller.scope = std::move(rights.scope);
  caller.person = name;
  caller.may_make_tokens = false;
  return caller;
}

}  // namespace

HttpResponse unauthorized(const std::string& why) {
  HttpResponse response = refusal(401, why);
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

HttpResponse token_needed() {
  return unauthorized(
      "a token is needed here (Authorization: Bearer hps_...); on the daemon's machine its user makes one: "
      "hpsearch token "
      "create");
}

std::string owner_name(const Caller& caller) {
  static constexpr std::string_view before_token = "token ";
  if (!caller.person.empty()) {
    return caller.person;
  }
  if (caller.name.starts_with(before_token)) {
    return caller.name.substr(before_token.size());
  }
  if (!caller.uid) {
    return caller.name;
  }
  std::string name = user_name(*caller.uid);
  return name.empty() ? caller.name : name;
}

std::string unix_user_of(const Caller& caller) {
  return caller.token_id.empty() && caller.uid ? user_name(*caller.uid) : caller.unix_user;
}

std::string key_owner(const Caller& caller) {
  return caller.token_id.empty() ? caller.name : caller.token_id;
}

std::string actor_of(const Caller& caller) {
  if (!caller.token_id.empty() || !caller.person.empty()) {
    return owner_name(caller);
  }
  return caller.uid ? "uid:" + std::to_string(*caller.uid) : "";
}

std::string_view bearer_of(const net::HttpRequest& request) noexcept {
  const std::string_view shown = request.header("Authorization");
  return shown.starts_with(scheme) ? shown.substr(scheme.size()) : std::string_view();
}

std::variant<Caller, HttpResponse> Authentication::caller_of(const net::HttpRequest& request, Instant now) {
  const auto person = person_in(request, rules_.proxy);
  if (!person) {
    return refusal(403, person.error().message);
  }
  const bool is_proxy = rules_.proxy.is_from(request.peer);
  if (request.peer.uid && !is_proxy) {
    return caller_over_socket(request.peer, now);
  }
  const std::string_view shown = request.header("Authorization");
  if (*person && shown.empty()) {
    return caller_of(**person);
  }
  if (shown.empty()) {
    if (std::optional<Caller> caller = signed_in(request, now)) {
      return *std::move(caller);
    }
    return rules_.open ? Caller{Role::admin, "anyone", "", false} : Caller{};
  }
  const std::string_view key = bearer_of(request);
  if (const std::optional<Token> token = read_token(key)) {
    if (const std::optional<TokenRecord> record = tokens_.find(*token, now)) {
      note_use(*record, now);
      return caller_of_token(*record);
    }
  } else if (is_worker_key_ && is_worker_key_(key)) {
    return Caller{Role::worker, "worker", "", false};
  }
  return refused(request.peer.name, wrong_token, now);
}

std::variant<Caller, HttpResponse> Authentication::caller_over_socket(const net::HttpPeer& peer,
                                                                      Instant now) {
  if (const auto role = role_of_user(*peer.uid, now)) {
    return Caller{*role, peer.name, "", is_owner(*peer.uid), peer.uid};
  }
  std::string others;
  for (const GroupRole& one : rules_.groups) {
    others += (others.empty() ? ", and members of " : ", ") + one.name;
  }
  return refusal(403, peer.name + " may not use this daemon: only its own user and root may" + others);
}

std::variant<Caller, HttpResponse> Authentication::caller_of(const Person& person) const {
  std::optional<Rights> rights = roles_.rights_of(person.groups);
  if (!rights) {
    return refusal(403, no_role_for(person));
  }
  return caller_of_person(person.name, *std::move(rights));
}

void Authentication::use_roles(RoleTable roles, std::string issuer) {
  roles_ = std::move(roles);
  issuer_ = std::move(issuer);
}

std::optional<Role> Authentication::role_of_user(std::uint32_t uid, Instant now) {
  return is_owner(uid) ? Role::admin : groups_.role_of(uid, now);
}

std::optional<Caller> Authentication::signed_in(const net::HttpRequest& request, Instant now) {
  const std::string_view secret = session_secret_of(request);
  const std::string_view page_key = request.header(page_key_header);
  const auto session = sessions_ == nullptr || secret.empty() || page_key.empty()
                           ? std::nullopt
                           : sessions_->find(secret, page_key, now);
  if (!session) {
    return std::nullopt;
  }
  Caller caller{session->who.role, session->who.name, "", false, session->who.uid};
  if (!session->who.token_id.empty()) {
    const auto token = tokens_.find_again(session->who.token_id, session->who.token_hash, now);
    if (!token) {
      return std::nullopt;
    }
    caller = caller_of_token(*token);
  } else if (!session->who.issuer.empty()) {
    std::optional<Rights> rights =
        session->who.issuer == issuer_ ? roles_.rights_of(session->who.groups) : std::nullopt;
    if (!rights) {
      return std::nullopt;  // The table has no row for the person any more.
    }
    caller = caller_of_person(session->who.name, *std::move(rights));
  } else if (caller.uid) {
    const auto role = role_of_user(*caller.uid, now);
    if (!role) {
      return std::nullopt;  // The user left the group that had the role.
    }
    caller.role = *role;
  }
  caller.session = session->hash;
  caller.may_make_tokens = session->who.makes_tokens;
  return caller;
}

std::variant<Caller, HttpResponse> Authentication::caller_with(const std::string& token,
                                                               const net::HttpRequest& request, Instant now) {
  const std::optional<Token> read = read_token(token);
  const std::optional<TokenRecord> record = read ? tokens_.find(*read, now) : std::nullopt;
  if (!record) {
    return refused(request.peer.name, wrong_token, now);
  }
  note_use(*record, now);
  return caller_of_token(*record);
}

HttpResponse Authentication::wrong_code(const net::HttpRequest& request, Instant now) {
  return refused(request.peer.name,
                 "the code is wrong, was used or is older than a minute; hpsearch open makes another one",
                 now);
}

void Authentication::note_use(const TokenRecord& token, Instant now) {
  const std::int64_t today = Tokens::day_of(now);
  if (on_use_ && token.used < today && std::exchange(noted_[token.id], today) != today) {
    on_use_(token.id);
  }
}

HttpResponse Authentication::refused(const std::string& address, const std::string& why, Instant now) {
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
    return unauthorized(why);
  }
  HttpResponse response = refusal(429, "too many wrong tokens came from " + address + "; try again later");
  const double seconds = (failures.since + failures_counted_for - now).in_seconds();
  response.headers.emplace_back("Retry-After", std::to_string(static_cast<int>(seconds) + 1));
  return response;
}

}  // namespace hpsearch::daemon
