#include "daemon/access/sessions.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "daemon/access/session_cookie.hpp"
#include "daemon/daemon_fixture.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Duration;
using engine::Instant;

constexpr Instant noon = Instant::from_micros(1'800'000'000'000'000);
constexpr Duration hours(std::int64_t number) {
  return Duration::seconds(number * 3600);
}

/// Sessions in their own directory.
class SessionsInAFile : public testing::Test {
 protected:
  SessionSecrets begin(Instant now = noon) {
    const auto secrets = sessions_->begin({.name = "token ann", .token_id = "aaaaaaaa"}, now);
    EXPECT_TRUE(secrets) << secrets.error().message;
    return secrets ? *secrets : SessionSecrets{};
  }
  std::optional<SessionRecord> find(const SessionSecrets& secrets, Instant now) {
    return sessions_->find(secrets.cookie, secrets.page_key, now);
  }
  void start_again() { sessions_.emplace(folder_.path().string()); }

  Scratch folder_;
  std::optional<Sessions> sessions_{folder_.path().string()};
};

TEST_F(SessionsInAFile, EachHasItsOwnSecrets) {
  const SessionSecrets first = begin();
  const SessionSecrets second = begin();
  EXPECT_EQ(first.cookie.size(), 43U);
  EXPECT_EQ(first.page_key.size(), 43U);
  EXPECT_NE(first.cookie, second.cookie);
  EXPECT_NE(first.page_key, second.page_key);
  EXPECT_NE(first.cookie, first.page_key);
  EXPECT_EQ(find(first, noon)->who.name, "token ann");
  EXPECT_FALSE(find({first.cookie + "x", first.page_key}, noon));
  EXPECT_FALSE(find({first.cookie, ""}, noon));
  EXPECT_FALSE(find({first.cookie, first.cookie}, noon));
  EXPECT_FALSE(find({first.cookie, second.page_key}, noon)) << "of another session";
  EXPECT_FALSE(find({"", ""}, noon));
}

TEST_F(SessionsInAFile, OnlyHashesAreOnTheDisk) {
  const SessionSecrets secrets = begin();
  const std::string text = text_of(folder_.path() / "sessions.json");
  EXPECT_EQ(text.find(secrets.cookie), std::string::npos);
  EXPECT_EQ(text.find(secrets.page_key), std::string::npos);
  EXPECT_NE(text.find(hash_of(secrets.cookie)), std::string::npos);
  struct stat about {};
  ASSERT_EQ(::stat((folder_.path() / "sessions.json").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
}

TEST_F(SessionsInAFile, SurviveARestart) {
  const SessionSecrets secrets = begin();
  start_again();
  const auto found = find(secrets, noon + hours(1));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->who.token_id, "aaaaaaaa");
}

TEST_F(SessionsInAFile, EndAfterTwelveIdleHours) {
  const SessionSecrets secrets = begin();
  EXPECT_TRUE(find(secrets, noon + hours(11)));
  EXPECT_TRUE(find(secrets, noon + hours(22))) << "it was used in between";
  EXPECT_FALSE(find(secrets, noon + hours(34)));
}

TEST_F(SessionsInAFile, EndAfterSevenDaysOfUse) {
  const SessionSecrets secrets = begin();
  for (int used = 0; used < 7 * 24; used += 6) {
    EXPECT_TRUE(find(secrets, noon + hours(used))) << used;
  }
  EXPECT_FALSE(find(secrets, noon + hours(7 * 24)));
}

TEST_F(SessionsInAFile, UseIsStoredFromTimeToTime) {
  const SessionSecrets secrets = begin();
  EXPECT_FALSE(sessions_->uses_are_due());
  EXPECT_TRUE(find(secrets, noon + hours(11)));
  EXPECT_TRUE(sessions_->uses_are_due());
  sessions_->store_uses(noon + hours(11));
  EXPECT_FALSE(sessions_->uses_are_due());
  start_again();
  EXPECT_TRUE(find(secrets, noon + hours(22)));
}

TEST_F(SessionsInAFile, ClockSetBackRevivesNone) {
  const SessionSecrets secrets = begin();
  sessions_->store_uses(noon + hours(12));
  EXPECT_FALSE(find(secrets, noon + hours(1)));
}

TEST_F(SessionsInAFile, AreInvalidAfterTheirEnd) {
  const SessionSecrets secrets = begin();
  EXPECT_TRUE(sessions_->end(hash_of(secrets.cookie)));
  EXPECT_FALSE(find(secrets, noon));
  start_again();
  EXPECT_FALSE(find(secrets, noon));
  EXPECT_TRUE(sessions_->end(hash_of(secrets.cookie))) << "a second time is no error";
}

TEST_F(SessionsInAFile, ACodeWorksOnceAndForAMinute) {
  const SignedIn who{.name = "uid 0", .role = Role::admin, .uid = 0, .makes_tokens = true};
  const std::string code = sessions_->new_code(who, noon);
  const auto taken = sessions_->take_code(code, noon);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->name, "uid 0");
  EXPECT_TRUE(taken->makes_tokens);
  EXPECT_FALSE(sessions_->take_code(code, noon));
  const std::string late = sessions_->new_code(who, noon);
  EXPECT_FALSE(sessions_->take_code(late, noon + Sessions::code_life));
  const std::string lost = sessions_->new_code(who, noon);
  start_again();
  EXPECT_FALSE(sessions_->take_code(lost, noon)) << "codes are not stored";
}

TEST_F(SessionsInAFile, DamagedFileCountsAsEmpty) {
  const SessionSecrets secrets = begin();
  write_text(folder_.path() / "sessions.json", "{\"sessions\": [{");
  start_again();
  EXPECT_FALSE(find(secrets, noon));
  EXPECT_NE(begin().cookie, "");
}

TEST_F(SessionsInAFile, FileWritableByOthersIsNotTrusted) {
  const SessionSecrets secrets = begin();
  std::filesystem::permissions(folder_.path() / "sessions.json", std::filesystem::perms(0666));
  start_again();
  EXPECT_FALSE(find(secrets, noon));
}

TEST(SessionCookie, NameDependsOnTheListener) {
  net::HttpRequest request;
  request.headers = {{"Host", "127.0.0.1:8077"}};
  EXPECT_EQ(session_cookie_name(request), "hpsearch_8077");
  EXPECT_EQ(set_session_cookie(request, "s"),
            "hpsearch_8077=s; HttpOnly; SameSite=Strict; Path=/; Max-Age=604800");
  request.headers = {{"Host", "[::1]"}};
  EXPECT_EQ(session_cookie_name(request), "hpsearch_80");
  request.is_encrypted = true;
  EXPECT_EQ(set_session_cookie(request, "s"),
            "__Host-hpsearch=s; HttpOnly; SameSite=Strict; Path=/; Max-Age=604800; Secure");
  EXPECT_EQ(set_session_cookie(request, ""),
            "__Host-hpsearch=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0; Secure");
}

TEST(SessionCookie, IsFoundAmongOthers) {
  net::HttpRequest request;
  request.headers = {{"Host", "localhost:80"},
                     {"Cookie", "a=b; hpsearch_8=no; xhpsearch_80=no;hpsearch_80=yes; hpsearch_80=second"}};
  EXPECT_EQ(session_secret_of(request), "yes");
  request.headers[1].second = "hpsearch_80";
  EXPECT_EQ(session_secret_of(request), "");
}

/// A daemon that requires tokens, with a viewer's and an operator's.
class BrowserSession : public testing::Test {
 protected:
  BrowserSession() { daemon_.serve_http(false); }

  Tokens::Made token(const std::string& name, Role role) {
    const auto made = daemon_.tokens.create(name, role, Tokens::usual_life, "uid 0", daemon_.runtime->now());
    EXPECT_TRUE(made) << made.error().message;
    return made ? *made : Tokens::Made{};
  }

  struct Browser {
    std::string cookie;
    std::string page_key;
    [[nodiscard]] net::HttpHeaders headers() const {
      return {{"Cookie", cookie}, {std::string(page_key_header), page_key}};
    }
  };
  Browser sign_in(const std::string& with, const net::HttpHeaders& headers = {}) {
    const auto answer = daemon_.ask("POST", "/api/v1/session", with, headers);
    EXPECT_EQ(answer.status, 200U) << answer.text;
    const std::string set = answer.header("Set-Cookie");
    EXPECT_NE(set.find("; HttpOnly; SameSite=Strict; Path=/"), std::string::npos) << set;
    const std::string key = answer.at("page_key");
    return {set.substr(0, set.find(';')), key.size() < 2 ? "" : key.substr(1, key.size() - 2)};
  }
  Browser sign_in_as(const Tokens::Made& made) { return sign_in(R"({"token":")" + made.text + "\"}"); }
  Browser sign_in_by_code(const Tokens::Made& made, const std::string& body = "") {
    const auto answer =
        daemon_.ask("POST", "/api/v1/session/code", body, {{"Authorization", "Bearer " + made.text}});
    EXPECT_EQ(answer.status, 201U) << answer.text;
    return sign_in(R"({"code":)" + answer.at("code") + "}");
  }

  unsigned get(const std::string& path, const Browser& browser) {
    return daemon_.ask("GET", path, "", browser.headers()).status;
  }
  unsigned post(const std::string& path, const std::string& body, const Browser& browser) {
    return daemon_.ask("POST", path, body, browser.headers()).status;
  }

  DaemonFixture daemon_;
};

