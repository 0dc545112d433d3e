#include "daemon/sign_on/provider.hpp"

#include <sodium.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "hpsearch/io/http/tls_request.hpp"
#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Instant;
using engine::Result;
using engine::Status;
using engine::Value;

constexpr std::chrono::seconds patience{10};
constexpr std::uint64_t most_answer_bytes = 1024UL * 1024;
constexpr std::size_t most_groups = 1'000;
constexpr const char* discovery = "/.well-known/openid-configuration";

/// The member as a text; "" if it is none.
std::string text_of(const Value& map, std::string_view name) {
  const Value* member = map.as_map() == nullptr ? nullptr : map.as_map()->find(name);
  return member == nullptr || member->as_text() == nullptr ? "" : *member->as_text();
}

bool lists(const Value* list, std::string_view word) {
  return list != nullptr && list->as_list() != nullptr &&
         std::any_of(list->as_list()->begin(), list->as_list()->end(),
                     [word](const Value& one) { return one.as_text() != nullptr && *one.as_text() == word; });
}

std::string form_of(const std::vector<std::pair<std::string_view, std::string>>& fields) {
  std::string form;
  for (const auto& [name, value] : fields) {
    form += (form.empty() ? "" : "&") + std::string(name) + "=" + net::percent_encoded(value);
  }
  return form;
}

std::string base64_of(std::string_view bytes) {
  std::string text(sodium_base64_encoded_len(bytes.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()),
                    bytes.size(), sodium_base64_VARIANT_ORIGINAL);
  text.pop_back();  // The zero at its end.
  return text;
}

/// A claim by its name, which may have points, else by a path.
const Value* claim(const Value& claims, const std::string& name) {
  const Value* whole = claims.as_map()->find(name);
  return whole != nullptr ? whole : claims.at_path(name);
}

/// A list of texts, or one text.
std::vector<std::string> texts_in(const Value* value) {
  std::vector<std::string> texts;
  if (value != nullptr && value->as_text() != nullptr) {
    texts.push_back(*value->as_text());
  }
  if (value != nullptr && value->as_list() != nullptr) {
    for (const Value& one : *value->as_list()) {
      if (one.as_text() != nullptr && texts.size() < most_groups) {
        texts.push_back(*one.as_text());
      }
    }
  }
  return texts;
}

}  // namespace

Result<net::HttpResponse> ask_provider(const ProviderRequest& request) {
  net::HttpHeaders headers = request.headers;
  headers.emplace_back("Accept", "application/json");
  if (!request.form.empty()) {
    headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
  }
  return net::tls_request(request.url.address, request.form.empty() ? "GET" : "POST", request.url.target,
                          request.form, patience, headers, {most_answer_bytes},
                          {.authorities = request.authorities});
}

/// An answer in JSON, also one that refuses.
Result<Value> Provider::ask(ProviderRequest request, const std::string& what) const {
  request.authorities = settings_.authorities;
  const auto answer = ask_(request);
  if (!answer) {
    return Error{Errc::unavailable,
                 settings_.issuer + " can't be reached for " + what + ": " + answer.error().message};
  }
  const auto value = proto::parse_json(answer->body);
  const bool is_map = value && value->as_map() != nullptr;
  if (is_map && (answer->status == 200 || !text_of(*value, "error").empty())) {
    return *value;
  }
  return Error{Errc::unavailable, settings_.issuer + " answered " + std::to_string(answer->status) +
                                      (is_map ? "" : " without a JSON object") + " for " + what};
}

