#include <gtest/gtest.h>

#include <string>

#include "daemon/access/session_cookie.hpp"
#include "daemon/audit/audit_files.hpp"
#include "daemon/core/audit_queue.hpp"
#include "daemon/daemon_fixture.hpp"
#include "daemon/sign_on/scripted_provider.hpp"

namespace hpsearch::daemon {
namespace {

constexpr const char* provider_route = "/api/v1/session/provider";
constexpr const char* answer_route = "/api/v1/session/provider/answer";

/// A daemon whose people sign in at a provider.
class PeopleSignIn : public testing::Test {
 protected:
  PeopleSignIn() {
    server_.now = daemon_.runtime->now().micros() / 1'000'000;
    daemon_.provider = std::make_shared<Provider>(ScriptedProvider::settings(), server_.ask());
    daemon_.roles = nlp_submits();
    daemon_.serve_http(false);
  }
  static RoleTable nlp_submits() {
    return RoleTable({{.group = "nlp", .role = Role::submit, .workspaces = {"nlp"}}});
  }

  /// The body of the provider's answer.
  std::string begin() {
    const auto begun = daemon_.ask("POST", provider_route);
    EXPECT_EQ(begun.status, 200U) << begun.text;
    const auto text = [&](const char* name) {
      const engine::Value* value = begun.body.at_path(name);
      return value == nullptr || value->as_text() == nullptr ? std::string() : *value->as_text();
    };
    const Provider::Answer answer = server_.answer_to(text("address"), text("key"));
    return R"({"state":")" + answer.state + R"(","code":")" + answer.code + R"(","key":")" + answer.key +
           "\"}";
  }
  net::HttpHeaders browser_of(const DaemonFixture::Answer& answer) {
    const std::string set = answer.header("Set-Cookie");
    const std::string key = answer.at("page_key");
    return {{"Cookie", set.substr(0, set.find(';'))},
            {std::string(page_key_header), key.size() < 2 ? "" : key.substr(1, key.size() - 2)}};
  }
  net::HttpHeaders sign_in() {
    const auto answer = daemon_.ask("POST", answer_route, begin());
    EXPECT_EQ(answer.status, 200U) << answer.text;
    return browser_of(answer);
  }
  unsigned get(const std::string& path, const net::HttpHeaders& browser) {
    return daemon_.ask("GET", path, "", browser).status;
  }

