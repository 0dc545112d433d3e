#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/sign_on/provider.hpp"
#include "daemon/sign_on/signing_key.hpp"

namespace hpsearch::daemon {

/// An OpenID provider that answers what a test wants.
class ScriptedProvider {
 public:
  static constexpr std::int64_t noon = 1'800'000'000;  ///< Its clock, in seconds, unless `now` is set.

  [[nodiscard]] static ProviderSettings settings() {
    ProviderSettings settings;
    settings.name = "Example";
    settings.issuer = "https://login.example.org";
    settings.client_id = "hp search";
    settings.client_secret = "s/cret";
    settings.pages = "https://hpsearch.example.org/ui";
    return settings;
  }

  [[nodiscard]] Provider::Ask ask() {
    return [this](const ProviderRequest& request) { return answer(request); };
  }

  /// The parameters of an address or a form, decoded.
  [[nodiscard]] static std::map<std::string, std::string> query_of(const std::string& text) {
    std::map<std::string, std::string> fields;
    std::size_t at = text.find('?') == std::string::npos ? 0 : text.find('?') + 1;
    while (at < text.size()) {
      const std::size_t end = std::min(text.find('&', at), text.size());
      const std::string field = text.substr(at, end - at);
      const std::size_t equals = std::min(field.find('='), field.size() - 1);
      fields[field.substr(0, equals)] = decoded(field.substr(equals + 1));
      at = end + 1;
    }
    return fields;
  }

  /// The person signs in at that address; the browser comes back with this.
  [[nodiscard]] Provider::Answer answer_to(const std::string& address, const std::string& key) {
    const auto query = query_of(address);
    nonce = query.at("nonce");
    challenge = query.at("code_challenge");
    return {query.at("state"), "code-1", key};
  }

  void change_key(const std::string& id) {
    key_ = std::make_unique<SigningKey>(SigningKey::Kind::p256, id);
    if (publishes_keys) {
      published_ = key_set({key_->jwk()});
    }
  }

  // How it answers.
  std::string issuer = "https://login.example.org";
  std::string token_endpoint = "https://login.example.org/token";
  std::vector<std::string> ways{"client_secret_basic", "client_secret_post"};
  engine::Value::Map claims;  ///< Instead of the usual ones.
  engine::Value::Map claims_of_userinfo;
  bool leaves_out_nulls = false;  ///< A claim that is null is not in the token.
  bool publishes_keys = true;
  std::string fails_with;   ///< "" = it can be reached.
  std::string token_error;  ///< "" = it gives tokens.
  std::int64_t now = noon;

  // The requests that it got.
  std::string nonce;
  std::string challenge;
  std::map<std::string, std::string> form;
  std::string authorization;
  int keys_asked = 0;
  int tokens_asked = 0;

 private:
  static std::string decoded(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool is_code = text[i] == '%' && i + 2 < text.size();
      out += is_code ? static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16)) : text[i];
      i += is_code ? 2 : 0;
    }
    return out;
  }

  static net::HttpResponse with(unsigned status, const engine::Value& value) {
    net::HttpResponse response;
    response.status = status;
    response.body = engine::compact_json(value);
    return response;
  }

  engine::Result<net::HttpResponse> answer(const ProviderRequest& request) {
    if (!fails_with.empty()) {
      return engine::Error{engine::Errc::unavailable, fails_with};
    }
    EXPECT_EQ(request.url.address, "https://login.example.org:443");
    if (request.url.target == "/.well-known/openid-configuration") {
      return with(200, description());
    }
    if (request.url.target == "/keys") {
      ++keys_asked;
      return with(200, published_);
    }
    authorization.clear();
    for (const auto& [name, value] : request.headers) {
      authorization = name == "Authorization" ? value : authorization;
    }
    if (request.url.target == "/userinfo") {
      return with(200, engine::Value(claims_of_userinfo));
    }
    EXPECT_EQ(request.url.target, "/token");
    ++tokens_asked;
    form = query_of(request.form);
    engine::Value::Map tokens;
    if (!token_error.empty()) {
      tokens["error"] = token_error;
      return with(400, engine::Value(tokens));
    }
    tokens["access_token"] = "access-1";
    tokens["id_token"] = key_->sign(all_claims(), "ES256");
    return with(200, engine::Value(tokens));
  }

  [[nodiscard]] engine::Value description() const {
    engine::Value::List all;
    for (const std::string& way : ways) {
      all.emplace_back(way);
    }
    engine::Value::Map described;
    described["issuer"] = issuer;
    described["authorization_endpoint"] = "https://login.example.org/authorize?tenant=1";
    described["token_endpoint"] = token_endpoint;
    described["userinfo_endpoint"] = "https://login.example.org/userinfo";
    described["jwks_uri"] = "https://login.example.org/keys";
    described["token_endpoint_auth_methods_supported"] = std::move(all);
    return described;
  }

  [[nodiscard]] engine::Value all_claims() const {
    engine::Value::Map all;
    all["iss"] = "https://login.example.org";
    all["aud"] = "hp search";
    all["sub"] = "7";
    all["iat"] = now;
    all["exp"] = now + 600;
    all["nonce"] = nonce;
    all["email"] = "ann@example.org";
    all["groups"] = engine::Value::List{"nlp"};
    for (const auto& [name, value] : claims) {
      all[name] = value;
      if (leaves_out_nulls && value.is_null()) {
        all.erase(name);
      }
    }
    return all;
  }

  std::unique_ptr<SigningKey> key_ = std::make_unique<SigningKey>(SigningKey::Kind::p256, "a");
  engine::Value published_ = key_set({key_->jwk()});
};

}  // namespace hpsearch::daemon
