#pragma once

#include <cjose/cjose.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::daemon {

/// A key with which a test signs ID tokens as a provider does.
class SigningKey {
 public:
  enum class Kind : std::uint8_t { rsa, weak_rsa, p256, p384, secret };

  explicit SigningKey(Kind kind, std::string id = "a") : id_(std::move(id)) {
    constexpr std::size_t secret_bytes = 32;
    const std::vector<std::uint8_t> secret(secret_bytes, 7);
    switch (kind) {
      case Kind::rsa:
        key_ = cjose_jwk_create_RSA_random(2048, nullptr, 0, &error_);
        break;
      case Kind::weak_rsa:
        key_ = cjose_jwk_create_RSA_random(1024, nullptr, 0, &error_);
        break;
      case Kind::p256:
        key_ = cjose_jwk_create_EC_random(CJOSE_JWK_EC_P_256, &error_);
        break;
      case Kind::p384:
        key_ = cjose_jwk_create_EC_random(CJOSE_JWK_EC_P_384, &error_);
        break;
      case Kind::secret:
        key_ = cjose_jwk_create_oct_spec(secret.data(), secret.size(), &error_);
        break;
    }
    EXPECT_NE(key_, nullptr);
  }
  SigningKey(const SigningKey&) = delete;
  SigningKey& operator=(const SigningKey&) = delete;
  ~SigningKey() { cjose_jwk_release(key_); }

  /// As the provider publishes it; `is_secret`: with its private parts.
  [[nodiscard]] engine::Value jwk(bool is_secret = false) const {
    cjose_err error{};
    char* text = cjose_jwk_to_json(key_, is_secret, &error);
    EXPECT_NE(text, nullptr);
    engine::Value value = *proto::parse_json(text);
    cjose_get_dealloc()(text);
    (*value.as_map())["kid"] = id_;
    return value;
  }

  /// Signs; `names_key`: the header has the id of the key.
  [[nodiscard]] std::string sign(const engine::Value& claims, const char* algorithm,
                                 bool names_key = true) const {
    cjose_err error{};
    cjose_header_t* header = cjose_header_new(&error);
    EXPECT_TRUE(cjose_header_set(header, CJOSE_HDR_ALG, algorithm, &error));
    if (names_key) {
      EXPECT_TRUE(cjose_header_set(header, CJOSE_HDR_KID, id_.c_str(), &error));
    }
    const std::string text = engine::compact_json(claims);
    cjose_jws_t* jws =
        cjose_jws_sign(key_, header, reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), &error);
    const char* token = nullptr;
    EXPECT_TRUE(jws != nullptr && cjose_jws_export(jws, &token, &error)) << error.message;
    const std::string signed_token = token == nullptr ? "" : token;
    cjose_jws_release(jws);
    cjose_header_release(header);
    return signed_token;
  }

 private:
  std::string id_;
  cjose_err error_{};
  cjose_jwk_t* key_ = nullptr;
};

inline engine::Value key_set(std::vector<engine::Value> keys) {
  engine::Value::Map set;
  set["keys"] = engine::Value::List(std::move(keys));
  return set;
}

}  // namespace hpsearch::daemon