Result<Provider::Services> Provider::read_services() const {
  Url place = *read_provider_url(settings_.issuer);
  place.target.erase(place.target.find_last_not_of('/') + 1);
  place.target += discovery;
  const auto read = ask({.url = place}, "its description");
  if (!read) {
    return read.error();
  }
  if (const std::string issuer = text_of(*read, "issuer"); issuer != settings_.issuer) {
    return Error{Errc::unavailable, "provider.issuer is \"" + settings_.issuer +
                                        "\", but the description there is of \"" + foreign_text(issuer) +
                                        "\"; both have to be the same, letter by letter"};
  }
  Services found;
  std::string wrong;
  const auto service = [&](const char* name) {
    const auto url = read_provider_url(text_of(*read, name));
    wrong = url || !wrong.empty() ? wrong : name;
    return url.value_or(Url{});
  };
  found.authorization = service("authorization_endpoint");
  found.authorization_text = text_of(*read, "authorization_endpoint");
  found.token = service("token_endpoint");
  found.keys = service("jwks_uri");
  found.userinfo = read_provider_url(text_of(*read, "userinfo_endpoint"));
  if (!wrong.empty()) {
    return Error{Errc::unavailable, "the description of " + settings_.issuer + " has as " + wrong + " \"" +
                                        foreign_text(text_of(*read, wrong)) +
                                        "\", which is no address with TLS"};
  }
  const Value* ways = read->as_map()->find("token_endpoint_auth_methods_supported");
  found.takes_secret_in_form = lists(ways, "client_secret_post") && !lists(ways, "client_secret_basic");
  return found;
}

Result<Provider::Services> Provider::services(Instant now) {
  const std::scoped_lock lock(mutex_);
  if (services_ && now < services_at_ + kept_for) {
    return *services_;
  }
  if (failure_ && now < failed_at_ + least_pause) {
    return *failure_;
  }
  auto read = read_services();
  if (!read) {
    failure_ = read.error();
    failed_at_ = now;
    return services_ ? Result<Services>(*services_) : read;
  }
  failure_.reset();
  services_ = *read;
  services_at_ = now;
  return read;
}

Result<Provider::Begun> Provider::begin(Instant now) {
  const auto found = services(now);
  if (!found) {
    return found.error();
  }
  const SignInState begun = states_.begin(now);
  std::string scopes;
  for (const std::string& scope : settings_.scopes) {
    scopes += (scopes.empty() ? "" : " ") + scope;
  }
  const std::string& place = found->authorization_text;
  return Begun{place + (place.find('?') == std::string::npos ? "?" : "&") +
                   form_of({{"response_type", "code"},
                            {"client_id", settings_.client_id},
                            {"redirect_uri", redirect()},
                            {"scope", scopes},
                            {"state", begun.state},
                            {"nonce", begun.nonce},
                            {"code_challenge", begun.challenge()},
                            {"code_challenge_method", "S256"}}),
               begun.key};
}

Result<Value> Provider::tokens_for(const std::string& code, const std::string& verifier,
                                   const Services& services) const {
  std::vector<std::pair<std::string_view, std::string>> fields{{"grant_type", "authorization_code"},
                                                               {"code", code},
                                                               {"redirect_uri", redirect()},
                                                               {"code_verifier", verifier}};
  ProviderRequest request{.url = services.token};
  if (settings_.client_secret.empty() || services.takes_secret_in_form) {
    fields.emplace_back("client_id", settings_.client_id);
  }
  if (!settings_.client_secret.empty() && services.takes_secret_in_form) {
    fields.emplace_back("client_secret", settings_.client_secret);
  } else if (!settings_.client_secret.empty()) {
    request.headers.emplace_back("Authorization",
                                 "Basic " + base64_of(net::percent_encoded(settings_.client_id) + ":" +
                                                      net::percent_encoded(settings_.client_secret)));
  }
  request.form = form_of(fields);
  auto tokens = ask(std::move(request), "a token");
  if (!tokens) {
    return tokens.error();
  }
  const std::string error = text_of(*tokens, "error");
  if (error == "invalid_client" || error == "unauthorized_client") {
    return Error{Errc::unavailable, settings_.issuer + " does not accept this daemon as its client \"" +
                                        settings_.client_id + "\" (" + error +
                                        "); client_id or client_secret_file is wrong"};
  }
  if (!error.empty()) {
    const std::string why = text_of(*tokens, "error_description");
    return Error{Errc::bad_request, settings_.issuer + " refused the sign-in: " + foreign_text(error) +
                                        (why.empty() ? "" : ", " + foreign_text(why)) + ". Begin again"};
  }
  return tokens;
}