TEST_F(BrowserSession, HasTheRightsOfItsToken) {
  const Browser browser = sign_in_as(token("ann", Role::viewer));
  EXPECT_EQ(get("/api/v1/status", browser), 200U);
  EXPECT_EQ(get("/api/v1/tokens", browser), 403U);
  const auto session = daemon_.ask("GET", "/api/v1/session", "", browser.headers());
  EXPECT_EQ(session.status, 200U);
  EXPECT_EQ(session.at("name"), "\"ann\"");
  EXPECT_EQ(session.at("role"), "\"viewer\"");
  EXPECT_EQ(session.at("page_key"), "\"\"") << "it is shown only once";
}

// A browser sends the cookie to every port of the host, and another user's server made a token with
// it.
TEST_F(BrowserSession, CookieAloneReadsAndChangesNothing) {
  const Browser browser = sign_in_as(token("ann", Role::admin));
  const Browser other = sign_in_as(token("bob", Role::admin));
  const std::string pause = "/api/v1/experiments/900/pause";
  for (const std::string& key : {std::string(), std::string("0123"), browser.cookie, other.page_key}) {
    const Browser thief{browser.cookie, key};
    EXPECT_EQ(get("/api/v1/session", thief), 401U) << key;
    EXPECT_EQ(get("/api/v1/experiments", thief), 401U) << key;
    EXPECT_EQ(get("/api/v1/stream?topics=cluster", thief), 401U) << key;
    EXPECT_EQ(get("/api/v1/events", thief), 401U) << key;
    EXPECT_EQ(post(pause, "{}", thief), 401U) << key;
    EXPECT_EQ(post("/api/v1/tokens", R"({"name":"mine","role":"admin"})", thief), 401U) << key;
    EXPECT_EQ(get("/", thief), 200U) << "the page itself has no data";
  }
  EXPECT_EQ(post(pause, "{}", browser), 404U) << "taken, but there is no such experiment";
}

