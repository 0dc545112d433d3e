#include "daemon/http/http_routes.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <future>

#include "daemon/daemon_fixture.hpp"
#include "daemon/http/http_answers.hpp"

namespace hpsearch::daemon {
namespace {

using namespace std::chrono_literals;

std::string submission(std::int64_t max_trials, const std::string& more = "") {
  return R"({"config":)" + engine::compact_json(small_search(max_trials)) + more + "}";
}

class HttpRoutes : public testing::Test {
 protected:
  DaemonFixture::Answer get(const std::string& target) { return daemon_.ask("GET", target); }
  DaemonFixture::Answer post(const std::string& target, const std::string& body = "") {
    return daemon_.ask("POST", target, body);
  }

  /// An experiment with one trial that has reported twice and keeps running.
  void begin_a_search() {
    ASSERT_EQ(post("/api/v1/experiments", submission(2)).status, 201U);
    worker_.emplace(daemon_);
    worker_->join();
    key_ = worker_->wait_for<proto::Lease>().spec.key;
    worker_->send(proto::Started{key_});
    worker_->send(proto::Reports{key_, 1, {metrics_report(1, 0.5), metrics_report(2, 0.25)}});
    worker_->wait_for<proto::Ack>();
  }

  DaemonFixture daemon_;
  std::optional<ScriptedWorker> worker_;
  engine::AttemptKey key_;
};

TEST_F(HttpRoutes, HealthIsOk) {
  EXPECT_EQ(get("/healthz").status, 200U);
  EXPECT_EQ(get("/version").at("version"), "\"0.1.0\"");
}

TEST_F(HttpRoutes, OverTheUnixSocketOnlyTheDaemonsUserAndRootAreServed) {
  AboutDaemon about;
  about.authentication = daemon_.authentication.get();
  about.checks = daemon_.checks.get();
  const ServedRoutes routes = http_routes(*daemon_.runtime, *daemon_.sessions, about);
  const auto status_for = [&](std::optional<std::uint32_t> uid) {
    net::HttpRequest request;
    request.method = "GET";
    request.path = "/version";
    request.peer = {uid, "uid"};
    unsigned status = 0;
    routes.handler(std::move(request), [&](const net::HttpResponse& response) { status = response.status; });
    return status;
  };
  EXPECT_EQ(status_for(::geteuid()), 200U);
  EXPECT_EQ(status_for(0), 200U);
  EXPECT_EQ(status_for(::geteuid() + 1), 403U);
  EXPECT_EQ(status_for(65'534), 403U);
}

Storage little_room(Intake intake) {
  return {.state = "scarce",
          .free_bytes = 1,
          .total_bytes = 100,
          .intake = intake,
          .why = "little room at /state"};
}

TEST_F(HttpRoutes, LowDiskSpaceRefusesNewExperimentsWithTheReason) {
  begin_a_search();
  for (const Intake intake : {Intake::no_experiments, Intake::what_ends}) {
    daemon_.runtime->set_storage(little_room(intake));
    const auto refused = post("/api/v1/experiments", submission(2));
    EXPECT_EQ(refused.status, 507U);
    EXPECT_NE(refused.at("error.message").find("little room at /state"), std::string::npos) << refused.text;
    EXPECT_EQ(get("/healthz").at("status"), "\"degraded\"");
    EXPECT_EQ(get("/api/v1/status").at("storage.state"), "\"scarce\"");
    EXPECT_EQ(get("/api/v1/experiments").status, 200U);
  }
  EXPECT_EQ(post("/api/v1/experiments/1/cancel").status, 200U) << "what ends makes room";
  daemon_.runtime->set_storage({});
  EXPECT_EQ(post("/api/v1/experiments", submission(2)).status, 201U);
  EXPECT_EQ(get("/healthz").at("status"), "\"ok\"");
}

TEST_F(HttpRoutes, FullDiskIsReportedAndOnlyDurableStateIsShown) {
  begin_a_search();
  daemon_.store->fill();
  worker_->send(proto::Reports{key_, 3, {metrics_report(3, 0.125)}});
  daemon_.pump_until([this] { return daemon_.runtime->stalled(); });
  daemon_.runtime->set_storage(little_room(Intake::nothing));
  for (const char* path : {"/api/v1/experiments", "/api/v1/experiments/1/trials", "/api/v1/events",
                           "/api/v1/experiments/1/trials/0/metrics"}) {
    EXPECT_EQ(get(path).status, 507U) << path;
  }
  EXPECT_EQ(post("/api/v1/experiments/1/pause").status, 507U);
  const auto status = get("/api/v1/status");
  EXPECT_EQ(status.status, 200U);
  EXPECT_NE(status.at("lsn"), status.at("durable_lsn"));
  EXPECT_EQ(worker_->all<proto::Ack>().size(), 1U) << "nothing is acknowledged that is not durable";
  daemon_.store->make_room();
  worker_->wait_for<proto::Ack>(2);
  EXPECT_EQ(get("/api/v1/experiments/1/trials/0/metrics").count("metrics"), 3U);
}

TEST_F(HttpRoutes, UnknownPathIsNotFound) {
  for (const char* path :
       {"/nothing.js", "/api", "/api/v1/nothing", "/api/v1/experiments/", "/api/v1/experiments/x",
        "/api/v1/experiments/-1", "/api/v1/experiments/99999999999999999999",
        "/api/v1/experiments/1/trials/0/metrics/more", "//api/v1/status"}) {
    const auto answer = get(path);
    EXPECT_EQ(answer.status, 404U) << path;
    EXPECT_EQ(answer.at("error.code"), "\"not_found\"") << path;
  }
}

TEST_F(HttpRoutes, WrongMethodIsNamed) {
  EXPECT_EQ(post("/api/v1/status").status, 405U);
  EXPECT_EQ(daemon_.ask("PUT", "/api/v1/experiments/1").status, 405U);
}

TEST_F(HttpRoutes, AbsentThingsAreNotFound) {
  for (const char* path :
       {"/api/v1/experiments/1", "/api/v1/experiments/1/config", "/api/v1/experiments/1/best",
        "/api/v1/experiments/1/model", "/api/v1/experiments/1/trials", "/api/v1/experiments/1/trials/0",
        "/api/v1/experiments/1/trials/0/metrics", "/api/v1/experiments/1/trials/0/log"}) {
    EXPECT_EQ(get(path).status, 404U) << path;
  }
  for (const char* verb : {"pause", "resume", "cancel", "kill"}) {
    EXPECT_EQ(post("/api/v1/experiments/1/" + std::string(verb)).status, 404U) << verb;
  }
}

TEST_F(HttpRoutes, SubmissionIsAcceptedAndShown) {
  const auto taken = post("/api/v1/experiments", submission(2, R"(,"context_directory":"/work here")"));
  EXPECT_EQ(taken.status, 201U);
  EXPECT_EQ(taken.at("experiment"), "1");
  const auto list = get("/api/v1/experiments");
  EXPECT_EQ(list.count("experiments"), 1U);
  EXPECT_EQ(get("/api/v1/experiments/1").at("name"), "\"small\"");
  EXPECT_EQ(get("/api/v1/experiments/1/config").at("searcher.max_trials"), "2");
  EXPECT_EQ(get("/api/v1/experiments/1/best").text, "null\n");
  EXPECT_EQ(get("/api/v1/experiments/1/model").text, "null\n") << "its sampler has none";
  EXPECT_EQ(daemon_.runtime->engine().find(engine::ExperimentId(1))->context_directory, "/work here");
}

TEST_F(HttpRoutes, PatternWithoutANumberIsRefused) {
  engine::Value config = small_search(2);
  (*config.as_map())["metrics"] = engine::Value::Map{{"loss", "(unclosed"}};
  const auto refused = post("/api/v1/experiments", R"({"config":)" + engine::compact_json(config) + "}");
  EXPECT_EQ(refused.status, 400U) << refused.text;
  EXPECT_NE(refused.text.find("metrics.loss"), std::string::npos) << refused.text;
  EXPECT_NE(refused.text.find("missing )"), std::string::npos) << refused.text;
  EXPECT_EQ(get("/api/v1/experiments").count("experiments"), 0U);
}

TEST_F(HttpRoutes, SubmissionIsAnsweredOnlyWhenItIsDurable) {
  daemon_.store->hold();
  std::optional<engine::Result<net::HttpResponse>> response;
  std::thread client([this, &response, address = daemon_.http->address()] {
    auto got = net::http_request(address, "POST", "/api/v1/experiments", submission(1), 30s);
    daemon_.loop.post([&response, got = std::move(got)] { response = got; });
  });
  daemon_.pump_until([&] { return !daemon_.runtime->engine().experiments().empty(); });
  pump_for(daemon_.loop, 100ms);
  EXPECT_FALSE(response.has_value());
  daemon_.store->let_go();
  daemon_.pump_until([&] { return response.has_value(); });
  client.join();
  EXPECT_EQ((*response)->status, 201U);
}

TEST_F(HttpRoutes, UnknownQueryParameterIsRefusedWithTheNearestName) {
  begin_a_search();
  const auto mistyped = get("/api/v1/experiments/1/trials?limt=3&zzzzzz=1");
  EXPECT_EQ(mistyped.status, 400U);
  EXPECT_NE(mistyped.text.find(R"({"allowed":"limit","path":"limt","what":"is not known"})"),
            std::string::npos)
      << mistyped.text;
  EXPECT_NE(mistyped.text.find(R"("allowed":"state, where, sort, after, limit","path":"zzzzzz")"),
            std::string::npos)
      << mistyped.text;
  EXPECT_EQ(get("/healthz?x=1").status, 400U);
  EXPECT_EQ(post("/api/v1/experiments/1/pause?force=1").status, 400U);
  EXPECT_EQ(get("/api/v1/experiments/1").at("state"), "\"ACTIVE\"");
  EXPECT_EQ(get("/api/v1/experiments/1/trials?limit=1").count("trials"), 1U);
}

TEST_F(HttpRoutes, FailureIsAProblemWithItsError) {
  const auto missing = get("/api/v1/experiments/7");
  EXPECT_EQ(missing.status, 404U);
  EXPECT_EQ(missing.header("Content-Type"), "application/problem+json");
  EXPECT_EQ(missing.at("type"), "\"https://hpsearch.invalid/problems/not_found\"");
  EXPECT_EQ(missing.at("title"), "\"Not found\"");
  EXPECT_EQ(missing.at("status"), "404");
  EXPECT_EQ(missing.at("detail"), "\"there is no experiment 7\"");
  EXPECT_EQ(missing.at("error"), R"({"code":"not_found","message":"there is no experiment 7"})");
  EXPECT_EQ(missing.at("instance"), "\"" + missing.header("X-Request-Id") + "\"");
  const auto wrong = get("/api/v1/experiments?limt=3");
  EXPECT_EQ(wrong.at("errors"), R"([{"allowed":"limit","detail":"is not known","parameter":"limt"}])");
  EXPECT_NE(wrong.header("X-Request-Id"), missing.header("X-Request-Id"));
  EXPECT_NE(get("/healthz").header("X-Request-Id"), "");
}

TEST_F(HttpRoutes, PathsOfProblemsBecomeJsonPointers) {
  EXPECT_EQ(json_pointer("searcher.prior[2].step"), "/searcher/prior/2/step");
  EXPECT_EQ(json_pointer("metrics.a/b~c"), "/metrics/a~1b~0c");
  EXPECT_EQ(json_pointer("matrix[0][1]"), "/matrix/0/1");
  EXPECT_EQ(json_pointer(""), "");
}

constexpr const char* good_file =
    "name: from yaml\nentrypoint: [python3, train.py]\n"
    "hyperparameters:\n  lr: {type: double, minval: 0.0, maxval: 1.0}\n"
    "searcher:\n  name: random\n  metric: loss\n  max_trials: 4\n  max_length: {epochs: 4}\n";

TEST_F(HttpRoutes, ValidationNamesTheLineOfEachProblem) {
  const net::HttpHeaders yaml{{"Content-Type", "application/yaml"}};
  const auto good = daemon_.ask("POST", "/api/v1/experiments/validate", good_file, yaml);
  EXPECT_EQ(good.status, 200U) << good.text;
  EXPECT_EQ(good.at("valid"), "true") << good.text;
  EXPECT_EQ(good.at("config.searcher.max_trials"), "4");
  const auto bad =
      daemon_.ask("POST", "/api/v1/experiments/validate",
                  "name: x\nname: y\nentrypoint: [a]\nsearcher:\n  name: random\n  metric: loss\n"
                  "  max_trials: 0\n  max_length: {epochs: 4}\n",
                  yaml);
  EXPECT_EQ(bad.status, 200U) << bad.text;
  EXPECT_EQ(bad.at("valid"), "false");
  EXPECT_EQ(bad.at("config"), "null");
  EXPECT_NE(bad.text.find(R"("line":2,"path":"name")"), std::string::npos) << bad.text;
  EXPECT_NE(bad.text.find(R"("line":7,"path":"searcher.max_trials","pointer":"/searcher/max_trials")"),
            std::string::npos)
      << bad.text;
  const auto unreadable = daemon_.ask("POST", "/api/v1/experiments/validate", "a: [1,\n\tb: 2", yaml);
  EXPECT_EQ(unreadable.at("valid"), "false") << unreadable.text;
  EXPECT_EQ(post("/api/v1/experiments/validate", submission(2)).at("valid"), "true");
  EXPECT_EQ(get("/api/v1/experiments").count("experiments"), 0U);
}

TEST_F(HttpRoutes, ValidationNamesItsNotes) {
  const net::HttpHeaders yaml{{"Content-Type", "application/yaml"}};
  const std::string file = good_file;
  const auto good = daemon_.ask("POST", "/api/v1/experiments/validate", file, yaml);
  EXPECT_EQ(good.count("to_confirm"), 0U) << good.text;
  const auto doubtful =
      daemon_.ask("POST", "/api/v1/experiments/validate", file + "  smaller_is_better: false\n", yaml);
  EXPECT_EQ(doubtful.count("to_confirm"), 1U) << doubtful.text;
  EXPECT_NE(doubtful.text.find("the search maximises"), std::string::npos) << doubtful.text;
}

TEST_F(HttpRoutes, YamlFileIsPreviewedAndCreated) {
  const net::HttpHeaders yaml{{"Content-Type", "application/yaml; charset=utf-8"}};
  for (const char* path : {"/api/v1/experiments/preview", "/api/v1/preview"}) {
    const auto preview = daemon_.ask("POST", path, good_file, yaml);
    EXPECT_EQ(preview.status, 200U) << preview.text;
    EXPECT_EQ(preview.at("trials"), "4") << preview.text;
  }
  const auto wrong = daemon_.ask("POST", "/api/v1/preview", "name: x\n", yaml);
  EXPECT_EQ(wrong.status, 400U);
  EXPECT_NE(wrong.text.find("\"line\":1"), std::string::npos) << wrong.text;
  EXPECT_EQ(get("/api/v1/experiments").count("experiments"), 0U);
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/experiments", good_file, yaml).status, 201U);
  EXPECT_EQ(get("/api/v1/experiments/1").at("name"), "\"from yaml\"");
  EXPECT_EQ(daemon_.ask("PATCH", "/api/v1/experiments/1", "searcher: {max_trials: 9}", yaml).status, 415U);
}

TEST_F(HttpRoutes, ChangeOfAnOutdatedStateIsRefused) {
  ASSERT_EQ(post("/api/v1/experiments", submission(2)).status, 201U);
  const std::string tag = get("/api/v1/experiments/1").header("ETag");
  EXPECT_EQ(tag, "\"lsn-1\"");
  const auto patch = [this](const std::string& known, const std::string& max_trials) {
    return daemon_.ask("PATCH", "/api/v1/experiments/1", R"({"searcher":{"max_trials":)" + max_trials + "}}",
                       {{"If-Match", known}});
  };
  EXPECT_EQ(patch(tag, "5").status, 200U);
  const auto late = patch(tag, "6");
  EXPECT_EQ(late.status, 412U) << late.text;
  EXPECT_EQ(late.header("ETag"), get("/api/v1/experiments/1").header("ETag"));
  EXPECT_NE(late.header("ETag"), tag);
  EXPECT_EQ(get("/api/v1/experiments/1/config").at("searcher.max_trials"), "5");
  EXPECT_EQ(patch(late.header("ETag"), "6").status, 200U);
  EXPECT_EQ(patch("*", "7").status, 200U);
}

TEST_F(HttpRoutes, EveryWrongLimitIsNamedInOneAnswer) {
  ASSERT_EQ(post("/api/v1/experiments", submission(2)).status, 201U);
  const auto refused = daemon_.ask(
      "PATCH", "/api/v1/experiments/1",
      R"({"searcher":{"max_trials":0,"divisor":3},"budget":{"max_time":"soon"},"entrypoint":"x"})");
  EXPECT_EQ(refused.status, 400U) << refused.text;
  ASSERT_EQ(refused.count("errors"), 4U) << refused.text;
  std::set<std::string> pointers;
  for (const engine::Value& error : *refused.body.at_path("errors")->as_list()) {
    pointers.insert(*error.at_path("pointer")->as_text());
    EXPECT_FALSE(error.at_path("detail")->as_text()->empty());
  }
  EXPECT_EQ(pointers, (std::set<std::string>{"/budget/max_time", "/entrypoint", "/searcher/divisor",
                                             "/searcher/max_trials"}));
  EXPECT_EQ(refused.count("error.problems"), 4U) << "as the command line reads them";
  EXPECT_EQ(get("/api/v1/experiments/1/config").at("searcher.max_trials"), "2");
  EXPECT_EQ(daemon_.ask("PATCH", "/api/v1/experiments/9", R"({"searcher":{"max_trials":0}})").status, 404U);
}

TEST_F(HttpRoutes, ForkCreatesTheSameExperiment) {
  ASSERT_EQ(post("/api/v1/experiments", submission(2)).status, 201U);
  const auto forked = post("/api/v1/experiments/1/fork");
  ASSERT_EQ(forked.status, 200U) << forked.text;
  ASSERT_EQ(post("/api/v1/experiments", forked.text).status, 201U);
  EXPECT_EQ(get("/api/v1/experiments/2/config").text, get("/api/v1/experiments/1/config").text);
  EXPECT_EQ(post("/api/v1/experiments/7/fork").status, 404U);
}

TEST_F(HttpRoutes, OneWorkerIsShownAsInTheList) {
  begin_a_search();
  const auto one = get("/api/v1/workers/1");
  EXPECT_EQ(one.status, 200U);
  EXPECT_EQ(one.at("name"), "\"worker of uid-1\"");
  EXPECT_EQ(get("/api/v1/workers/9").status, 404U);
}

TEST_F(HttpRoutes, SearchersAreListedWithTheirSchemas) {
  const auto list = get("/api/v1/searchers");
  EXPECT_GE(list.count("searchers"), 5U);
  const auto schema = get("/api/v1/searchers/adaptive_asha/schema");
  EXPECT_EQ(schema.at("properties.name"), R"({"const":"adaptive_asha"})");
  EXPECT_NE(schema.at("properties.max_trials"), "") << schema.text;
  EXPECT_EQ(get("/api/v1/searchers/single/schema").at("properties.divisor"), "");
  EXPECT_EQ(get("/api/v1/searchers/no-such/schema").status, 404U);
  EXPECT_EQ(get("/version").at("api"), R"(["v1"])");
}

TEST_F(HttpRoutes, DaemonWithoutRoomIsNotReady) {
  EXPECT_EQ(get("/readyz").status, 200U);
  daemon_.runtime->set_storage({.state = "critical",
                                .free_bytes = 1,
                                .total_bytes = 2,
                                .intake = Intake::no_experiments,
                                .why = "there is little room"});
  const auto not_ready = get("/readyz");
  EXPECT_EQ(not_ready.status, 503U);
  EXPECT_EQ(not_ready.at("failing"), R"([{"check":"storage","why":"there is little room"}])");
}

TEST_F(HttpRoutes, OtherRequestsAreAnsweredWhileASubmissionIsChecked) {
  std::promise<void> gate;
  const std::shared_future<void> opened = gate.get_future().share();
  for (int thread = 0; thread < 2; ++thread) {  // All threads that check submissions.
    daemon_.checks->run([opened]() -> net::Background::Afterwards {
      opened.wait();
      return [] {};
    });
  }
  std::optional<engine::Result<net::HttpResponse>> response;
  std::thread client([this, &response, address = daemon_.http->address()] {
    auto got = net::http_request(address, "POST", "/api/v1/experiments", submission(1), 30s);
    daemon_.loop.post([&response, got = std::move(got)] { response = got; });
  });
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(get("/version").status, 200U);
    EXPECT_EQ(get("/api/v1/experiments").count("experiments"), 0U);
  }
  gate.set_value();
  daemon_.pump_until([&] { return response.has_value(); });
  client.join();
  ASSERT_TRUE(*response);
  EXPECT_EQ((*response)->status, 201U);
  EXPECT_EQ(get("/api/v1/experiments").count("experiments"), 1U);
}

TEST_F(HttpRoutes, QueriesShowOnlyDurableState) {
  daemon_.store->hold();
  engine::CreateExperiment command;
  command.config = small_search(1);
  static_cast<void>(daemon_.runtime->perform(command));
  std::optional<engine::Result<net::HttpResponse>> response;
  std::thread client([this, &response, address = daemon_.http->address()] {
    auto got = net::http_request(address, "GET", "/api/v1/experiments", "", 30s);
    daemon_.loop.post([&response, got = std::move(got)] { response = got; });
  });
  pump_for(daemon_.loop, 200ms);
  EXPECT_FALSE(response.has_value());
  daemon_.store->let_go();
  daemon_.pump_until([&] { return response.has_value(); });
  client.join();
}

TEST_F(HttpRoutes, EachProblemOfASubmissionIsNamed) {
  const auto request =
      post("/api/v1/experiments", R"({"confg":{},"seed":-1,"context_directory":"relative","name":""})");
  EXPECT_EQ(request.status, 400U);
  EXPECT_EQ(request.count("error.problems"), 5U) << request.text;
  EXPECT_NE(request.text.find(R"("allowed":"config","path":"confg")"), std::string::npos) << request.text;

  const auto config =
      post("/api/v1/experiments", R"({"config":{"searcher":{"name":"random","max_trials":0},"x":1}})");
  EXPECT_EQ(config.status, 400U);
  EXPECT_GE(config.count("error.problems"), 3U) << config.text;
  EXPECT_NE(config.text.find("searcher.max_trials"), std::string::npos) << config.text;
  EXPECT_TRUE(daemon_.runtime->engine().experiments().empty());
}

TEST_F(HttpRoutes, BodyThatIsNotJsonIsRefused) {
  for (const char* body : {"", "{", "[]", "3", "{} {}", R"({"config":{},"config":{}})"}) {
    EXPECT_EQ(post("/api/v1/experiments", body).status, 400U) << body;
  }
  begin_a_search();
  for (const char* body : {"", "{", "[]", R"({"budget":{"target":NaN}})", R"({"budget":{},"budget":{}})"}) {
    EXPECT_EQ(daemon_.ask("PATCH", "/api/v1/experiments/1", body).status, 400U) << body;
  }
  EXPECT_EQ(post("/api/v1/experiments/1/trials/0/checkpoints/delete", "{").status, 400U);
  EXPECT_EQ(post("/api/v1/workers/1/quarantine", "[]").status, 400U);
}

TEST_F(HttpRoutes, ConfigurationTooLargeForAWorkerIsRefusedAtOnce) {
  engine::Value config = small_search(1);
  (*config.as_map())["data"] = engine::Value::Map{{"blob", std::string(200'000, 'x')}};
  const auto answer = post("/api/v1/experiments", R"({"config":)" + engine::compact_json(config) + "}");
  EXPECT_EQ(answer.status, 400U);
  EXPECT_NE(answer.text.find("bytes"), std::string::npos) << answer.text;
}

TEST_F(HttpRoutes, SameIdempotencyKeyGivesTheSameExperiment) {
  const net::HttpHeaders key{{"Idempotency-Key", "key-1"}};
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/experiments", submission(1), key).at("experiment"), "1");
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/experiments", submission(1), key).at("experiment"), "1");
  daemon_.restart();
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/experiments", submission(1), key).at("experiment"), "1");
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/experiments", submission(2), key).status, 422U);
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/experiments", submission(1), {{"Idempotency-Key", "key-2"}})
                .at("experiment"),
            "2");
  for (const char* other : {"k\xc3\xa9y", "k\xff", "k\ty"}) {
    const auto refused =
        daemon_.ask("POST", "/api/v1/experiments", submission(1), {{"Idempotency-Key", other}});
    EXPECT_EQ(refused.status, 400U) << "the log would not keep it as it came";
  }
}

TEST_F(HttpRoutes, ExperimentIsPausedResumedAndEnded) {
  ASSERT_EQ(post("/api/v1/experiments", submission(1)).status, 201U);
  EXPECT_EQ(post("/api/v1/experiments/1/pause").at("state"), "\"PAUSED\"");
  EXPECT_EQ(post("/api/v1/experiments/1/pause").status, 200U);
  EXPECT_EQ(post("/api/v1/experiments/1/resume").at("state"), "\"ACTIVE\"");
  EXPECT_EQ(post("/api/v1/experiments/1/cancel").at("state"), "\"CANCELED\"");
  EXPECT_EQ(post("/api/v1/experiments/1/cancel").status, 200U);
  const auto late = post("/api/v1/experiments/1/resume");
  EXPECT_EQ(late.status, 409U);
  EXPECT_EQ(late.at("error.code"), "\"wrong_state\"");
}

TEST_F(HttpRoutes, RunningTrialIsShown) {
  begin_a_search();
  EXPECT_EQ(get("/api/v1/experiments/1/trials").count("trials"), 1U);
  const auto trial = get("/api/v1/experiments/1/trials/0");
  EXPECT_EQ(trial.at("state"), "\"RUNNING\"") << trial.text;
  EXPECT_NE(get("/api/v1/experiments/1/best").text, "null\n");
  const auto workers = get("/api/v1/workers");
  EXPECT_EQ(workers.count("workers"), 1U);
  EXPECT_NE(workers.text.find("\"connected\":true"), std::string::npos) << workers.text;
  EXPECT_NE(workers.text.find("\"suspect\":false"), std::string::npos) << workers.text;
}

TEST_F(HttpRoutes, TrialsAreShownPageByPage) {
  begin_a_search();
  worker_->send(proto::Reports{key_, 3, {engine::ExitReport{}}});
  while (worker_->wait_for<proto::Lease>().spec.key == key_) {  // A lease is repeated until it is answered.
  }
  const std::string trials = "/api/v1/experiments/1/trials";
  const auto all = get(trials);
  const std::size_t total = all.count("trials");
  ASSERT_GE(total, 2U);
  EXPECT_EQ(all.at("next"), "null");
  EXPECT_EQ(all.at("total"), std::to_string(total));
  const auto first = get(trials + "?limit=1");
  EXPECT_EQ(first.count("trials"), 1U);
  EXPECT_EQ(first.at("next"), "0");
  EXPECT_EQ(first.at("total"), std::to_string(total));
  const auto rest = get(trials + "?after=0");
  EXPECT_EQ(rest.count("trials"), total - 1);
  EXPECT_NE(rest.text.find("\"trial\":1"), std::string::npos) << rest.text;
  EXPECT_EQ(rest.text.find("\"trial\":0"), std::string::npos) << rest.text;
  for (const char* end : {"?after=1000", "?after=18446744073709551615"}) {
    EXPECT_EQ(get(trials + end).count("trials"), 0U) << end;
    EXPECT_EQ(get(trials + end).at("next"), "null") << end;
  }
  EXPECT_EQ(get(trials + "?limit=1000000").count("trials"), total);
  for (const char* bad : {"?limit=0", "?limit=x", "?after=-1"}) {
    EXPECT_EQ(get(trials + bad).status, 400U) << bad;
  }
}

TEST_F(HttpRoutes, ExperimentsAndWorkersAreShownPageByPage) {
  begin_a_search();
  ASSERT_EQ(post("/api/v1/experiments", submission(1)).status, 201U);
  const auto first = get("/api/v1/experiments?limit=1");
  EXPECT_EQ(first.count("experiments"), 1U);
  EXPECT_EQ(first.at("next"), "1");
  const auto second = get("/api/v1/experiments?after=1");
  EXPECT_EQ(second.count("experiments"), 1U);
  EXPECT_EQ(second.at("next"), "null");
  EXPECT_EQ(get("/api/v1/workers?after=1").count("workers"), 0U);
  for (const char* bad : {"?limit=0", "?limit=x", "?after=-1", "?limti=1"}) {
    EXPECT_EQ(get("/api/v1/experiments" + std::string(bad)).status, 400U) << bad;
    EXPECT_EQ(get("/api/v1/workers" + std::string(bad)).status, 400U) << bad;
  }
}

TEST_F(HttpRoutes, MetricsShowTheLagOfTheLoop) {
  net::LoopLag& lag = net::lag_of(daemon_.loop);
  lag.was_late(std::chrono::milliseconds(3));
  AboutDaemon about;
  about.authentication = daemon_.authentication.get();
  about.checks = daemon_.checks.get();
  about.lag = &lag;
  const ServedRoutes routes = http_routes(*daemon_.runtime, *daemon_.sessions, about);
  net::HttpResponse shown;
  routes.handler({"GET", "/metrics", {}, {}, "", {}, {::geteuid(), "uid"}},
                 [&](net::HttpResponse response) { shown = std::move(response); });
  EXPECT_EQ(shown.status, 200U);
  EXPECT_EQ(shown.content_type, "text/plain; version=0.0.4; charset=utf-8");
  for (const char* line :
       {"# TYPE hpsearch_event_loop_lag_seconds histogram\n",
        "hpsearch_event_loop_lag_seconds_bucket{le=\"0.0025\"} 0\n",
        "hpsearch_event_loop_lag_seconds_bucket{le=\"0.005\"} 1\n",
        "hpsearch_event_loop_lag_seconds_bucket{le=\"+Inf\"} 1\n",
        "hpsearch_event_loop_lag_seconds_sum 0.003\n", "hpsearch_event_loop_lag_seconds_count 1\n",
        "# TYPE hpsearch_event_loop_turn_max_seconds gauge\n"}) {
    EXPECT_NE(shown.body.find(line), std::string::npos) << line << "in\n" << shown.body;
  }
}

TEST_F(HttpRoutes, CheckpointsAreShownPageByPage) {
  begin_a_search();
  const auto checkpoint = [](std::uint64_t step) {
    return engine::CheckpointReport{engine::Units{step}, "/checkpoints/1/0/1-" + std::to_string(step), 1, 10};
  };
  worker_->send(proto::Reports{key_, 3, {checkpoint(1), checkpoint(2)}});
  worker_->wait_for<proto::Ack>(2);
  const std::string all = "/api/v1/experiments/1/checkpoints";
  const auto whole = get(all);
  const std::size_t kept = whole.count("checkpoints");
  ASSERT_GE(kept, 1U) << whole.text;
  EXPECT_EQ(whole.at("next"), "null");
  EXPECT_EQ(whole.at("being_deleted"), std::to_string(2 - kept));
  const auto first = get(all + "?limit=1");
  EXPECT_EQ(first.count("checkpoints"), 1U);
  EXPECT_EQ(first.at("next"), kept > 1 ? "\"0.1\"" : "0") << "a page may end within a trial";
  EXPECT_EQ(get(all + "?after=0.1").count("checkpoints"), kept - 1);
  EXPECT_EQ(get(all + "?after=9.9").at("next"), "null");
  EXPECT_EQ(get(all + "?after=0.x").status, 400U);
  EXPECT_EQ(get(all + "?after=0").count("checkpoints"), 0U);
  EXPECT_EQ(get(all + "?limit=0").status, 400U);
  EXPECT_EQ(get("/api/v1/experiments/9/checkpoints").status, 404U);
  const std::string of_trial = "/api/v1/experiments/1/trials/0/checkpoints";
  EXPECT_EQ(get(of_trial).count("checkpoints"), kept);
  EXPECT_EQ(get(of_trial).at("next"), "null");
  EXPECT_EQ(get(of_trial + "?limit=1").count("checkpoints"), 1U);
  EXPECT_EQ(get(of_trial + "?after=1").count("checkpoints"), kept - 1);
  EXPECT_EQ(get("/api/v1/experiments/1/trials/99/checkpoints").status, 404U);
}

TEST_F(HttpRoutes, MetricsAreReadFromTheStore) {
  begin_a_search();
  const auto answer = get("/api/v1/experiments/1/trials/0/metrics");
  EXPECT_EQ(
      answer.text,
      R"({"metrics":[{"attempt":1,"metrics":{"loss":0.5},"step":1},{"attempt":1,"metrics":{"loss":0.25},"step":2}],"next":null})"
      "\n");
}

TEST_F(HttpRoutes, MetricsComeInPages) {
  begin_a_search();
  engine::Metrics many;
  for (int i = 0; i < 2'000; ++i) {
    many.emplace_back("m" + std::to_string(i), i);
  }
  worker_->send(proto::Reports{key_, 3, {engine::MetricsReport{engine::Units(3), many}}});
  worker_->wait_for<proto::Ack>(2);
  worker_->send(proto::Reports{key_, 4, {engine::MetricsReport{engine::Units(4), many}}});
  worker_->wait_for<proto::Ack>(3);
  worker_->send(proto::Reports{key_, 5, {engine::MetricsReport{engine::Units(4), many}}});
  worker_->send(proto::Reports{key_, 6, {metrics_report(4, 0.125)}});
  worker_->wait_for<proto::Ack>(4);
  daemon_.pump_until([&] { return worker_->all<proto::Ack>().back().upto == 6; });
  const std::string target = "/api/v1/experiments/1/trials/0/metrics";
  const auto first = get(target);
  EXPECT_EQ(first.count("metrics"), 5U);
  EXPECT_EQ(first.at("next"), "\"1.5\"");
  const auto second = get(target + "?after=1.5");
  EXPECT_EQ(second.text, R"({"metrics":[{"attempt":1,"metrics":{"loss":0.125},"step":4}],"next":null})"
                         "\n");
  for (const char* wrong : {"1", "1.", ".5", "x.y", "1.5.1"}) {
    const auto refused = get(target + "?after=" + wrong);
    EXPECT_EQ(refused.status, 400U) << wrong;
    EXPECT_NE(refused.text.find("after is"), std::string::npos) << refused.text;
  }
}

TEST_F(HttpRoutes, EventsComeInPagesAndPerExperiment) {
  begin_a_search();
  ASSERT_EQ(post("/api/v1/experiments", submission(1)).status, 201U);
  const auto all = get("/api/v1/events?limit=1000");
  const std::size_t count = all.count("events");
  EXPECT_EQ(all.at("last_lsn"), std::to_string(count));
  const auto page = get("/api/v1/events?after=1&limit=2");
  EXPECT_EQ(page.count("events"), 2U);
  EXPECT_EQ(page.at("last_lsn"), "3");
  EXPECT_EQ((*page.body.at_path("events")->as_list())[0].at_path("lsn")->number_or(0), 2);
  const auto second = get("/api/v1/events?experiment=2");
  EXPECT_EQ(second.count("events"), 1U) << second.text;
  EXPECT_EQ(second.at("last_lsn"), std::to_string(count));
  const auto first = get("/api/v1/events?experiment=1&limit=1");
  EXPECT_EQ(first.at("last_lsn"), "1");
  for (const char* beyond : {"99999", "9223372036854775807", "18446744073709551615"}) {
    const auto nothing = get("/api/v1/events?after=" + std::string(beyond));
    EXPECT_EQ(nothing.count("events"), 0U) << beyond;
    EXPECT_EQ(nothing.at("last_lsn"), std::to_string(daemon_.runtime->engine().last_lsn().number()))
        << beyond;
  }
  EXPECT_EQ(get("/api/v1/events?after=x").status, 400U);
  EXPECT_EQ(get("/api/v1/events?limit=-1").status, 400U);
}

TEST_F(HttpRoutes, LogIsRequestedFromTheWorker) {
  begin_a_search();
  std::optional<engine::Result<net::HttpResponse>> response;
  std::thread client([this, &response, address = daemon_.http->address()] {
    auto got = net::http_request(
        address, "GET", "/api/v1/experiments/1/trials/0/log?stream=stderr&from_end=1&limit=9", "", 30s);
    daemon_.loop.post([&response, got = std::move(got)] { response = got; });
  });
  const auto question = worker_->wait_for<proto::ReadLog>();
  EXPECT_EQ(question.key, key_);
  EXPECT_EQ(question.stream, "stderr");
  EXPECT_TRUE(question.from_end);
  EXPECT_EQ(question.limit, 9U);
  worker_->send(proto::LogPart{question.request, 3, 12, "epoch two", ""});
  daemon_.pump_until([&] { return response.has_value(); });
  client.join();
  ASSERT_TRUE(*response);
  EXPECT_EQ((*response)->status, 200U);
  EXPECT_EQ((*response)->body,
            "{\"attempt\":1,\"kept\":false,\"offset\":3,\"size\":12,\"text\":\"epoch two\"}\n");
}

TEST_F(HttpRoutes, UtilizationIsReadFromTheWorkerPieceByPiece) {
  begin_a_search();
  const auto answer = [this](const std::vector<std::string>& pieces, std::uint64_t size) {
    std::optional<engine::Result<net::HttpResponse>> response;
    std::thread client([this, &response, address = daemon_.http->address()] {
      auto got =
          net::http_request(address, "GET", "/api/v1/experiments/1/trials/0/attempts/1/utilization", "", 30s);
      daemon_.loop.post([&response, got = std::move(got)] { response = got; });
    });
    std::uint64_t offset = 0;
    for (const std::string& piece : pieces) {
      const auto question = worker_->wait_for<proto::ReadLog>();
      worker_->forget();
      EXPECT_EQ(question.key, key_);
      EXPECT_EQ(question.stream, "utilization");
      EXPECT_EQ(question.offset, offset);
      worker_->send(proto::LogPart{question.request, offset, size, piece, size == 0 ? "there is none" : ""});
      offset += piece.size();
    }
    daemon_.pump_until([&] { return response.has_value(); });
    client.join();
    EXPECT_TRUE(*response);
    return *response ? (*response)->body : "";
  };
  const std::string text =
      proto::utilization_text({{10'000, 10'000, 5'000, 7, {}}, {20'000, 10'000, 10'000, 8, {}}});
  const std::string body = answer({text.substr(0, 20), text.substr(20)}, text.size());
  EXPECT_NE(body.find("\"memory_bytes\":[7,8]"), std::string::npos) << body;
  EXPECT_NE(body.find("\"why_none\":null"), std::string::npos) << body;
  const std::string none = answer({""}, 0);
  EXPECT_NE(none.find("\"at\":[]"), std::string::npos) << none;
  EXPECT_NE(none.find("\"why_none\":\"there is none"), std::string::npos) << none;
}

TEST_F(HttpRoutes, LogOfADisconnectedWorkerIsUnavailable) {
  begin_a_search();
  daemon_.restart();
  const auto answer = get("/api/v1/experiments/1/trials/0/log");
  EXPECT_EQ(answer.status, 503U);
  EXPECT_NE(answer.text.find("worker of uid-1"), std::string::npos);
}

TEST_F(HttpRoutes, UidOfAWorkerIsNotShown) {
  begin_a_search();
  for (const char* path : {"/api/v1/workers", "/api/v1/events?limit=1000"}) {
    const auto answer = get(path);
    EXPECT_NE(answer.text.find("\"worker of uid-1\""), std::string::npos) << path;
    EXPECT_EQ(answer.text.find("\"uid-1\""), std::string::npos) << path;
  }
}

TEST_F(HttpRoutes, LogQueriesAreChecked) {
  begin_a_search();
  EXPECT_EQ(get("/api/v1/experiments/1/trials/0/log?stream=stdin").status, 400U);
  EXPECT_EQ(get("/api/v1/experiments/1/trials/0/log?offset=x").status, 400U);
  EXPECT_EQ(get("/api/v1/experiments/1/trials/0/log?attempt=9").status, 404U);
}

TEST_F(HttpRoutes, StatusCountsExperimentsAndTrials) {
  begin_a_search();
  const auto status = get("/api/v1/status");
  EXPECT_EQ(status.at("version"), "\"0.1.0\"");
  EXPECT_EQ(status.at("daemon_epoch"), "1");
  EXPECT_EQ(status.at("experiments"), "1");
  EXPECT_EQ(status.at("lsn"), status.at("durable_lsn"));
  EXPECT_GT(status.body.at_path("engine_seconds")->number_or(0), 0);
  EXPECT_GT(status.body.at_path("commits")->number_or(0), 0);
}

}  // namespace
}  // namespace hpsearch::daemon
