#include "daemon/sign_on/provider.hpp"

#include <map>
#include <string>
#include <vector>

#include "daemon/sign_on/scripted_provider.hpp"
#include "daemon/sign_on/signing_key.hpp"
#include "hpsearch/engine/base/base64url.hpp"
#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/io/files/sha256.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Duration;
using engine::Errc;
using engine::Instant;
using engine::Value;

constexpr Instant noon = Instant::from_micros(ScriptedProvider::noon * 1'000'000);

class SignInAtAProvider : public testing::Test {
 protected:
  /// Begins, and returns from the provider.
  engine::Result<Person> sign_in(Instant now = noon) {
    const auto begun = provider_.begin(now);
    EXPECT_TRUE(begun) << begun.error().message;
    return begun ? provider_.finish(server_.answer_to(begun->address, begun->key), now)
                 : engine::Result<Person>(begun.error());
  }
  std::string problem(Instant now = noon) {
    const auto person = sign_in(now);
    return person ? "" : person.error().message;
  }

  ScriptedProvider server_;
  Provider provider_{ScriptedProvider::settings(), server_.ask()};
};

TEST_F(SignInAtAProvider, NamesThePersonWithItsGroups) {
  const auto person = sign_in();
  ASSERT_TRUE(person) << person.error().message;
  EXPECT_EQ(person->name, "ann@example.org");
  EXPECT_EQ(person->groups, std::vector<std::string>{"nlp"});
  EXPECT_EQ(person->until, noon + Duration::seconds(12LL * 3600));
}

TEST_F(SignInAtAProvider, SendsABrowserWithPkceStateAndNonce) {
  const auto first = provider_.begin(noon);
  const auto second = provider_.begin(noon);
  ASSERT_TRUE(first && second);
  const auto query = ScriptedProvider::query_of(first->address);
  EXPECT_TRUE(first->address.starts_with("https://login.example.org/authorize?tenant=1&")) << first->address;
  EXPECT_EQ(query.at("response_type"), "code");
  EXPECT_EQ(query.at("client_id"), "hp search");
  EXPECT_EQ(query.at("redirect_uri"), "https://hpsearch.example.org/ui/login");
  EXPECT_EQ(query.at("scope"), "openid email profile");
  EXPECT_EQ(query.at("code_challenge_method"), "S256");
  for (const char* name : {"state", "nonce", "code_challenge"}) {
    EXPECT_NE(query.at(name), ScriptedProvider::query_of(second->address).at(name)) << name;
  }
  EXPECT_EQ(first->address.find(first->key), std::string::npos) << "only the browser has the key";
}

TEST_F(SignInAtAProvider, CodeIsSentWithItsVerifierAndTheSecret) {
  ASSERT_TRUE(sign_in());
  const auto& form = server_.form;
  EXPECT_EQ(form.at("grant_type"), "authorization_code");
  EXPECT_EQ(form.at("code"), "code-1");
  EXPECT_EQ(form.at("redirect_uri"), "https://hpsearch.example.org/ui/login");
  EXPECT_EQ(form.count("client_secret"), 0U);
  EXPECT_EQ(engine::base64url_of(*engine::bytes_of_hex(files::sha256_of(form.at("code_verifier")))),
            server_.challenge);
  // "hp%20search:s%2Fcret"
  EXPECT_EQ(server_.authorization, "Basic aHAlMjBzZWFyY2g6cyUyRmNyZXQ=");
}

TEST_F(SignInAtAProvider, SecretGoesIntoTheFormWhereTheProviderWantsThat) {
  server_.ways = {"client_secret_post"};
  ASSERT_TRUE(sign_in());
  EXPECT_EQ(server_.form.at("client_secret"), "s/cret");
  EXPECT_EQ(server_.form.at("client_id"), "hp search");
  EXPECT_EQ(server_.authorization, "");
}

TEST_F(SignInAtAProvider, AnswerCountsOnlyForTheBrowserThatBegan) {
  const auto begun = provider_.begin(noon);
  const auto other = provider_.begin(noon);
  ASSERT_TRUE(begun && other);
  const Provider::Answer good = server_.answer_to(begun->address, begun->key);
  const auto refused = [&](const Provider::Answer& answer, Instant now = noon) {
    const auto person = provider_.finish(answer, now);
    return !person && person.error().code == Errc::bad_request &&
           person.error().message.find("did not begin here") != std::string::npos;
  };
  const int asked = server_.tokens_asked;
  EXPECT_TRUE(refused({good.state, good.code, other->key}));
  EXPECT_TRUE(refused({good.state, good.code, ""}));
  EXPECT_TRUE(refused({good.state + "x", good.code, good.key}));
  EXPECT_TRUE(refused({"9" + good.state, good.code, good.key})) << "its end is part of what is authenticated";
  EXPECT_TRUE(refused({"", "", ""}));
  EXPECT_TRUE(refused(good, noon + SignInStates::life));
  Provider another(ScriptedProvider::settings(), server_.ask());
  EXPECT_FALSE(another.finish(good, noon)) << "a daemon that started again";
  EXPECT_EQ(server_.tokens_asked, asked) << "the provider isn't asked";
  EXPECT_TRUE(provider_.finish(good, noon + SignInStates::life - Duration::micros(1)));
}

