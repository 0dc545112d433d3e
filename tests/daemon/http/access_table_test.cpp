#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "daemon/access/authentication.hpp"
#include "daemon/daemon_fixture.hpp"
#include "daemon/http/http_request_context.hpp"
#include "daemon/http/route_path.hpp"

namespace hpsearch::daemon {
namespace {

// The permissions of all routes, written down a second time: a new route, or one that requires less than
// before, fails here until its row was reviewed. A Route without a role does not compile.

/// The answer to a caller whose role is enough, but not in all workspaces, or not in that of the experiment.
enum class Elsewhere : std::uint8_t {
  served,   ///< Answered with objects of its own workspaces.
  hidden,   ///< 404, as if the experiment did not exist.
  refused,  ///< 403.
};
struct Right {
  Role least;
  Elsewhere elsewhere;
};
using Rights = std::map<std::pair<std::string, std::string>, Right>;
const Rights rights{
    {{"GET", "/healthz"}, {Role::anyone, Elsewhere::served}},
    {{"GET", "/version"}, {Role::anyone, Elsewhere::served}},
    {{"GET", "/readyz"}, {Role::anyone, Elsewhere::served}},
    {{"GET", "/api/v1/searchers"}, {Role::viewer, Elsewhere::served}},
    {{"GET", "/api/v1/searchers/{searcher}/schema"}, {Role::viewer, Elsewhere::served}},
    {{"POST", "/api/v1/experiments/validate"}, {Role::submit, Elsewhere::served}},
    {{"POST", "/api/v1/experiments/preview"}, {Role::submit, Elsewhere::served}},
    {{"POST", "/api/v1/preview"}, {Role::submit, Elsewhere::served}},
    {{"GET", "/metrics"}, {Role::viewer, Elsewhere::refused}},
    {{"GET", "/api/v1/status"}, {Role::viewer, Elsewhere::served}},
    {{"GET", "/api/v1/events"}, {Role::viewer, Elsewhere::served}},
    {{"GET", "/api/v1/stream"}, {Role::viewer, Elsewhere::served}},
    {{"GET", "/api/v1/openapi.json"}, {Role::anyone, Elsewhere::served}},
    {{"POST", "/api/v1/store/backup"}, {Role::admin, Elsewhere::refused}},
    {{"POST", "/api/v1/store/backup/result"}, {Role::admin, Elsewhere::refused}},
    {{"GET", "/api/v1/whoami"}, {Role::viewer, Elsewhere::served}},
    {{"GET", "/api/v1/usage"}, {Role::viewer, Elsewhere::served}},
    {{"GET", "/api/v1/audit"}, {Role::admin, Elsewhere::refused}},
    {{"GET", "/api/v1/tokens"}, {Role::admin, Elsewhere::refused}},
    {{"POST", "/api/v1/tokens"}, {Role::admin, Elsewhere::refused}},
    {{"POST", "/api/v1/tokens/{token}/rotate"}, {Role::admin, Elsewhere::refused}},
    {{"DELETE", "/api/v1/tokens/{token}"}, {Role::admin, Elsewhere::refused}},
    {{"GET", "/api/v1/invites"}, {Role::admin, Elsewhere::refused}},
    {{"POST", "/api/v1/invites"}, {Role::admin, Elsewhere::refused}},
    {{"DELETE", "/api/v1/invites/{invite}"}, {Role::admin, Elsewhere::refused}},
    {{"GET", "/api/v1/workers"}, {Role::viewer, Elsewhere::served}},
    {{"GET", "/api/v1/workers/{worker}"}, {Role::viewer, Elsewhere::served}},
    {{"GET", "/api/v1/workers/{worker}/timeline"}, {Role::viewer, Elsewhere::served}},
    {{"POST", "/api/v1/experiments/{experiment}/fork"}, {Role::submit, Elsewhere::hidden}},
    {{"POST", "/api/v1/workers/{worker}/quarantine"}, {Role::operate, Elsewhere::refused}},
    {{"POST", "/api/v1/workers/{worker}/release"}, {Role::operate, Elsewhere::refused}},
    {{"POST", "/api/v1/workers/{worker}/forget"}, {Role::operate, Elsewhere::refused}},
    {{"GET", "/api/v1/workers/forgotten"}, {Role::viewer, Elsewhere::served}},
    {{"POST", "/api/v1/workers/{worker}/attempts/{experiment}/{trial}/{attempt}/adopt"},
     {Role::operate, Elsewhere::refused}},
    {{"POST", "/api/v1/workers/{worker}/attempts/{experiment}/{trial}/{attempt}/disown"},
     {Role::operate, Elsewhere::refused}},
    {{"POST", "/api/v1/experiments"}, {Role::submit, Elsewhere::served}},
    {{"GET", "/api/v1/experiments"}, {Role::viewer, Elsewhere::served}},
    {{"GET", "/api/v1/experiments/{experiment}"}, {Role::viewer, Elsewhere::hidden}},
    {{"PATCH", "/api/v1/experiments/{experiment}"}, {Role::submit, Elsewhere::hidden}},
    {{"PATCH", "/api/v1/experiments/{experiment}/annotation"}, {Role::submit, Elsewhere::hidden}},
    {{"PATCH", "/api/v1/experiments/{experiment}/trials/{trial}/annotation"},
     {Role::submit, Elsewhere::hidden}},
    {{"GET", "/api/v1/experiments/{experiment}/config"}, {Role::viewer, Elsewhere::hidden}},
    {{"GET", "/api/v1/experiments/{experiment}/file"}, {Role::viewer, Elsewhere::hidden}},
    {{"GET", "/api/v1/experiments/{experiment}/best"}, {Role::viewer, Elsewhere::hidden}},
    {{"GET", "/api/v1/experiments/{experiment}/model"}, {Role::viewer, Elsewhere::hidden}},
    {{"GET", "/api/v1/experiments/{experiment}/checkpoints"}, {Role::viewer, Elsewhere::hidden}},
    {{"POST", "/api/v1/experiments/{experiment}/pause"}, {Role::submit, Elsewhere::hidden}},
    {{"POST", "/api/v1/experiments/{experiment}/program"}, {Role::submit, Elsewhere::hidden}},
    {{"POST", "/api/v1/experiments/{experiment}/resume"}, {Role::submit, Elsewhere::hidden}},
    {{"POST", "/api/v1/experiments/{experiment}/cancel"}, {Role::submit, Elsewhere::hidden}},
    {{"POST", "/api/v1/experiments/{experiment}/kill"}, {Role::submit, Elsewhere::hidden}},
    {{"GET", "/api/v1/experiments/{experiment}/columns"}, {Role::viewer, Elsewhere::hidden}},
    {{"GET", "/api/v1/experiments/{experiment}/curves"}, {Role::viewer, Elsewhere::hidden}},
    {{"GET", "/api/v1/experiments/{experiment}/export"}, {Role::viewer, Elsewhere::hidden}},
    {{"GET", "/api/v1/experiments/{experiment}/history"}, {Role::viewer, Elsewhere::hidden}},
    {{"GET", "/api/v1/experiments/{experiment}/importance"}, {Role::viewer, Elsewhere::hidden}},
    {{"GET", "/api/v1/experiments/{experiment}/metrics"}, {Role::viewer, Elsewhere::hidden}},
    {{"GET", "/api/v1/experiments/{experiment}/rungs"}, {Role::viewer, Elsewhere::hidden}},
    {{"GET", "/api/v1/experiments/{experiment}/timeline"}, {Role::viewer, Elsewhere::hidden}},
    {{"GET", "/api/v1/experiments/{experiment}/trials/{trial}/checkpoints"},
     {Role::viewer, Elsewhere::hidden}},
    {{"POST", "/api/v1/experiments/{experiment}/trials/{trial}/checkpoints/delete"},
     {Role::submit, Elsewhere::hidden}},
    {{"GET", "/api/v1/experiments/{experiment}/trials"}, {Role::viewer, Elsewhere::hidden}},
    {{"GET", "/api/v1/experiments/{experiment}/trials/{trial}"}, {Role::viewer, Elsewhere::hidden}},
    {{"POST", "/api/v1/experiments/{experiment}/trials/{trial}/cancel"}, {Role::submit, Elsewhere::hidden}},
    {{"POST", "/api/v1/experiments/{experiment}/trials/{trial}/stop"}, {Role::submit, Elsewhere::hidden}},
    {{"GET", "/api/v1/experiments/{experiment}/trials/{trial}/explain"}, {Role::viewer, Elsewhere::hidden}},
    {{"GET", "/api/v1/experiments/{experiment}/trials/{trial}/metrics"}, {Role::viewer, Elsewhere::hidden}},
    {{"GET", "/api/v1/experiments/{experiment}/trials/{trial}/log"}, {Role::viewer, Elsewhere::hidden}},
    {{"GET", "/api/v1/experiments/{experiment}/trials/{trial}/attempts/{attempt}/utilization"},
     {Role::viewer, Elsewhere::hidden}},
    {{"PUT", "/api/v1/logs/{experiment}/{trial}/{attempt}"}, {Role::worker, Elsewhere::served}},
    {{"GET", "/api/v1/checkpoints/condemned"}, {Role::worker, Elsewhere::served}},
    {{"POST", "/api/v1/checkpoints/removed"}, {Role::worker, Elsewhere::served}},
    {{"GET", "/api/v1/experiments/{experiment}/files"}, {Role::viewer, Elsewhere::hidden}},
    {{"GET", "/api/v1/experiments/{experiment}/trials/{trial}/files"}, {Role::viewer, Elsewhere::hidden}},
    {{"GET", "/api/v1/experiments/{experiment}/trials/{trial}/files.tar"}, {Role::viewer, Elsewhere::hidden}},
    {{"GET", "/api/v1/experiments/{experiment}/trials/{trial}/files/{digest}"},
     {Role::viewer, Elsewhere::hidden}},
    {{"PUT", "/api/v1/files/{experiment}/{trial}/{attempt}"}, {Role::worker, Elsewhere::served}},
    {{"PUT", "/api/v1/files/{experiment}/{trial}/{digest}"}, {Role::worker, Elsewhere::served}},
    {{"GET", "/api/v1/contexts/{digest}"}, {Role::worker, Elsewhere::served}},
    {{"HEAD", "/api/v1/contexts/{digest}"}, {Role::worker, Elsewhere::served}},
    {{"PUT", "/api/v1/contexts/{digest}"}, {Role::submit, Elsewhere::served}},
    {{"POST", "/api/v1/session"}, {Role::anyone, Elsewhere::served}},
    {{"GET", "/api/v1/session"}, {Role::viewer, Elsewhere::served}},
    {{"DELETE", "/api/v1/session"}, {Role::viewer, Elsewhere::served}},
    {{"GET", "/api/v1/session/provider"}, {Role::anyone, Elsewhere::served}},
    {{"POST", "/api/v1/session/provider"}, {Role::anyone, Elsewhere::served}},
    {{"POST", "/api/v1/session/provider/answer"}, {Role::anyone, Elsewhere::served}},
    {{"POST", "/api/v1/session/code"}, {Role::viewer, Elsewhere::served}},
    {{"POST", "/api/v1/http-port"}, {Role::admin, Elsewhere::refused}},
    {{"GET", "/api/v1/configuration"}, {Role::admin, Elsewhere::refused}},
    {{"GET", "/{page}"}, {Role::anyone, Elsewhere::served}},
    {{"HEAD", "/{page}"}, {Role::anyone, Elsewhere::served}},
    {{"GET", "/api/v1/queues"}, {Role::viewer, Elsewhere::served}},
    {{"POST", "/api/v1/queues"}, {Role::operate, Elsewhere::refused}},
    {{"POST", "/api/v1/queues/check"}, {Role::operate, Elsewhere::refused}},
    {{"GET", "/api/v1/queues/{queue}"}, {Role::viewer, Elsewhere::served}},
    {{"PUT", "/api/v1/queues/{queue}/settings"}, {Role::operate, Elsewhere::refused}},
    {{"POST", "/api/v1/queues/{queue}/pause"}, {Role::operate, Elsewhere::refused}},
    {{"POST", "/api/v1/queues/{queue}/resume"}, {Role::operate, Elsewhere::refused}},
    {{"POST", "/api/v1/queues/{queue}/remove"}, {Role::operate, Elsewhere::refused}},
    {{"GET", "/api/v1/queues/{queue}/script"}, {Role::operate, Elsewhere::refused}},
    {{"GET", "/api/v1/queues/{queue}/allocations/{allocation}/log"}, {Role::operate, Elsewhere::refused}},
    {{"GET", "/api/v1/workspaces"}, {Role::admin, Elsewhere::refused}},
    {{"POST", "/api/v1/workspaces"}, {Role::admin, Elsewhere::refused}},
    {{"PUT", "/api/v1/workspaces/{workspace}/quota"}, {Role::admin, Elsewhere::refused}},
    {{"GET", "/api/v1/experiments/{experiment}/trials/{trial}/checkpoints/{checkpoint}/files"},
     {Role::viewer, Elsewhere::hidden}},
    {{"GET", "/api/v1/experiments/{experiment}/trials/{trial}/checkpoints/{checkpoint}/archive.tar"},
     {Role::viewer, Elsewhere::hidden}},
    {{"HEAD", "/api/v1/experiments/{experiment}/trials/{trial}/checkpoints/{checkpoint}/archive.tar"},
     {Role::viewer, Elsewhere::hidden}},
    {{"GET", "/api/v1/slots"}, {Role::viewer, Elsewhere::served}},
    {{"POST", "/api/v1/workers/{worker}/drain"}, {Role::operate, Elsewhere::refused}},
    {{"POST", "/api/v1/experiments/{experiment}/archive"}, {Role::submit, Elsewhere::hidden}},
    {{"POST", "/api/v1/experiments/{experiment}/unarchive"}, {Role::submit, Elsewhere::hidden}},
    {{"DELETE", "/api/v1/experiments/{experiment}"}, {Role::admin, Elsewhere::hidden}},
    {{"POST", "/api/v1/experiments/{experiment}/trials/{trial}/retry"}, {Role::submit, Elsewhere::hidden}},
    {{"POST", "/api/v1/experiments/{experiment}/ask"}, {Role::submit, Elsewhere::hidden}},
    {{"POST", "/api/v1/experiments/{experiment}/trials/{trial}/report"}, {Role::submit, Elsewhere::hidden}},
    {{"POST", "/api/v1/experiments/{experiment}/trials/{trial}/tell"}, {Role::submit, Elsewhere::hidden}},
};

/// An example of each object that a path names; none of them exists.
std::string example_of(std::string_view pattern, std::uint64_t number = 900) {
  if (pattern == page_paths) {
    return "/experiments";
  }
  std::string path;
  while (!pattern.empty()) {
    const std::string_view segment = take_segment(pattern);
    const Placeholder placeholder = placeholder_in(segment);
    path += placeholder == Placeholder::number     ? "/" + std::to_string(number)
            : placeholder == Placeholder::digest   ? "/" + std::string(64, 'a')
            : placeholder == Placeholder::token_id ? "/aaaaaaaa"
            : placeholder == Placeholder::name     ? "/no-such"
                                                   : std::string(segment);
  }
  return path;
}

enum class Shown : std::uint8_t { nothing, wrong, misspelled, other_scheme, revoked, rotated, expired };
constexpr std::pair<Shown, const char*> refused_ways[] = {
    {Shown::nothing, "nothing"},         {Shown::wrong, "a wrong secret"},
    {Shown::misspelled, "half a token"}, {Shown::other_scheme, "Basic"},
    {Shown::revoked, "a revoked one"},   {Shown::rotated, "a rotated one"},
    {Shown::expired, "an expired one"},
};

class AccessTable : public testing::Test {
 protected:
  AccessTable() {
    daemon_.serve_http(false);
    const engine::Instant now = daemon_.runtime->now();
    const auto made = [&](const char* name, Role role) {
      const auto token = daemon_.tokens.create(name, role, Tokens::usual_life, "uid 0", now);
      EXPECT_TRUE(token) << token.error().message;
      return token ? *token : Tokens::Made{};
    };
    for (const NamedRole& one : token_roles) {
      token_of_[one.role] = made(std::string(one.name).c_str(), one.role).text;
    }
    const Tokens::Made revoked = made("revoked", Role::admin);
    EXPECT_TRUE(daemon_.tokens.revoke(revoked.record.id));
    const Tokens::Made rotated = made("rotated", Role::admin);
    EXPECT_TRUE(daemon_.tokens.rotate(rotated.record.id, now));
    // Made last: changes remove those that have expired.
    const auto expired = daemon_.tokens.create("expired", Role::admin, engine::Duration::seconds(60), "uid 0",
                                               now + engine::Duration::seconds(-61));
    EXPECT_TRUE(expired);
    shown_[Shown::expired] = "Bearer " + (expired ? expired->text : "");
    shown_[Shown::revoked] = "Bearer " + revoked.text;
    shown_[Shown::rotated] = "Bearer " + rotated.text;
    shown_[Shown::wrong] = "Bearer " + Token{"aaaaaaaa", new_secret()}.text();
    shown_[Shown::misspelled] = "Bearer " + token_of_[Role::admin].substr(0, 30);
    shown_[Shown::other_scheme] = "Basic " + token_of_[Role::admin];
  }