TEST_F(BrowserSession, MakesTokensOnlyIfItsCodeHasThatRight) {
  const Tokens::Made admin = token("ann", Role::admin);
  const std::string body = R"({"name":"mine","role":"admin"})";
  const std::string rotate = "/api/v1/tokens/" + admin.record.id + "/rotate";
  for (const Browser& usual :
       {sign_in_as(admin), sign_in_by_code(admin), sign_in_by_code(admin, R"({"makes_tokens":false})")}) {
    EXPECT_EQ(post("/api/v1/tokens", body, usual), 403U);
    EXPECT_EQ(post(rotate, "", usual), 403U);
    EXPECT_EQ(get("/api/v1/tokens", usual), 200U);
  }
  const Browser browser = sign_in_by_code(admin, R"({"makes_tokens":true})");
  EXPECT_EQ(post("/api/v1/tokens", body, browser), 201U);
  const net::HttpHeaders viewer{{"Authorization", "Bearer " + token("eve", Role::viewer).text}};
  const auto refused = daemon_.ask("POST", "/api/v1/session/code", R"({"makes_tokens":true})", viewer);
  EXPECT_EQ(refused.status, 403U) << refused.text;
  for (const char* wrong : {R"({"makes_tokens":1})", R"({"makes_tokens":true,"a":1})", R"({"a":1})", "[]"}) {
    EXPECT_EQ(daemon_.ask("POST", "/api/v1/session/code", wrong, viewer).status, 400U) << wrong;
  }
}

TEST_F(BrowserSession, IsRefusedAfterItsEnd) {
  const Browser browser = sign_in_as(token("ann", Role::viewer));
  EXPECT_EQ(daemon_.ask("DELETE", "/api/v1/session", "", {{"Cookie", browser.cookie}}).status, 401U);
  const auto out = daemon_.ask("DELETE", "/api/v1/session", "", browser.headers());
  EXPECT_EQ(out.status, 204U);
  EXPECT_NE(out.header("Set-Cookie").find("Max-Age=0"), std::string::npos);
  EXPECT_EQ(get("/api/v1/status", browser), 401U);
  EXPECT_EQ(get("/", browser), 200U) << "the page itself appears, to sign in on";
}

