#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "daemon/daemon_fixture.hpp"

namespace hpsearch::daemon {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)

net::HttpHeaders under(const std::string& key) {
  return {{"Idempotency-Key", key}};
}

class Idempotency : public testing::Test {
 protected:
  /// The number of events of that kind in the log.
  std::size_t events_of(std::string_view type) {
    const auto answer = daemon_.ask("GET", "/api/v1/events?limit=1000");
    std::size_t found = 0;
    for (const engine::Value& event : *answer.body.at_path("events")->as_list()) {
      found += *event.at_path("type")->as_text() == type ? 1U : 0U;
    }
    return found;
  }

  DaemonFixture daemon_;
};

TEST_F(Idempotency, RepeatedChangeGetsTheSameAnswerAndChangesNothing) {
  daemon_.submit(small_search(3));
  daemon_.submit(small_search(3));
  ScriptedWorker worker(daemon_);
  worker.join();
  const struct {
    const char* method;
    const char* path;
    const char* body;
  } changes[] = {
      {"POST", "/api/v1/experiments/1/pause", ""},
      {"POST", "/api/v1/experiments/1/resume", ""},
      {"PATCH", "/api/v1/experiments/1", R"({"searcher":{"max_trials":5}})"},
      {"POST", "/api/v1/workers/1/quarantine", R"({"why":"it is hot"})"},
      {"POST", "/api/v1/workers/1/release", ""},
      {"POST", "/api/v1/experiments/1/cancel", ""},
      {"POST", "/api/v1/experiments/2/kill", ""},
      {"POST", "/api/v1/workers/1/drain", ""},
      {"POST", "/api/v1/experiments/2/archive", ""},
      {"POST", "/api/v1/experiments/2/unarchive", ""},
      {"DELETE", "/api/v1/experiments/2", ""},
      {"POST", "/api/v1/tokens", R"({"name":"ci","role":"viewer"})"},
  };
  for (const auto& change : changes) {
    const std::string key = std::string("key of ") + change.path;
    const auto first = daemon_.ask(change.method, change.path, change.body, under(key));
    ASSERT_EQ(first.status / 100, 2U) << change.path << first.text;
    EXPECT_EQ(first.header("Idempotent-Replay"), "");
    const std::string before = daemon_.picture();
    const auto again = daemon_.ask(change.method, change.path, change.body, under(key));
    EXPECT_EQ(again.status, first.status) << change.path;
    EXPECT_EQ(again.text, first.text);
    EXPECT_EQ(again.header("Idempotent-Replay"), "true") << change.path;
    EXPECT_EQ(daemon_.picture(), before) << change.path;
  }
  EXPECT_EQ(events_of("experiment_paused"), 1U);
  EXPECT_EQ(events_of("worker_quarantined"), 1U);
}

TEST_F(Idempotency, RepeatedSubmissionIsMarked) {
  const std::string body = R"({"config":)" + engine::compact_json(small_search(2)) + "}";
  const auto first = daemon_.ask("POST", "/api/v1/experiments", body, under("s"));
  ASSERT_EQ(first.status, 201U) << first.text;
  EXPECT_EQ(first.header("Idempotent-Replay"), "");
  daemon_.restart();
  const auto again = daemon_.ask("POST", "/api/v1/experiments", body, under("s"));
  EXPECT_EQ(again.text, first.text);
  EXPECT_EQ(again.header("Idempotent-Replay"), "true");
}

TEST_F(Idempotency, SameKeyForAnotherRequestIsRefused) {
  daemon_.submit(small_search(2));
  ASSERT_EQ(
      daemon_.ask("PATCH", "/api/v1/experiments/1", R"({"searcher":{"max_trials":5}})", under("k")).status,
      200U);
  EXPECT_EQ(
      daemon_.ask("PATCH", "/api/v1/experiments/1", R"({"searcher":{"max_trials":6}})", under("k")).status,
      422U);
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/experiments/1/pause", "", under("k")).status, 422U);
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/experiments/1/config").at("searcher.max_trials"), "5");
}

TEST_F(Idempotency, KeysOfDifferentTokensAreDifferent) {
  daemon_.submit(small_search(2));
  const auto key_of = [this](const std::string& name) {
    const auto made = daemon_.tokens.create(name, Role::operate, Tokens::usual_life, "uid 0",
                                            daemon_.runtime->now(), Scope());
    net::HttpHeaders headers = under("k");
    headers.emplace_back("Authorization", "Bearer " + (made ? made->text : made.error().message));
    return headers;
  };
  const net::HttpHeaders ann = key_of("ann");
  const net::HttpHeaders bob = key_of("bob");
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/experiments/1/pause", "", ann).status, 200U);
  const auto resumed = daemon_.ask("POST", "/api/v1/experiments/1/resume", "", bob);
  EXPECT_EQ(resumed.status, 200U) << resumed.text;
  const auto paused = daemon_.ask("POST", "/api/v1/experiments/1/pause", "", ann);
  EXPECT_EQ(paused.header("Idempotent-Replay"), "true");
  EXPECT_EQ(events_of("experiment_paused"), 1U);
}