  /// Calls the routes directly: the server in front of them has its own tests.
  net::HttpResponse ask(const Route& route, const std::string& authorization,
                        const std::optional<std::uint32_t>& uid = {}, const net::HttpHeaders& more = {},
                        std::uint64_t number = 900) {
    // A new limit of wrong tokens for each.
    Authentication authentication(
        daemon_.tokens, {.owner = 1'000},
        [this](std::string_view key) { return daemon_.sessions->is_http_key(key); }, {}, &daemon_.browsers);
    const ServedRoutes routes = http_routes(*daemon_.runtime, *daemon_.sessions,
                                            {.version = "0.1.0",
                                             .state_dir = "/state",
                                             .started = {},
                                             .checks = daemon_.checks.get(),
                                             .authentication = &authentication});
    net::HttpRequest request;
    request.method = std::string(route.method);
    request.path = example_of(route.path, number);
    request.peer = {uid, uid ? "uid " + std::to_string(*uid) : "127.0.0.1"};
    request.headers = more;
    if (!authorization.empty()) {
      request.headers.emplace_back("Authorization", authorization);
    }
    std::optional<net::HttpResponse> got;
    routes.handler(std::move(request), [&](const net::HttpResponse& response) { got = response; });
    daemon_.pump_until([&] { return got.has_value(); });
    return *got;
  }

  template <class Visit>
  void for_each_route(const Visit& visit) {
    for (const auto& table : all_routes()) {
      for (const Route& route : table) {
        visit(route);
      }
    }
  }

  DaemonFixture daemon_;
  std::map<Role, std::string> token_of_;
  std::map<Shown, std::string> shown_{{Shown::nothing, ""}};
};

std::string name_of(const Route& route) {
  return std::string(route.method) + " " + std::string(route.path);
}

TEST_F(AccessTable, HasARowForEachRoute) {
  std::size_t routes = 0;
  for_each_route([&](const Route& route) {
    ++routes;
    const auto row = rights.find({std::string(route.method), std::string(route.path)});
    ASSERT_NE(row, rights.end()) << name_of(route) << " has no row in this table";
    EXPECT_EQ(name_of(route.least), name_of(row->second.least)) << name_of(route);
  });
  EXPECT_EQ(routes, rights.size()) << "a row of the table has no route";
}

TEST_F(AccessTable, EachRoleReachesOnlyItsRoutesOverTcp) {
  for_each_route([&](const Route& route) {
    for (const NamedRole& one : token_roles) {
      const unsigned status = ask(route, "Bearer " + token_of_[one.role]).status;
      EXPECT_EQ(status == 403, one.role < route.least)
          << name_of(route) << " as " << one.name << ": " << status;
      EXPECT_NE(status, 401U) << name_of(route) << " as " << one.name;
    }
  });
}

/// A submission of a user, in a workspace.
engine::CreateExperiment submission(const std::string& workspace, const std::string& owner) {
  engine::CreateExperiment command;
  command.config = small_search(1);
  (*command.config.as_map())["workspace"] = workspace;
  (*command.config.as_map())["project"] = "letters";
  command.owner = owner;
  return command;
}

TEST_F(AccessTable, NoRoleReachesAnotherWorkspace) {
  const auto other = daemon_.runtime->perform(submission("vision", "submitter in nlp"));
  ASSERT_TRUE(other);
  const std::uint64_t number = other->created->number();
  std::map<Role, std::string> tokens;
  for (const NamedRole& one : token_roles) {
    const auto made = daemon_.tokens.create(std::string(one.name) + " in nlp", one.role, Tokens::usual_life,
                                            "uid 0", daemon_.runtime->now(), Scope({"nlp"}));
    ASSERT_TRUE(made);
    tokens[one.role] = made->text;
  }
  for_each_route([&](const Route& route) {
    const Right right = rights.at({std::string(route.method), std::string(route.path)});
    for (const NamedRole& one : token_roles) {
      const net::HttpResponse response = ask(route, "Bearer " + tokens[one.role], {}, {}, number);
      const std::string who = name_of(route) + " as " + std::string(one.name);
      if (one.role < right.least || right.elsewhere == Elsewhere::refused) {
        EXPECT_EQ(response.status, 403U) << who;
      } else if (right.elsewhere == Elsewhere::hidden) {
        EXPECT_EQ(response.status, 404U) << who;
        EXPECT_NE(response.body.find("there is no experiment 1"), std::string::npos) << who << response.body;
      } else {
        EXPECT_NE(response.status, 403U) << who;
        EXPECT_EQ(response.body.find("vision"), std::string::npos) << who;
      }
    }
  });
}

TEST_F(AccessTable, SubmitterChangesOnlyItsOwnExperiments) {
  const auto own = daemon_.runtime->perform(submission("nlp", "submitter"));
  const auto others = daemon_.runtime->perform(submission("nlp", "ann"));
  ASSERT_TRUE(own);
  ASSERT_TRUE(others);
  for_each_route([&](const Route& route) {
    if (!route.path.starts_with("/api/v1/experiments/{experiment}") || route.least > Role::submit) {
      return;
    }
    const std::string submitter = "Bearer " + token_of_[Role::submit];
    const bool changes = route.method != "GET" && route.method != "HEAD" && !route.path.ends_with("/fork");
    EXPECT_EQ(ask(route, submitter, {}, {}, others->created->number()).status == 403, changes)
        << name_of(route);
    EXPECT_NE(ask(route, submitter, {}, {}, own->created->number()).status, 403U) << name_of(route);
    EXPECT_NE(ask(route, "Bearer " + token_of_[Role::operate], {}, {}, others->created->number()).status,
              403U)
        << name_of(route);
  });
}

TEST_F(AccessTable, SessionHasTheRightsOfItsTokenButNotWithItsCookieAlone) {
  for (const NamedRole& one : token_roles) {
    const auto token = daemon_.tokens.find(*read_token(token_of_[one.role]), daemon_.runtime->now());
    ASSERT_TRUE(token);
    const auto secrets = daemon_.browsers.begin(
        {.name = "token " + token->name, .token_id = token->id, .token_hash = token->hash},
        daemon_.runtime->now());
    ASSERT_TRUE(secrets) << secrets.error().message;
    const net::HttpHeaders cookie{{"Host", "127.0.0.1:1"}, {"Cookie", "hpsearch_1=" + secrets->cookie}};
    net::HttpHeaders with_header = cookie;
    with_header.emplace_back(page_key_header, secrets->page_key);
    for_each_route([&](const Route& route) {
      const unsigned status = ask(route, "", {}, with_header).status;
      const bool makes_tokens = route.about.id == "create_token" || route.about.id == "rotate_token" ||
                                route.about.id == "create_invite";
      EXPECT_EQ(status == 403, one.role < route.least || makes_tokens)
          << name_of(route) << " as " << one.name << ": " << status;
      EXPECT_NE(status, 401U) << name_of(route) << " as " << one.name;
      EXPECT_EQ(ask(route, "", {}, cookie).status == 401, route.least != Role::anyone) << name_of(route);
    });
  }
}

TEST_F(AccessTable, MissingOrWrongCredentialsAreRefused) {
  for_each_route([&](const Route& route) {
    for (const auto& [way, called] : refused_ways) {
      const net::HttpResponse response = ask(route, shown_[way]);
      if (way == Shown::nothing && route.least == Role::anyone) {
        // 404: the daemon has no provider.
        EXPECT_TRUE(response.status == 200 || response.status == 400 || response.status == 404)
            << name_of(route) << response.status;
        continue;
      }
      EXPECT_EQ(response.status, 401U) << name_of(route) << " with " << called;
      ASSERT_EQ(response.headers.size(), 1U);
      EXPECT_EQ(response.headers.front(),
                (std::pair<std::string, std::string>("WWW-Authenticate", "Bearer")));
    }
  });
}

TEST_F(AccessTable, ReasonForARefusedTokenIsNotRevealed) {
  const Route& route = daemon_routes()[2];
  const std::string words = ask(route, shown_[Shown::wrong]).body;
  EXPECT_EQ(ask(route, shown_[Shown::revoked]).body, words);
  EXPECT_EQ(ask(route, shown_[Shown::rotated]).body, words);
  EXPECT_EQ(ask(route, shown_[Shown::misspelled]).body, words);
  EXPECT_EQ(ask(route, shown_[Shown::expired]).body, words);
}

TEST_F(AccessTable, OverTheUnixSocketOnlyTheDaemonsUserAndRootAreServed) {
  for_each_route([&](const Route& route) {
    EXPECT_NE(ask(route, "", 1'000).status / 100, 0U);
    EXPECT_NE(ask(route, "", 1'000).status, 403U) << name_of(route);
    EXPECT_NE(ask(route, "", 0).status, 403U) << name_of(route);
    EXPECT_EQ(ask(route, "", 1'001).status, 403U) << name_of(route);
    EXPECT_EQ(ask(route, "Bearer " + token_of_[Role::admin], 1'001).status, 403U)
        << name_of(route) << ": a token does not help on a socket that is not the caller's";
  });
}

TEST_F(AccessTable, WorkerKeyReachesOnlyContextsAndLogs) {
  ScriptedWorker worker(daemon_);
  const std::string key = worker.join().http_key;
  ASSERT_EQ(key.size(), 43U);
  for_each_route([&](const Route& route) {
    const unsigned status = ask(route, "Bearer " + key).status;
    EXPECT_EQ(status == 403, Role::worker < route.least) << name_of(route) << ": " << status;
  });
  worker.send(proto::Goodbye{"its session ends"});
  const Route& fetching = context_routes()[0];
  daemon_.pump_until([&] { return ask(fetching, "Bearer " + key).status == 401; });
}

TEST_F(AccessTable, UnknownCallersDoNotLearnWhichPathsExist) {
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/no/such/thing").status, 401U);
  EXPECT_EQ(daemon_.ask("DELETE", "/api/v1/experiments").status, 401U);
  const net::HttpHeaders viewer{{"Authorization", "Bearer " + token_of_[Role::viewer]}};
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/no/such/thing", "", viewer).status, 404U);
  EXPECT_EQ(daemon_.ask("DELETE", "/api/v1/experiments", "", viewer).status, 405U);
}

TEST_F(AccessTable, OtherTokensWorkAfterFiveWrongOnesInAMinute) {
  const net::HttpHeaders wrong{{"Authorization", shown_[Shown::wrong]}};
  const net::HttpHeaders right{{"Authorization", "Bearer " + token_of_[Role::viewer]}};
  for (unsigned i = 0; i < Authentication::failures_a_minute; ++i) {
    EXPECT_EQ(daemon_.ask("GET", "/api/v1/status", "", wrong).status, 401U);
  }
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/status", "", wrong).status, 429U);
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/status", "", right).status, 200U)
      << "who guesses must not lock out those at the same address";
}

TEST_F(AccessTable, TokensAreMadeListedRotatedAndRevoked) {
  const net::HttpHeaders admin{{"Authorization", "Bearer " + token_of_[Role::admin]}};
  const auto made = daemon_.ask("POST", "/api/v1/tokens",
                                R"({"name":"ci","role":"operator","expires_in_seconds":60})", admin);
  ASSERT_EQ(made.status, 201U) << made.text;
  EXPECT_EQ(made.at("creator"), "\"token admin\"");
  const std::string id = made.at("id").substr(1, 8);
  const std::string token = made.at("token").substr(1, 62);
  const net::HttpHeaders ci{{"Authorization", "Bearer " + token}};
  const auto me = daemon_.ask("GET", "/api/v1/whoami", "", ci);
  EXPECT_EQ(me.at("name"), "\"token ci\"");
  EXPECT_EQ(me.at("role"), "\"operator\"");

  const auto listed = daemon_.ask("GET", "/api/v1/tokens", "", admin);
  EXPECT_EQ(listed.count("tokens"), 6U) << listed.text;
  EXPECT_EQ(listed.text.find("sha256"), std::string::npos);
  EXPECT_EQ(listed.text.find("hps_"), std::string::npos);

  const auto rotated = daemon_.ask("POST", "/api/v1/tokens/" + id + "/rotate", "", admin);
  ASSERT_EQ(rotated.status, 201U) << rotated.text;
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/whoami", "", ci).status, 401U);
  const net::HttpHeaders anew{{"Authorization", "Bearer " + rotated.at("token").substr(1, 62)}};
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/whoami", "", anew).status, 200U);
  EXPECT_EQ(daemon_.ask("DELETE", "/api/v1/tokens/" + id, "", admin).status, 200U);
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/whoami", "", anew).status, 401U);
  EXPECT_EQ(daemon_.ask("DELETE", "/api/v1/tokens/" + id, "", admin).status, 404U);
}

TEST_F(AccessTable, InvalidTokenFieldsAreNamed) {
  const net::HttpHeaders admin{{"Authorization", "Bearer " + token_of_[Role::admin]}};
  const auto problem_of = [&](const std::string& body) {
    const auto answer = daemon_.ask("POST", "/api/v1/tokens", body, admin);
    EXPECT_EQ(answer.status, 400U) << answer.text;
    const engine::Value* problems = answer.body.at_path("error.problems");
    return problems == nullptr || problems->as_list()->empty()
               ? answer.text
               : engine::compact_json(problems->as_list()->front());
  };
  EXPECT_EQ(problem_of(R"({"role":"viewer"})"), R"({"allowed":"a text","path":"name","what":"is missing"})");
  EXPECT_EQ(problem_of(R"({"name":"x","role":"worker"})"),
            R"({"allowed":"viewer, submitter, operator, admin","path":"role","what":"is \"worker\""})");
  EXPECT_EQ(
      problem_of(R"({"name":"x","role":"viewer","expires":3})"),
      R"({"allowed":"name, role, expires_in_seconds, workspaces, unix_user","path":"expires","what":"is not known"})");
  for (const char* user : {R"("")", R"("1000")", R"("-x")", R"("a:b")", R"("../ann")", "7"}) {
    EXPECT_NE(problem_of(R"({"name":"x","role":"viewer","unix_user":)" + std::string(user) + "}")
                  .find(R"("path":"unix_user")"),
              std::string::npos)
        << user;
  }
  EXPECT_NE(problem_of(R"({"name":"x","role":"admin","expires_in_seconds":null})").find("expires_in_seconds"),
            std::string::npos)
      << "over TCP no token is made that never expires";
  EXPECT_NE(problem_of(R"({"name":"x","role":"viewer","expires_in_seconds":1e9})").find("365 days"),
            std::string::npos);
}

}  // namespace
}  // namespace hpsearch::daemon