  ScriptedProvider server_;  // Declared first: the daemon's threads use it.
  DaemonFixture daemon_;
};

TEST_F(PeopleSignIn, PageKnowsTheNameOfTheProvider) {
  EXPECT_EQ(daemon_.ask("GET", provider_route).at("name"), "\"Example\"");
  daemon_.provider = nullptr;
  EXPECT_EQ(daemon_.ask("GET", provider_route).at("name"), "null");
  const auto refused = daemon_.ask("POST", provider_route);
  EXPECT_EQ(refused.status, 404U);
  EXPECT_NE(refused.text.find("no OpenID provider"), std::string::npos) << refused.text;
}

TEST_F(PeopleSignIn, SessionHasTheRoleOfTheGroupsAndMakesNoTokens) {
  const net::HttpHeaders browser = sign_in();
  const auto session = daemon_.ask("GET", "/api/v1/session", "", browser);
  EXPECT_EQ(session.status, 200U) << session.text;
  EXPECT_EQ(session.at("name"), "\"ann@example.org\"");
  EXPECT_EQ(session.at("role"), "\"submitter\"");
  EXPECT_EQ(session.at("workspaces"), "[\"nlp\"]");
  EXPECT_EQ(session.at("makes_tokens"), "false");
  const auto caller = daemon_.ask("GET", "/api/v1/whoami", "", browser);
  EXPECT_EQ(caller.at("name"), "\"user ann@example.org\"");
  EXPECT_EQ(caller.at("owner"), "\"ann@example.org\"");
  EXPECT_EQ(get("/api/v1/tokens", browser), 403U);
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/session/code", "", browser).status, 403U);
  EXPECT_EQ(get("/api/v1/status", {browser[0]}), 401U) << "the cookie alone";
}

TEST_F(PeopleSignIn, SignOutEndsTheSession) {
  const net::HttpHeaders browser = sign_in();
  EXPECT_EQ(daemon_.ask("DELETE", "/api/v1/session", "", browser).status, 204U);
  EXPECT_EQ(get("/api/v1/status", browser), 401U);
}

TEST_F(PeopleSignIn, SessionFollowsTheTableAndTheProvider) {
  const net::HttpHeaders browser = sign_in();
  const std::string issuer = ScriptedProvider::settings().issuer;
  EXPECT_EQ(get("/api/v1/status", browser), 200U);
  daemon_.authentication->use_roles(RoleTable({{.group = "nlp", .role = Role::admin}}), issuer);
  EXPECT_EQ(get("/api/v1/tokens", browser), 200U);
  daemon_.authentication->use_roles(RoleTable({{.group = "vision", .role = Role::admin}}), issuer);
  EXPECT_EQ(get("/api/v1/status", browser), 401U);
  daemon_.authentication->use_roles(nlp_submits(), "https://other.example.org");
  EXPECT_EQ(get("/api/v1/status", browser), 401U) << "groups of another provider";
  daemon_.authentication->use_roles(nlp_submits(), "");
  EXPECT_EQ(get("/api/v1/status", browser), 401U) << "single sign-on is off";
  daemon_.authentication->use_roles(nlp_submits(), issuer);
  EXPECT_EQ(get("/api/v1/status", browser), 200U);
}

TEST_F(PeopleSignIn, SessionEndsAfterTheTimeInTheFile) {
  const net::HttpHeaders browser = sign_in();
  net::HttpRequest request;
  request.method = "GET";
  request.headers = browser;
  request.headers.emplace_back("Host", daemon_.http->address());
  const auto role = [&](engine::Duration later) {
    return std::get<Caller>(daemon_.authentication->caller_of(request, daemon_.runtime->now() + later)).role;
  };
  EXPECT_EQ(role(engine::Duration::seconds(6LL * 3600)), Role::submit);
  EXPECT_EQ(role(engine::Duration::seconds(11LL * 3600)), Role::submit) << "it is used";
  EXPECT_EQ(role(engine::Duration::seconds(12LL * 3600)), Role::anyone);
}

TEST_F(PeopleSignIn, PersonWithoutARoleIsRefused) {
  server_.claims["groups"] = engine::Value::List{"guests"};
  const auto refused = daemon_.ask("POST", answer_route, begin());
  EXPECT_EQ(refused.status, 403U);
  EXPECT_NE(refused.text.find("ann@example.org has no role here"), std::string::npos) << refused.text;
  EXPECT_EQ(refused.header("Set-Cookie"), "");
}

TEST_F(PeopleSignIn, RefusalsHaveSentences) {
  const std::string answer = begin();
  const auto of_another = daemon_.ask("POST", answer_route, R"({"state":"x","code":"y","key":"z"})");
  EXPECT_EQ(of_another.status, 401U);
  EXPECT_NE(of_another.text.find("did not begin here"), std::string::npos) << of_another.text;
  EXPECT_EQ(daemon_.ask("POST", answer_route, R"({"state":"x"})").status, 400U);
  server_.fails_with = "no answer";
  const auto away = daemon_.ask("POST", answer_route, answer);
  EXPECT_EQ(away.status, 503U);
  EXPECT_NE(away.text.find("can't be reached for a token: no answer"), std::string::npos) << away.text;
}

TEST_F(PeopleSignIn, AuditLogNamesThePerson) {
  const std::string folder = daemon_.folder.path().string();
  auto changes = AuditFiles::open(folder, audited_changes);
  auto refusals = AuditFiles::open(folder, audited_refusals);
  ASSERT_TRUE(changes && refusals);
  AuditQueue log(daemon_.loop, *std::move(changes), *std::move(refusals));
  daemon_.audit = &log;
  daemon_.serve_http(false);
  sign_in();
  server_.claims["aud"] = "other";
  EXPECT_EQ(daemon_.ask("POST", answer_route, begin()).status, 401U);
  const auto lines = AuditFiles::read(folder, audited_changes, 0, 100);
  ASSERT_TRUE(lines);
  ASSERT_EQ(lines->size(), 1U) << "two sign-ins began, one ended";
  EXPECT_EQ(*(*lines)[0].at_path("resource")->as_text(), "session/ann@example.org");
  EXPECT_EQ(*(*lines)[0].at_path("path")->as_text(), answer_route);
  const auto refused = [&] {
    const auto read = AuditFiles::read(folder, audited_refusals, 0, 100);
    return read ? *read : std::vector<engine::Value>();
  };
  daemon_.pump_until([&] { return !refused().empty(); });
  ASSERT_EQ(refused().size(), 1U);
  EXPECT_EQ(*refused()[0].at_path("status")->as_integer(), 401);
  daemon_.http.reset();  // Its routes write to the log.
}

}  // namespace
}  // namespace hpsearch::daemon
