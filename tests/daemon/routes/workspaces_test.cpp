#include <gtest/gtest.h>

#include <string>

#include "daemon/daemon_fixture.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/experiment/workspace.hpp"
#include "messages.hpp"

// What callers with a role in some workspaces see and may do; workspaces and quotas over HTTP.

namespace hpsearch::daemon {
namespace {

class WorkspaceRoutes : public testing::Test {
 protected:
  WorkspaceRoutes() {
    daemon_.serve_http(false);
    admin_ = token("root", Role::admin, Scope());
    nlp_ = token("ann", Role::submit, Scope({"nlp"}));
    vision_ = token("bob", Role::viewer, Scope({"vision"}));
  }

  net::HttpHeaders token(const std::string& name, Role role, const Scope& scope) {
    const auto made =
        daemon_.tokens.create(name, role, Tokens::usual_life, "uid 0", daemon_.runtime->now(), scope);
    EXPECT_TRUE(made);
    return {{"Authorization", "Bearer " + made->text}};
  }

  static std::string submission(const std::string& workspace, std::int64_t trials = 1) {
    engine::Value config = small_search(trials);
    if (!workspace.empty()) {
      (*config.as_map())["workspace"] = workspace;
      (*config.as_map())["project"] = "letters";
    }
    return engine::compact_json(engine::Value::Map{{"config", config}});
  }

  DaemonFixture::Answer submit(const std::string& workspace, const net::HttpHeaders& who,
                               std::int64_t trials = 1) {
    return daemon_.ask("POST", "/api/v1/experiments", submission(workspace, trials), who);
  }

