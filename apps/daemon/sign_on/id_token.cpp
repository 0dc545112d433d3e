#include "daemon/sign_on/id_token.hpp"

#include <cjose/cjose.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string_view>

#include "daemon/sign_on/person.hpp"
#include "hpsearch/engine/base/base64url.hpp"
#include "hpsearch/engine/base/text.hpp"
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

constexpr std::size_t most_token_bytes = 64UL * 1024;
constexpr std::size_t least_rsa_bits = 2048;

/// A way to sign (RFC 7518), with the keys that it uses.
struct Algorithm {
  std::string_view name;
  std::string_view key_type;
  std::string_view curve;  ///< "" = its keys have none.
};
constexpr std::array algorithms{
    Algorithm{"RS256", "RSA", ""},     Algorithm{"RS384", "RSA", ""},     Algorithm{"RS512", "RSA", ""},
    Algorithm{"PS256", "RSA", ""},     Algorithm{"PS384", "RSA", ""},     Algorithm{"PS512", "RSA", ""},
    Algorithm{"ES256", "EC", "P-256"}, Algorithm{"ES384", "EC", "P-384"}, Algorithm{"ES512", "EC", "P-521"}};

struct Release {
  void operator()(cjose_jws_t* jws) const { cjose_jws_release(jws); }
  void operator()(cjose_jwk_t* key) const { cjose_jwk_release(key); }
};
using Jws = std::unique_ptr<cjose_jws_t, Release>;
using Jwk = std::unique_ptr<cjose_jwk_t, Release>;

Error unacceptable(const std::string& why) {
  return {Errc::bad_request, "the ID token " + why};
}

std::string in_quotes(std::string_view text) {
  return '"' + foreign_text(text) + '"';
}

std::string_view text_of(const Value& map, std::string_view name) {
  const Value* member = map.as_map() == nullptr ? nullptr : map.as_map()->find(name);
  return member == nullptr || member->as_text() == nullptr ? std::string_view() : *member->as_text();
}

struct Header {
  const Algorithm* algorithm = nullptr;
  std::string key_id;  ///< "" = the token names none.
};

Result<Header> read_header(const std::string& token) {
  const auto bytes = engine::bytes_of_base64url(std::string_view(token).substr(0, token.find('.')));
  const auto header = bytes ? proto::parse_json(*bytes) : Result<Value>(unacceptable("has no header"));
  if (!header || header->as_map() == nullptr || token.size() > most_token_bytes) {
    return unacceptable("is none: it has no header that can be read, or it is longer than 64 KiB");
  }
  const std::string_view name = text_of(*header, "alg");
  const auto found = std::find_if(algorithms.begin(), algorithms.end(),
                                  [name](const Algorithm& one) { return one.name == name; });
  if (found == algorithms.end()) {
    return unacceptable(
        "is signed by " + in_quotes(name) +
        "; only RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384 and ES512 are accepted");
  }
  if (header->as_map()->contains("crit")) {
    return unacceptable("needs an extension (crit) that is not supported");
  }
  return Header{&*found, std::string(text_of(*header, "kid"))};
}

/// Whether the key is one for such a signature, by what its JWK says.
bool is_for(const Value& key, const Header& header) {
  const std::string_view use = text_of(key, "use");
  const std::string_view name = text_of(key, "alg");
  return text_of(key, "kty") == header.algorithm->key_type &&
         text_of(key, "crv") == header.algorithm->curve && (use.empty() || use == "sig") &&
         (name.empty() || name == header.algorithm->name) &&
         (header.key_id.empty() || text_of(key, "kid") == header.key_id);
}

/// The public part of a key. Null: it is none that can be used.
Jwk public_key(const Value& key) {
  Value::Map parts;
  for (const std::string_view name : {"kty", "n", "e", "crv", "x", "y"}) {
    if (const Value* part = key.as_map()->find(name)) {
      parts[name] = *part;
    }
  }
  const std::string text = engine::compact_json(Value(std::move(parts)));
  cjose_err error{};
  Jwk made(cjose_jwk_import(text.data(), text.size(), &error));
  const bool is_weak = made != nullptr && cjose_jwk_get_kty(made.get(), &error) == CJOSE_JWK_KTY_RSA &&
                       cjose_jwk_get_keysize(made.get(), &error) < least_rsa_bits;
  return is_weak ? nullptr : std::move(made);
}