// One client got the experiment of another one as its answer, and its own was never made.
TEST_F(Idempotency, SameKeyOfTwoClientsMakesTwoExperiments) {
  const std::string body = R"({"config":)" + engine::compact_json(small_search(2)) + "}";
  const auto with_token = [this](const std::string& name, const std::string& workspace) {
    const auto made = daemon_.tokens.create(name, Role::submit, Tokens::usual_life, "uid 0",
                                            daemon_.runtime->now(), Scope({workspace}));
    net::HttpHeaders headers = under("nightly-1");
    headers.emplace_back("Authorization", "Bearer " + (made ? made->text : made.error().message));
    return headers;
  };
  const net::HttpHeaders ann = with_token("ann", "default");
  const net::HttpHeaders bob = with_token("bob", "default");
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/experiments", body, ann).at("experiment"), "1");
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/experiments", body, bob).at("experiment"), "2");
  const std::string another = R"({"config":)" + engine::compact_json(small_search(3)) + "}";
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/experiments", another, under("nightly-1")).at("experiment"), "3")
      << "nothing of the others' experiments is in the answer";
  engine::Value config = small_search(3);
  (*config.as_map())["workspace"] = "nlp";
  (*config.as_map())["project"] = "letters";
  const std::string elsewhere = R"({"config":)" + engine::compact_json(config) + "}";
  const auto of_workspace = daemon_.ask("POST", "/api/v1/experiments", elsewhere, under("nightly-1"));
  EXPECT_EQ(of_workspace.at("experiment"), "4") << of_workspace.text;
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/experiments/2", "", bob).at("owner"), "\"bob\"");
  daemon_.restart();
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/experiments", body, bob).at("experiment"), "2");
}

TEST_F(Idempotency, RefusedChangeCanBeRepeated) {
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/experiments/1/pause", "", under("k")).status, 404U);
  daemon_.submit(small_search(2));
  const auto paused = daemon_.ask("POST", "/api/v1/experiments/1/pause", "", under("k"));
  EXPECT_EQ(paused.status, 200U) << paused.text;
  EXPECT_EQ(paused.header("Idempotent-Replay"), "");
}

TEST_F(Idempotency, KeysThatAreTooLongOrNotPrintableAreRefused) {
  daemon_.submit(small_search(2));
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/experiments/1/pause", "", under(std::string(201, 'k'))).status,
            400U);
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/experiments/1/pause", "", under("k\xc3\xa4")).status, 400U);
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/experiments/1/pause", "", under(std::string(200, 'k'))).status,
            200U);
}

TEST_F(Idempotency, RepetitionDuringTheFirstRequestIsRefused) {
  daemon_.submit(small_search(2));
  daemon_.store->hold();
  std::vector<unsigned> statuses;
  std::vector<std::thread> clients;
  for (int i = 0; i < 2; ++i) {
    clients.emplace_back([this, &statuses, address = daemon_.http->address()] {
      auto got = net::http_request(address, "POST", "/api/v1/experiments/1/pause", "", 30s, under("k"));
      daemon_.loop.post([&statuses, got = std::move(got)] { statuses.push_back(got ? got->status : 0); });
    });
  }
  daemon_.pump_until([&] { return statuses.size() == 1; });
  EXPECT_EQ(statuses.front(), 409U) << "one of the two must wait";
  daemon_.store->let_go();
  daemon_.pump_until([&] { return statuses.size() == 2; });
  for (std::thread& client : clients) {
    client.join();
  }
  EXPECT_EQ(statuses.back(), 200U);
  EXPECT_EQ(events_of("experiment_paused"), 1U);
}

TEST_F(Idempotency, ChangeCommittedBeforeACrashIsMadeOnce) {
  daemon_.submit(small_search(2));
  const engine::Lsn before = daemon_.runtime->engine().last_lsn();
  std::thread client([address = daemon_.http->address()] {
    // There is no answer: the daemon dies first.
    static_cast<void>(net::http_request(address, "POST", "/api/v1/experiments/1/pause", "", 30s, under("k")));
  });
  daemon_.store->hold();
  daemon_.pump_until([&] { return daemon_.runtime->engine().last_lsn() > before; });
  // From here on the loop does not run, so nothing is answered.
  daemon_.store->let_go();
  while (daemon_.runtime->store_counters().durable < daemon_.runtime->engine().last_lsn()) {
    std::this_thread::sleep_for(1ms);
  }
  daemon_.crash();
  client.join();
  daemon_.start();
  ASSERT_EQ(daemon_.ask("GET", "/api/v1/experiments/1").at("state"), "\"PAUSED\"");
  // Another client resumes it meanwhile, which the first client's retry must not undo.
  ASSERT_EQ(daemon_.ask("POST", "/api/v1/experiments/1/resume").status, 200U);
  const auto again = daemon_.ask("POST", "/api/v1/experiments/1/pause", "", under("k"));
  EXPECT_EQ(again.status, 200U) << again.text;
  EXPECT_EQ(again.header("Idempotent-Replay"), "true");
  EXPECT_EQ(again.at("state"), "\"ACTIVE\"") << "after a restart it is answered as it is now";
  EXPECT_EQ(events_of("experiment_paused"), 1U);
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/experiments/1/cancel", "", under("k")).status, 422U);
}