TEST_F(SignInAtAProvider, TokenOfAnotherSignInIsRefused) {
  const auto begun = provider_.begin(noon);
  const auto other = provider_.begin(noon);
  ASSERT_TRUE(begun && other);
  Provider::Answer answer = server_.answer_to(begun->address, begun->key);
  static_cast<void>(server_.answer_to(other->address, other->key));  // Its nonce is in the next token.
  const auto person = provider_.finish(answer, noon);
  ASSERT_FALSE(person);
  EXPECT_NE(person.error().message.find("another sign-in"), std::string::npos) << person.error().message;
}

TEST_F(SignInAtAProvider, WrongClaimsAreRefused) {
  server_.claims["aud"] = "other";
  EXPECT_NE(problem().find("another audience"), std::string::npos);
  server_.claims = Value::Map{};
  server_.claims["iss"] = "https://evil.example";
  EXPECT_NE(problem().find("is from"), std::string::npos);
  server_.claims = Value::Map{};
  server_.claims["exp"] = ScriptedProvider::noon - 100;
  EXPECT_NE(problem().find("expired"), std::string::npos);
  server_.claims = Value::Map{};
  server_.claims["email_verified"] = false;
  EXPECT_NE(problem().find("has not verified"), std::string::npos);
  server_.claims = Value::Map{};
  for (const char* name : {"", "ann smith", "uid:1000", "\xc3\xa4nn"}) {
    server_.claims["email"] = name;
    EXPECT_NE(problem().find("the claim email of the ID token is"), std::string::npos) << name;
  }
}

TEST_F(SignInAtAProvider, ChangedKeysAreReadAgain) {
  ASSERT_TRUE(sign_in());
  EXPECT_EQ(server_.keys_asked, 1);
  ASSERT_TRUE(sign_in(noon + Duration::seconds(60)));
  EXPECT_EQ(server_.keys_asked, 1) << "they are kept";
  server_.change_key("b");
  ASSERT_TRUE(sign_in(noon + Duration::seconds(90)));
  EXPECT_EQ(server_.keys_asked, 2);
  server_.publishes_keys = false;
  server_.change_key("c");
  EXPECT_NE(problem(noon + Duration::seconds(92)).find("key \"c\", which the provider does not publish"),
            std::string::npos);
  EXPECT_EQ(server_.keys_asked, 2) << "a moment later they can't be newer";
  EXPECT_NE(problem(noon + Duration::seconds(120)).find("key \"c\""), std::string::npos);
  EXPECT_EQ(server_.keys_asked, 3);
}

TEST_F(SignInAtAProvider, GroupsMayBeInTheClaimsOfUserinfo) {
  server_.claims["groups"] = nullptr;
  server_.claims_of_userinfo["sub"] = "7";
  server_.claims_of_userinfo["groups"] = Value::List{"vision"};
  server_.leaves_out_nulls = true;
  const auto person = sign_in();
  ASSERT_TRUE(person) << person.error().message;
  EXPECT_EQ(person->groups, std::vector<std::string>{"vision"});
  EXPECT_EQ(server_.authorization, "Bearer access-1");
  server_.claims_of_userinfo["sub"] = "8";
  EXPECT_NE(problem().find("another person"), std::string::npos);
}

TEST_F(SignInAtAProvider, FailuresOfTheProviderAreSentences) {
  server_.fails_with = "no answer from login.example.org:443 in time";
  const auto begun = provider_.begin(noon);
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().code, Errc::unavailable);
  EXPECT_EQ(begun.error().message,
            "https://login.example.org can't be reached for its description: no answer from "
            "login.example.org:443 in time");
  server_.fails_with.clear();
  EXPECT_FALSE(provider_.begin(noon + Duration::seconds(4))) << "it is left alone for a moment";
  EXPECT_TRUE(provider_.begin(noon + Duration::seconds(5)));
  server_.token_error = "invalid_grant";
  EXPECT_EQ(problem(noon + Duration::seconds(6)),
            "https://login.example.org refused the sign-in: invalid_grant. Begin again");
  server_.token_error = "invalid_client";
  EXPECT_NE(problem(noon + Duration::seconds(7)).find("client_id or client_secret_file is wrong"),
            std::string::npos);
}

TEST_F(SignInAtAProvider, DescriptionMustBeThatOfTheIssuerAndHaveTls) {
  server_.issuer = "https://login.example.org/";
  auto begun = provider_.begin(noon);
  ASSERT_FALSE(begun);
  EXPECT_NE(begun.error().message.find("both have to be the same"), std::string::npos)
      << begun.error().message;
  server_.issuer = "https://login.example.org";
  server_.token_endpoint = "http://login.example.org/token";
  begun = provider_.begin(noon + Duration::seconds(10));
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().message,
            "the description of https://login.example.org has as token_endpoint "
            "\"http://login.example.org/token\", which is no address with TLS");
}

}  // namespace
}  // namespace hpsearch::daemon
