#include "daemon/sign_on/id_token.hpp"

#include <string>

#include "daemon/sign_on/signing_key.hpp"
#include "hpsearch/engine/base/base64url.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;
using engine::Instant;
using engine::Value;
using Kind = SigningKey::Kind;

constexpr std::int64_t noon = 1'800'000'000;

Value claims_for(std::int64_t issued = noon, std::int64_t expires = noon + 300) {
  Value::Map claims;
  claims["iss"] = "https://login.example.org";
  claims["aud"] = "hpsearch";
  claims["sub"] = "7";
  claims["nonce"] = "n";
  claims["iat"] = issued;
  claims["exp"] = expires;
  return claims;
}

Value changed(const char* name, Value value) {
  Value claims = claims_for();
  (*claims.as_map())[name] = std::move(value);
  return claims;
}

std::string problem_of(const Value& claims) {
  const auto checked = check_claims(claims, {"https://login.example.org", "hpsearch", "n"},
                                    Instant::from_micros(noon * 1'000'000));
  return checked ? "" : checked.error().message;
}

std::string unsigned_token(const std::string& header) {
  return engine::base64url_of(header) + "." + engine::base64url_of(engine::compact_json(claims_for())) + ".";
}

TEST(SignedClaims, AreThoseOfATokenThatAKeyOfTheProviderSigned) {
  const SigningKey rsa(Kind::rsa);
  const SigningKey p256(Kind::p256, "b");
  const SigningKey p384(Kind::p384, "c");
  const Value keys = key_set({rsa.jwk(), p256.jwk(), p384.jwk()});
  for (const auto& [key, algorithm] : {std::pair(&rsa, "RS256"), std::pair(&rsa, "PS256"),
                                       std::pair(&p256, "ES256"), std::pair(&p384, "ES384")}) {
    const auto claims = signed_claims(key->sign(claims_for(), algorithm), keys);
    ASSERT_TRUE(claims) << algorithm << ": " << claims.error().message;
    EXPECT_EQ(*claims, claims_for());
    EXPECT_TRUE(signed_claims(key->sign(claims_for(), algorithm, false), keys)) << "without the key's id";
  }
}

TEST(SignedClaims, ChangedTokenIsRefused) {
  const SigningKey key(Kind::p256);
  const std::string token = key.sign(claims_for(), "ES256");
  const std::size_t first = token.find('.');
  const std::size_t second = token.rfind('.');
  const std::string other = engine::base64url_of(engine::compact_json(changed("sub", "8")));
  const auto claims =
      signed_claims(token.substr(0, first + 1) + other + token.substr(second), key_set({key.jwk()}));
  ASSERT_FALSE(claims);
  EXPECT_EQ(claims.error().message, "the signature of the ID token is wrong for the provider's key \"a\"");
}

TEST(SignedClaims, TokenWithoutASignatureIsRefused) {
  const SigningKey key(Kind::p256);
  for (const char* header :
       {R"({"alg":"none"})", R"({"alg":"None","kid":"a"})", R"({"alg":"","kid":"a"})", R"({"kid":"a"})"}) {
    const auto claims = signed_claims(unsigned_token(header), key_set({key.jwk()}));
    ASSERT_FALSE(claims) << header;
    EXPECT_EQ(claims.error().code, Errc::bad_request);
    EXPECT_NE(claims.error().message.find("only RS256, "), std::string::npos) << claims.error().message;
  }
}

TEST(SignedClaims, SymmetricSignatureIsRefused) {
  const SigningKey key(Kind::secret);
  const auto claims = signed_claims(key.sign(claims_for(), "HS256"), key_set({key.jwk(true)}));
  ASSERT_FALSE(claims);
  EXPECT_NE(claims.error().message.find("is signed by \"HS256\""), std::string::npos)
      << claims.error().message;
}