TEST_F(BrowserSession, EndsWithItsToken) {
  const Tokens::Made revoked = token("ann", Role::viewer);
  const Tokens::Made rotated = token("bob", Role::viewer);
  const Browser ann = sign_in_as(revoked);
  const Browser bob = sign_in_as(rotated);
  EXPECT_EQ(get("/api/v1/status", ann), 200U);
  EXPECT_TRUE(daemon_.tokens.revoke(revoked.record.id));
  EXPECT_TRUE(daemon_.tokens.rotate(rotated.record.id, daemon_.runtime->now()));
  EXPECT_EQ(get("/api/v1/status", ann), 401U);
  EXPECT_EQ(get("/api/v1/status", bob), 401U);
}

TEST_F(BrowserSession, IsNewAtEachSignIn) {
  const Tokens::Made made = token("ann", Role::viewer);
  const Browser first = sign_in_as(made);
  const Browser second = sign_in(R"({"token":")" + made.text + "\"}", {{"Cookie", first.cookie}});
  EXPECT_NE(first.cookie, second.cookie);
  EXPECT_EQ(get("/api/v1/status", second), 200U);
  EXPECT_EQ(get("/api/v1/status", first), 401U) << "the browser's old session has ended";
}

TEST_F(BrowserSession, BeginsWithACodeOnce) {
  const Tokens::Made made = token("ann", Role::viewer);
  const auto answer =
      daemon_.ask("POST", "/api/v1/session/code", "", {{"Authorization", "Bearer " + made.text}});
  ASSERT_EQ(answer.status, 201U) << answer.text;
  const std::string code = R"({"code":)" + answer.at("code") + "}";
  const Browser browser = sign_in(code);
  EXPECT_EQ(get("/api/v1/status", browser), 200U);
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/session", code).status, 401U);
  EXPECT_EQ(post("/api/v1/session/code", "", browser), 403U) << "a session must not prolong itself";
}

TEST_F(BrowserSession, WrongTokensAndCodesCountAsGuesses) {
  for (unsigned i = 0; i < Authentication::failures_a_minute; ++i) {
    EXPECT_EQ(
        daemon_.ask("POST", "/api/v1/session", i % 2 == 0 ? R"({"token":"x"})" : R"({"code":"x"})").status,
        401U);
  }
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/session", R"({"code":"x"})").status, 429U);
  sign_in_as(token("ann", Role::viewer));
}

TEST_F(BrowserSession, WrongBodiesAreRefused) {
  for (const char* body :
       {"{}", R"({"token":1})", R"({"token":"a","code":"b"})", R"({"name":"ann"})", "[]"}) {
    EXPECT_EQ(daemon_.ask("POST", "/api/v1/session", body).status, 400U) << body;
  }
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/session", "{\"token\":\"" + std::string(5'000, 'a') + "\"}").status,
            413U)
      << "strangers send little";
}

TEST_F(BrowserSession, PagesOfOtherSitesCannotUseIt) {
  const Browser browser = sign_in_as(token("ann", Role::operate));
  for (const auto& [name, value] :
       {std::pair("Sec-Fetch-Site", "cross-site"), std::pair("Sec-Fetch-Site", "same-site"),
        std::pair("Origin", "http://evil.example"), std::pair("Origin", "null")}) {
    net::HttpHeaders headers = browser.headers();
    headers.emplace_back(name, value);
    EXPECT_EQ(daemon_.ask("POST", "/api/v1/experiments/900/pause", "{}", headers).status, 403U)
        << name << value;
    EXPECT_EQ(daemon_.ask("POST", "/api/v1/session", R"({"token":"x"})", {{name, value}}).status, 403U);
  }
}

TEST_F(BrowserSession, ReadsAStreamWhichEndsWithIt) {
  const Tokens::Made made = token("ann", Role::viewer);
  const Browser browser = sign_in_as(made);
  // As OpenStreams checks it each second while a stream is open.
  net::HttpRequest request;
  request.method = "GET";
  request.headers = browser.headers();
  request.headers.emplace_back("Host", daemon_.http->address());
  const auto role = [&](engine::Duration later) {
    const auto caller = daemon_.authentication->caller_of(request, daemon_.runtime->now() + later);
    return std::get<Caller>(caller).role;
  };
  EXPECT_EQ(role({}), Role::viewer);
  EXPECT_EQ(role(Sessions::longest_life), Role::anyone);
  EXPECT_TRUE(daemon_.tokens.revoke(made.record.id));
  EXPECT_EQ(role({}), Role::anyone);
}

}  // namespace
}  // namespace hpsearch::daemon