TEST_F(Idempotency, ChangeLostInACrashIsMadeByItsRepetition) {
  daemon_.submit(small_search(2));
  const engine::Lsn before = daemon_.runtime->engine().last_lsn();
  daemon_.store->hold();
  std::thread client([address = daemon_.http->address()] {
    static_cast<void>(net::http_request(address, "POST", "/api/v1/experiments/1/pause", "", 30s, under("k")));
  });
  daemon_.pump_until([&] { return daemon_.runtime->engine().last_lsn() > before; });
  daemon_.store->fail_from_now_on();
  daemon_.store->let_go();
  daemon_.crash();
  client.join();
  daemon_.start();
  ASSERT_EQ(daemon_.ask("GET", "/api/v1/experiments/1").at("state"), "\"ACTIVE\"");
  const auto again = daemon_.ask("POST", "/api/v1/experiments/1/pause", "", under("k"));
  EXPECT_EQ(again.at("state"), "\"PAUSED\"");
  EXPECT_EQ(again.header("Idempotent-Replay"), "");
}

TEST(AnsweredRequests, DifferByMethodPathQueryOrBody) {
  net::HttpRequest request;
  request.method = "POST";
  request.path = "/a";
  request.query = {{"x", "1"}};
  request.body = "b";
  request.headers = under("k");
  const auto name_of = [](const net::HttpRequest& one) {
    return *AnsweredRequests::name_of("ann", one).value();
  };
  const AnsweredRequests::Name first = name_of(request);
  EXPECT_EQ(name_of(request).request, first.request);
  const auto is_another = [&](auto change) {
    net::HttpRequest other = request;
    change(other);
    return name_of(other).key == first.key && name_of(other).request != first.request;
  };
  EXPECT_TRUE(is_another([](net::HttpRequest& other) { other.method = "PUT"; }));
  EXPECT_TRUE(is_another([](net::HttpRequest& other) { other.path = "/b"; }));
  EXPECT_TRUE(is_another([](net::HttpRequest& other) { other.query = {{"x", "2"}}; }));
  EXPECT_TRUE(is_another([](net::HttpRequest& other) { other.query = {{"y", "1"}}; }));
  EXPECT_TRUE(is_another([](net::HttpRequest& other) { other.query.clear(); }));
  EXPECT_TRUE(is_another([](net::HttpRequest& other) { other.body = "c"; }));
}

TEST(AnsweredRequests, AreKeptForADayAndLimitedInNumber) {
  AnsweredRequests requests;
  const auto at = [](std::int64_t seconds) { return engine::Instant::from_micros(seconds * 1'000'000); };
  using Known = AnsweredRequests::Known;
  const AnsweredRequests::Name one{"one", "r"};
  requests.begin(one, at(10));
  EXPECT_EQ(requests.look_up(one, at(11)), Known::running);
  EXPECT_EQ(requests.look_up({"one", "other"}, at(11)), Known::other_request);
  net::HttpResponse answer;
  answer.body = std::string(AnsweredRequests::most_answer_bytes / 2, 'x');
  requests.end(one, answer);
  EXPECT_EQ(requests.look_up(one, at(12)), Known::answered);
  for (const char* key : {"two", "three"}) {
    requests.begin({key, "r"}, at(13));
    requests.end({key, "r"}, answer);
  }
  EXPECT_EQ(requests.look_up(one, at(14)), Known::forgotten) << "its answer made room for others";
  requests.note({"one", "r"}, at(10));
  EXPECT_EQ(requests.look_up(one, at(14)), Known::done) << "the log has what it changed";
  EXPECT_EQ(requests.look_up({"three", "r"}, at(14)), Known::answered);
  const std::int64_t day = 24LL * 3600;
  EXPECT_EQ(requests.look_up(one, at(10 + day)), Known::no);
  EXPECT_EQ(requests.look_up({"three", "r"}, at(10 + day)), Known::answered);
  EXPECT_EQ(requests.look_up({"three", "r"}, at(13 + day)), Known::no);
  for (std::size_t i = 0; i <= AnsweredRequests::most_requests; ++i) {
    requests.note({"k" + std::to_string(i), "r"}, at(20 + day));
  }
  EXPECT_EQ(requests.look_up({"k0", "r"}, at(20 + day)), Known::no);
  EXPECT_EQ(requests.look_up({"k1", "r"}, at(20 + day)), Known::done);
}

}  // namespace
}  // namespace hpsearch::daemon