  DaemonFixture daemon_;
  net::HttpHeaders admin_;
  net::HttpHeaders nlp_;
  net::HttpHeaders vision_;
};

TEST_F(WorkspaceRoutes, CreateAndListThem) {
  const auto first = daemon_.ask("GET", "/api/v1/workspaces", "", admin_);
  ASSERT_EQ(first.count("workspaces"), 1U) << first.text;
  const auto made = daemon_.ask("POST", "/api/v1/workspaces", R"({"name": "nlp"})", admin_);
  ASSERT_EQ(made.status, 201U) << made.text;
  EXPECT_EQ(made.at("name"), "\"nlp\"");
  EXPECT_EQ(made.at("creator"), "\"root\"");
  EXPECT_EQ(made.at("quota.max_slots"), "null");
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/workspaces", R"({"name": "nlp"})", admin_).status, 409U);
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/workspaces", R"({"name": "N L P"})", admin_).status, 400U);
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/workspaces", R"({})", admin_).status, 400U);
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/workspaces", "", admin_).count("workspaces"), 2U);
}

TEST_F(WorkspaceRoutes, SetQuotasWhole) {
  const std::string quota = "/api/v1/workspaces/default/quota";
  const auto set = daemon_.ask("PUT", quota, R"({"max_slots": 8, "max_active_experiments": 2})", admin_);
  ASSERT_EQ(set.status, 200U) << set.text;
  EXPECT_EQ(set.at("quota.max_slots"), "8");
  EXPECT_EQ(daemon_.ask("PUT", quota, R"({"max_active_experiments": 1})", admin_).at("quota.max_slots"),
            "null");
  const auto wrong = daemon_.ask("PUT", quota, R"({"max_slot": 8, "max_slots": -1})", admin_);
  EXPECT_EQ(wrong.status, 400U);
  EXPECT_EQ(wrong.count("error.problems"), 2U) << wrong.text;
  EXPECT_EQ(daemon_.ask("PUT", "/api/v1/workspaces/nlp/quota", "{}", admin_).status, 404U);
}

TEST_F(WorkspaceRoutes, QuotaHasEachLimitWithItsUse) {
  const std::string quota = "/api/v1/workspaces/default/quota";
  for (const engine::QuotaLimit& limit : engine::quota_limits) {
    const std::string name(limit.name);
    const std::string most = std::to_string(limit.largest);
    const auto set = daemon_.ask("PUT", quota, "{\"" + name + "\": " + most + "}", admin_);
    EXPECT_EQ(set.status, 200U) << set.text;
    EXPECT_EQ(set.at("quota." + name), most);
    EXPECT_NE(set.text.find("\"used\""), std::string::npos);
    const auto refused =
        daemon_.ask("PUT", quota, "{\"" + name + "\": " + std::to_string(limit.largest + 1) + "}", admin_);
    EXPECT_EQ(refused.status, 400U);
    EXPECT_NE(refused.text.find("from 0 to " + most), std::string::npos) << refused.text;
  }
  ASSERT_EQ(submit("", admin_).status, 201U);
  const auto used = daemon_.ask("PUT", quota, R"({"slot_hours_per_30d": 0})", admin_);
  EXPECT_EQ(used.at("used.max_active_experiments"), "1");
  EXPECT_EQ(used.at("used.max_slots_per_user"), "null");
  EXPECT_EQ(used.at("used.slot_hours_per_30d"), "0.0");
  const auto refused = submit("", admin_);
  EXPECT_EQ(refused.status, 429U);
  EXPECT_MESSAGE(refused.at("error.message"));
}

TEST_F(WorkspaceRoutes, SubmissionNeedsAWorkspaceOfItsToken) {
  EXPECT_EQ(submit("nlp", nlp_).status, 201U);
  const auto other = submit("vision", nlp_);
  EXPECT_EQ(other.status, 403U);
  EXPECT_EQ(other.at("error.message"), "\"token ann may submit to nlp, not to workspace vision\"");
  EXPECT_EQ(submit("", nlp_).at("error.message"),
            "\"token ann may submit to nlp, and an experiment that names no workspace goes to default\"");
}

TEST_F(WorkspaceRoutes, UnknownWorkspaceIsRefusedWithTheKnownOnes) {
  EXPECT_EQ(submit("anything", admin_).status, 201U);
  ASSERT_EQ(daemon_.ask("POST", "/api/v1/workspaces", R"({"name": "nlp"})", admin_).status, 201U);
  const auto refused = submit("nlpp", admin_);
  EXPECT_EQ(refused.status, 400U);
  EXPECT_EQ(
      refused.at("error.message"),
      R"("there is no workspace \"nlpp\" (did you mean nlp?); known workspaces: anything, default, nlp")");
}

TEST_F(WorkspaceRoutes, QuotaHasItsOwnErrorCode) {
  ASSERT_EQ(daemon_.ask("PUT", "/api/v1/workspaces/default/quota", R"({"max_active_experiments": 0})", admin_)
                .status,
            200U);
  const auto refused = submit("", admin_);
  EXPECT_EQ(refused.status, 429U);
  EXPECT_EQ(refused.at("error.code"), "\"quota\"");
}

TEST_F(WorkspaceRoutes, ListsShowOnlyVisibleWorkspaces) {
  ASSERT_EQ(submit("nlp", nlp_).status, 201U);
  ASSERT_EQ(submit("vision", admin_).status, 201U);
  for (const char* list : {"/api/v1/experiments", "/api/v1/experiments?sort=name"}) {
    EXPECT_EQ(daemon_.ask("GET", list, "", admin_).count("experiments"), 2U);
    const auto seen = daemon_.ask("GET", list, "", vision_);
    EXPECT_EQ(seen.count("experiments"), 1U) << seen.text;
    EXPECT_EQ(seen.text.find("nlp"), std::string::npos);
  }
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/status", "", admin_).at("experiments"), "2");
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/status", "", vision_).at("experiments"), "1");
  for (const char* by : {"user", "workspace", "experiment"}) {
    const auto used = daemon_.ask("GET", std::string("/api/v1/usage?by=") + by, "", vision_);
    EXPECT_EQ(used.count("usage"), 1U) << used.text;
  }
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/experiments/1", "", vision_).status, 404U);
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/stream?topics=experiment:1", "", vision_).status, 404U);
}

TEST_F(WorkspaceRoutes, EventsAreLimitedToVisibleWorkspaces) {
  ASSERT_EQ(submit("nlp", nlp_).status, 201U);
  ASSERT_EQ(submit("vision", admin_).status, 201U);
  ASSERT_EQ(daemon_.ask("POST", "/api/v1/workspaces", R"({"name": "nlp"})", admin_).status, 201U);
  const auto all = daemon_.ask("GET", "/api/v1/events", "", admin_);
  const auto seen = daemon_.ask("GET", "/api/v1/events", "", vision_);
  EXPECT_NE(all.text.find("nlp"), std::string::npos);
  EXPECT_EQ(seen.text.find("nlp"), std::string::npos) << seen.text;
  EXPECT_NE(seen.text.find("vision"), std::string::npos);
  EXPECT_EQ(seen.at("last_lsn"), all.at("last_lsn")) << "readers go on behind what they may not see";
}

TEST_F(WorkspaceRoutes, EventNamesTheActor) {
  ASSERT_EQ(submit("nlp", nlp_).status, 201U);
  ASSERT_EQ(daemon_.ask("POST", "/api/v1/experiments/1/pause", "", nlp_).status, 200U);
  const auto paused = daemon_.ask("GET", "/api/v1/events?type=experiment_paused", "", admin_);
  EXPECT_NE(paused.text.find(R"("actor":"ann")"), std::string::npos) << paused.text;
}

TEST_F(WorkspaceRoutes, CheckpointOfAnotherWorkspaceIsRefused) {
  ASSERT_EQ(submit("vision", admin_).status, 201U);
  engine::Value config = small_search(1);
  (*config.as_map())["workspace"] = "nlp";
  (*config.as_map())["project"] = "letters";
  (*(*config.as_map())["searcher"].as_map())["source_trial_id"] = std::int64_t{1};
  const auto refused = daemon_.ask("POST", "/api/v1/experiments",
                                   engine::compact_json(engine::Value::Map{{"config", config}}), nlp_);
  EXPECT_GE(refused.status, 400U) << refused.text;
}

TEST_F(WorkspaceRoutes, UnixUserComesFromTheToken) {
  const auto made = daemon_.ask("POST", "/api/v1/tokens",
                                R"({"name": "laptop", "role": "submitter", "unix_user": "ann"})", admin_);
  ASSERT_EQ(made.status, 201U) << made.text;
  EXPECT_EQ(made.at("unix_user"), "\"ann\"");
  const net::HttpHeaders ann{{"Authorization", "Bearer " + made.at("token").substr(1, 62)}};
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/whoami", "", ann).at("unix_user"), "\"ann\"");
  engine::Value config = small_search(1);
  (*config.as_map())["unix_user"] = "root";
  const std::string forged =
      engine::compact_json(engine::Value::Map{{"config", config}, {"unix_user", "root"}});
  const auto submitted = daemon_.ask("POST", "/api/v1/experiments", forged, ann);
  if (submitted.status != 201U) {  // An unknown member may be refused.
    ASSERT_EQ(submit("nlp", ann).status, 201U);
  }
  ASSERT_EQ(submit("nlp", nlp_).status, 201U);
  const auto& experiments = daemon_.runtime->engine().experiments();
  ASSERT_EQ(experiments.size(), 2U);
  EXPECT_EQ(experiments.begin()->second.unix_user, "ann");
  EXPECT_EQ(experiments.rbegin()->second.unix_user, "");
}

TEST_F(WorkspaceRoutes, ProgramOfAUnixUserIsChangedOnlyByItsTokens) {
  const auto token_of = [&](const std::string& name, const std::string& user) {
    const auto made =
        daemon_.ask("POST", "/api/v1/tokens",
                    R"({"role": "operator", "name": ")" + name + R"(", "unix_user": )" + user + "}", admin_);
    EXPECT_EQ(made.status, 201U) << made.text;
    return net::HttpHeaders{{"Authorization", "Bearer " + made.at("token").substr(1, 62)}};
  };
  const auto ann = token_of("ann at work", R"("ann")");
  ASSERT_EQ(submit("nlp", ann).status, 201U);
  const auto change = [&](const net::HttpHeaders& who) {
    return daemon_.ask("POST", "/api/v1/experiments/1/program", R"({"context_digest": 1})", who);
  };
  for (const auto& other : {token_of("bob at work", R"("bob")"), token_of("nobody", "null"), admin_}) {
    const auto refused = change(other);
    EXPECT_EQ(refused.status, 403U) << refused.text;
    EXPECT_MESSAGE(refused.at("error.message"));
  }
  EXPECT_EQ(change(ann).status, 400U) << "the digest is looked at";
}

TEST_F(WorkspaceRoutes, CallerSeesItsWorkspaces) {
  const auto me = daemon_.ask("GET", "/api/v1/whoami", "", nlp_);
  EXPECT_EQ(me.at("role"), "\"submitter\"");
  EXPECT_EQ(me.at("workspaces"), "[\"nlp\"]");
  EXPECT_EQ(me.at("owner"), "\"ann\"");
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/whoami", "", admin_).at("workspaces"), "[\"*\"]");
  const auto made =
      daemon_.ask("POST", "/api/v1/tokens",
                  R"({"name": "eve", "role": "operator", "workspaces": ["nlp", "vision"]})", admin_);
  ASSERT_EQ(made.status, 201U) << made.text;
  EXPECT_EQ(made.at("workspaces"), "[\"nlp\",\"vision\"]");
  for (const char* wrong : {R"([])", R"(["*", "nlp"])", R"("nlp")", R"([1])", R"([""])"}) {
    const auto refused = daemon_.ask(
        "POST", "/api/v1/tokens",
        R"({"name": "mallory", "role": "viewer", "workspaces": )" + std::string(wrong) + "}", admin_);
    EXPECT_EQ(refused.status, 400U) << wrong;
  }
}

}  // namespace
}  // namespace hpsearch::daemon
