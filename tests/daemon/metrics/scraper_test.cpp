#include <gtest/gtest.h>

#include <string>

#include "daemon/daemon_fixture.hpp"

namespace hpsearch::daemon {
namespace {

/// The routes that scrapers reach without a token.
class Scraper : public testing::Test {
 protected:
  Scraper() {
    AboutDaemon about;
    about.authentication = daemon_.authentication.get();
    about.checks = daemon_.checks.get();
    about.is_ending = [this] { return ending_; };
    routes_ = http_routes(*daemon_.runtime, *daemon_.sessions, about);
  }
  net::HttpResponse ask(const std::string& path, const std::string& method = "GET") {
    net::HttpResponse answer;
    routes_.metrics({method, path, {}, {}, "", {}, {std::nullopt, "10.0.0.7"}},
                    [&](net::HttpResponse response) { answer = std::move(response); });
    return answer;
  }

  DaemonFixture daemon_;
  bool ending_ = false;
  ServedRoutes routes_;
};

TEST_F(Scraper, ReachesOnlyMetricsAndReadiness) {
  EXPECT_EQ(ask("/metrics").status, 200U);
  EXPECT_EQ(ask("/readyz").status, 200U);
  EXPECT_EQ(ask("/api/v1/status").status, 404U);
  EXPECT_EQ(ask("/api/v1/experiments").status, 404U);
  EXPECT_EQ(ask("/").status, 404U);
  EXPECT_EQ(ask("/metrics", "POST").status, 405U);
}

TEST_F(Scraper, EndingDaemonIsNotReady) {
  ending_ = true;
  const net::HttpResponse answer = ask("/readyz");
  EXPECT_EQ(answer.status, 503U);
  EXPECT_NE(answer.body.find(R"("check":"running")"), std::string::npos) << answer.body;
}

TEST_F(Scraper, CountsMessagesAndRefusalsOfWorkers) {
  ScriptedWorker worker(daemon_);
  worker.join();
  ScriptedWorker stranger(daemon_, "uid-2");
  stranger.envelope.cluster = daemon_.runtime->cluster() + 1;
  stranger.send_hello();
  stranger.wait_for<proto::Refused>();
  ScriptedWorker nameless(daemon_, "uid-3");
  nameless.send(proto::Beat{});
  nameless.wait_for<proto::Resync>();
  const std::string page = ask("/metrics").body;
  for (const char* line :
       {"hpsearch_worker_messages_total{direction=\"received\",type=\"HELLO\"} 2\n",
        "hpsearch_worker_messages_total{direction=\"sent\",type=\"WELCOME\"} 1\n",
        "hpsearch_worker_refused_total{why=\"store\"} 1\n", "hpsearch_worker_refused_total{why=\"key\"} 0\n",
        "hpsearch_worker_resyncs_total 1\n",
        "hpsearch_slots{state=\"idle\",kind=\"cpu\",pool=\"default\"} 1\n"}) {
    EXPECT_NE(page.find(line), std::string::npos) << line << "in\n" << page;
  }
}

}  // namespace
}  // namespace hpsearch::daemon