TEST(SignedClaims, KeyOfAnotherKindOrUseIsNotTried) {
  const SigningKey key(Kind::p256);
  const std::string token = key.sign(claims_for(), "ES256");
  for (const auto& [name, value] : {std::pair("use", "enc"), std::pair("alg", "ES384"), std::pair("kid", "b"),
                                    std::pair("crv", "P-384")}) {
    Value jwk = key.jwk();
    (*jwk.as_map())[name] = value;
    const auto claims = signed_claims(token, key_set({jwk}));
    ASSERT_FALSE(claims) << name;
    EXPECT_EQ(claims.error().code, Errc::not_found) << "the provider may have newer keys";
    EXPECT_EQ(claims.error().message,
              "the ID token is signed with the key \"a\", which the provider does not publish");
  }
}

TEST(SignedClaims, ShortRsaKeyIsNotTrusted) {
  const SigningKey key(Kind::weak_rsa);
  EXPECT_FALSE(signed_claims(key.sign(claims_for(), "RS256"), key_set({key.jwk()})));
}

TEST(SignedClaims, OtherTextsAreRefused) {
  const SigningKey key(Kind::p256);
  const std::string critical = unsigned_token(R"({"alg":"ES256","kid":"a","crit":["b64"]})");
  for (const std::string& token :
       {std::string(), std::string("..."), std::string("a.b.c"), unsigned_token(R"({"alg":"ES256"})"),
        critical, std::string(100'000, 'a')}) {
    EXPECT_FALSE(signed_claims(token, key_set({key.jwk()}))) << token.substr(0, 40);
  }
  EXPECT_NE(signed_claims(critical, key_set({key.jwk()})).error().message.find("crit"), std::string::npos);
}

TEST(ClaimsOfAToken, AreForThisClientAndThisSignIn) {
  EXPECT_EQ(problem_of(claims_for()), "");
  EXPECT_EQ(problem_of(changed("aud", Value::List{"hpsearch"})), "");
  Value several = changed("aud", Value::List{"other", "hpsearch"});
  EXPECT_NE(problem_of(several), "") << "it has to name the one it was issued to";
  (*several.as_map())["azp"] = "hpsearch";
  EXPECT_EQ(problem_of(several), "");
  EXPECT_EQ(problem_of(changed("iss", "https://evil.example")),
            "the ID token is from \"https://evil.example\", not from \"https://login.example.org\"");
  EXPECT_EQ(problem_of(changed("aud", "other")),
            "the ID token is for another audience (\"other\"), not for the client \"hpsearch\"");
  EXPECT_NE(problem_of(changed("aud", Value::List{"other"})), "");
  EXPECT_NE(problem_of(changed("aud", nullptr)), "");
  EXPECT_NE(problem_of(changed("azp", "other")), "");
  EXPECT_EQ(problem_of(changed("nonce", "m")), "the ID token belongs to another sign-in (nonce)");
  EXPECT_NE(problem_of(changed("nonce", nullptr)), "");
  EXPECT_EQ(problem_of(changed("sub", "")), "the ID token names no person (sub)");
}

TEST(ClaimsOfAToken, AreOfNowWithAMinuteBetweenClocks) {
  EXPECT_EQ(problem_of(claims_for(noon - 300, noon - 59)), "");
  EXPECT_EQ(
      problem_of(claims_for(noon - 300, noon - 60)),
      "the ID token expired 60 s ago. Sign in again; if it happens again, the clocks of this machine and "
      "of https://login.example.org differ");
  EXPECT_EQ(problem_of(claims_for(noon + 60)), "");
  EXPECT_EQ(problem_of(claims_for(noon + 61)),
            "the ID token is from the future, by 61 s: the clocks of this machine and of "
            "https://login.example.org differ. Set both, as with NTP");
  EXPECT_NE(problem_of(changed("nbf", noon + 600)), "");
  EXPECT_EQ(problem_of(changed("exp", static_cast<double>(noon) + 0.5)), "") << "any JSON number";
  EXPECT_NE(problem_of(changed("exp", nullptr)), "");
  EXPECT_NE(problem_of(changed("iat", "today")), "");
}

}  // namespace
}  // namespace hpsearch::daemon