Result<Value> Provider::claims_of(const std::string& token, const Services& services, Instant now) {
  const std::scoped_lock lock(mutex_);
  Result<Value> claims = Error{Errc::not_found, ""};
  if (keys_ && now < keys_at_ + kept_for) {
    claims = signed_claims(token, *keys_);
    if (claims || claims.error().code != Errc::not_found || now < keys_at_ + least_pause) {
      return claims;
    }
  }
  // The provider may have changed its keys since.
  auto keys = ask({.url = services.keys}, "its keys");
  if (!keys) {
    return keys.error();
  }
  keys_ = *std::move(keys);
  keys_at_ = now;
  return signed_claims(token, *keys_);
}

/// Some providers leave groups out of ID tokens.
Status Provider::add_userinfo(Value& claims, const Value& tokens, const Services& services) const {
  const bool is_whole =
      claim(claims, settings_.groups_claim) != nullptr && claim(claims, settings_.name_claim) != nullptr;
  const std::string access = text_of(tokens, "access_token");
  if (is_whole || !services.userinfo || access.empty()) {
    return Done{};
  }
  const auto more = ask({.url = *services.userinfo, .headers = {{"Authorization", "Bearer " + access}}},
                        "the person's claims");
  if (!more) {
    return more.error();
  }
  if (const std::string error = text_of(*more, "error"); !error.empty()) {
    return Error{Errc::unavailable,
                 settings_.issuer + " refused the person's claims: " + foreign_text(error)};
  }
  if (text_of(*more, "sub") != text_of(claims, "sub")) {
    return Error{Errc::bad_request,
                 settings_.issuer + " returned the claims of another person than the ID token names"};
  }
  for (const auto& [name, value] : *more->as_map()) {
    if (!claims.as_map()->contains(name)) {
      (*claims.as_map())[name] = value;
    }
  }
  return Done{};
}

Result<Person> Provider::person_of(const Value& claims, Instant now) const {
  const Value* name = claim(claims, settings_.name_claim);
  const std::string text = name == nullptr || name->as_text() == nullptr ? "" : *name->as_text();
  if (!is_person_name(text)) {
    return Error{Errc::bad_request, "the claim " + settings_.name_claim + " of the ID token is " +
                                        (name == nullptr ? "missing" : '"' + foreign_text(text) + '"') +
                                        "; it has to be a name: " + person_name_rule};
  }
  const Value* verified = claims.as_map()->find("email_verified");
  const bool is_unverified = verified != nullptr && (verified->as_bool() == nullptr || !*verified->as_bool());
  if (settings_.name_claim == "email" && is_unverified) {
    return Error{Errc::bad_request,
                 settings_.issuer + " has not verified the address " + text + " (email_verified)"};
  }
  return Person{text, texts_in(claim(claims, settings_.groups_claim)), now + settings_.session};
}

Result<Person> Provider::finish(const Answer& answer, Instant now) {
  const auto begun = states_.find(answer.state, answer.key, now);
  if (!begun) {
    return Error{
        Errc::bad_request,
        "this sign-in did not begin here in the last 10 minutes, or in another browser; begin again"};
  }
  const auto found = services(now);
  if (!found) {
    return found.error();
  }
  const auto tokens = tokens_for(answer.code, begun->verifier, *found);
  if (!tokens) {
    return tokens.error();
  }
  const std::string token = text_of(*tokens, "id_token");
  if (token.empty()) {
    return Error{Errc::unavailable, settings_.issuer + " answered without an ID token"};
  }
  auto claims = claims_of(token, *found, now);
  if (!claims) {
    return claims.error().code == Errc::not_found ? Error{Errc::bad_request, claims.error().message}
                                                  : claims.error();
  }
  if (const Status right = check_claims(*claims, {settings_.issuer, settings_.client_id, begun->nonce}, now);
      !right) {
    return right.error();
  }
  if (const Status added = add_userinfo(*claims, *tokens, *found); !added) {
    return added.error();
  }
  return person_of(*claims, now);
}

}  // namespace hpsearch::daemon