/// The payload, if the key verifies it.
std::optional<std::string> payload_by(const std::string& token, const Header& header, const Value& key) {
  cjose_err error{};
  const Jwk verifying = public_key(key);
  const Jws jws(verifying == nullptr ? nullptr : cjose_jws_import(token.data(), token.size(), &error));
  if (jws == nullptr) {
    return std::nullopt;
  }
  const char* name = cjose_header_get(cjose_jws_get_protected(jws.get()), CJOSE_HDR_ALG, &error);
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  if (name == nullptr || name != header.algorithm->name ||
      !cjose_jws_verify(jws.get(), verifying.get(), &error) ||
      !cjose_jws_get_plaintext(jws.get(), &bytes, &size, &error)) {
    return std::nullopt;
  }
  return std::string(reinterpret_cast<const char*>(bytes), size);
}

/// Seconds since the epoch. Null: the claims have no such number.
std::optional<double> time_of(const Value& claims, std::string_view name) {
  const Value* time = claims.as_map()->find(name);
  return time != nullptr && time->is_number() ? std::optional(time->number_or(0)) : std::nullopt;
}

std::string whole_seconds(double seconds) {
  return std::to_string(std::llround(std::clamp(seconds, 0.0, 1e15))) + " s";
}

bool is_for_client(const Value& claims, const std::string& client) {
  const Value* audience = claims.as_map()->find("aud");
  const Value::List* list = audience == nullptr ? nullptr : audience->as_list();
  const std::string_view party = text_of(claims, "azp");
  const bool names_client = list == nullptr
                                ? text_of(claims, "aud") == client
                                : std::any_of(list->begin(), list->end(), [&client](const Value& one) {
                                    return one.as_text() != nullptr && *one.as_text() == client;
                                  });
  const bool has_others = list != nullptr && list->size() > 1;
  return names_client && (party == client || (party.empty() && !has_others));
}

Status check_times(const Value& claims, const std::string& issuer, Instant now) {
  const double seconds = static_cast<double>(now.micros()) / 1e6;
  const double leeway = clock_leeway.in_seconds();
  const auto expires = time_of(claims, "exp");
  const auto issued = time_of(claims, "iat");
  if (!expires || !issued) {
    return unacceptable("does not say when it was issued and when it expires (iat, exp)");
  }
  const double begins = std::max(*issued, time_of(claims, "nbf").value_or(*issued));
  if (begins > seconds + leeway) {
    return unacceptable("is from the future, by " + whole_seconds(begins - seconds) +
                        ": the clocks of this machine and of " + issuer + " differ. Set both, as with NTP");
  }
  if (*expires <= seconds - leeway) {
    return unacceptable("expired " + whole_seconds(seconds - *expires) +
                        " ago. Sign in again; if it happens again, the clocks of this machine and of " +
                        issuer + " differ");
  }
  return Done{};
}

}  // namespace

Result<Value> signed_claims(const std::string& token, const Value& keys) {
  const auto header = read_header(token);
  if (!header) {
    return header.error();
  }
  const Value* listed = keys.as_map() == nullptr ? nullptr : keys.as_map()->find("keys");
  if (listed == nullptr || listed->as_list() == nullptr) {
    return Error{Errc::unavailable, "the keys of the provider are no JWK set"};
  }
  bool has_fitting = false;
  for (const Value& key : *listed->as_list()) {
    if (!is_for(key, *header)) {
      continue;
    }
    has_fitting = true;
    const auto payload = payload_by(token, *header, key);
    if (!payload) {
      continue;
    }
    const auto claims = proto::parse_json(*payload);
    return claims && claims->as_map() != nullptr ? claims : unacceptable("has no claims");
  }
  const std::string of_key = header->key_id.empty() ? "" : " " + in_quotes(header->key_id);
  return Error{Errc::not_found, has_fitting
                                    ? "the signature of the ID token is wrong for the provider's key" + of_key
                                    : "the ID token is signed with the key" + of_key +
                                          ", which the provider does not publish"};
}

Status check_claims(const Value& claims, const ExpectedClaims& expected, Instant now) {
  if (text_of(claims, "iss") != expected.issuer) {
    return unacceptable("is from " + in_quotes(text_of(claims, "iss")) + ", not from " +
                        in_quotes(expected.issuer));
  }
  if (!is_for_client(claims, expected.client_id)) {
    const Value* audience = claims.as_map()->find("aud");
    return unacceptable(
        "is for another audience (" +
        (audience == nullptr ? std::string("none") : foreign_text(engine::compact_json(*audience))) +
        "), not for the client " + in_quotes(expected.client_id));
  }
  if (text_of(claims, "nonce") != expected.nonce) {
    return unacceptable("belongs to another sign-in (nonce)");
  }
  if (text_of(claims, "sub").empty()) {
    return unacceptable("names no person (sub)");
  }
  return check_times(claims, expected.issuer, now);
}

}  // namespace hpsearch::daemon
