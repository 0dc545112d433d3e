#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "daemon/daemon_fixture.hpp"

// Requests for long answers wait in turns of their clients, and other requests don't wait for them.

namespace hpsearch::daemon {
namespace {

class HeavyRequests : public testing::Test {
 protected:
  HeavyRequests() {
    // A worker may leave a request for its log unanswered for as long as a test takes.
    daemon_.reopen_gate({.checkpoint_root = "/checkpoints/default",
                         .repeat_after = engine::Duration::millis(500),
                         .log_patience = engine::Duration::seconds(3600),
                         .new_http_key = new_secret});
    daemon_.serve_http(false);
    routes_ = http_routes(*daemon_.runtime, *daemon_.sessions,
                          {.version = "0.1.0",
                           .state_dir = "/state",
                           .started = {},
                           .kept = daemon_.kept.get(),
                           .checks = daemon_.checks.get(),
                           .authentication = daemon_.authentication.get(),
                           .tokens = &daemon_.tokens});
  }

  std::string token(const std::string& name, Role role = Role::viewer) {
    const auto made = daemon_.tokens.create(name, role, Tokens::usual_life, "uid 0", daemon_.runtime->now());
    EXPECT_TRUE(made);
    return made ? made->text : "";
  }

  /// The status of an answer, 0 before it arrives.
  using Asked = std::shared_ptr<unsigned>;
  Asked ask(const std::string& token, const std::string& path,
            std::vector<std::pair<std::string, std::string>> query = {}, const std::string& body = "") {
    net::HttpRequest request;
    request.method = body.empty() ? "GET" : "POST";
    request.path = path;
    request.query = std::move(query);
    request.body = body;
    request.peer = {{}, "127.0.0.1"};
    request.headers = {{"Authorization", "Bearer " + token}, {"Content-Type", "application/json"}};
    auto status = std::make_shared<unsigned>(0);
    routes_.handler(std::move(request), [status, this](net::HttpResponse response) {
      *status = response.status;
      headers_ = response.headers;
    });
    return status;
  }
  static std::ptrdiff_t answered(const std::vector<Asked>& all) {
    return std::count_if(all.begin(), all.end(), [](const Asked& one) { return *one != 0; });
  }

  DaemonFixture daemon_;
  ServedRoutes routes_;
  net::HttpHeaders headers_;
};

TEST_F(HeavyRequests, WaitingRequestsOfOneTokenAreLimited) {
  daemon_.submit(small_search(3));
  const std::string busy = token("busy");
  const std::string other = token("other");
  std::vector<Asked> asked;
  for (int i = 0; i < 66; ++i) {  // Two run and 64 wait.
    asked.push_back(ask(busy, "/api/v1/experiments/1/columns"));
  }
  EXPECT_EQ(answered(asked), 0);
  EXPECT_EQ(*ask(busy, "/api/v1/experiments/1/columns"), 503U);
  EXPECT_EQ(headers_.back(), (std::pair<std::string, std::string>("Retry-After", "1")));
  EXPECT_EQ(*ask(busy, "/api/v1/whoami"), 200U) << "short requests don't wait";
  const Asked others = ask(other, "/api/v1/experiments/1/columns");
  EXPECT_EQ(*others, 0U) << "each token has its own";
  daemon_.pump_until([&] { return answered(asked) == 66 && *others != 0; });
  EXPECT_TRUE(std::all_of(asked.begin(), asked.end(), [](const Asked& one) { return *one == 200; }));
  EXPECT_EQ(*others, 200U);
}

// Sixty reads of a viewer delayed submissions by seconds.
TEST_F(HeavyRequests, OneTokenDoesNotDelayOthers) {
  ScriptedWorker worker(daemon_);
  worker.join();
  daemon_.submit(small_search(1));
  worker.send(proto::Started{worker.wait_for<proto::Lease>().spec.key});
  const std::string busy = token("busy");
  const std::string other = token("other");
  const std::string submitter = token("submitter", Role::submit);
  const auto search = [&](const std::string& whose) {
    return ask(whose, "/api/v1/experiments/1/trials/0/log", {{"q", "loss"}});
  };
  std::vector<Asked> asked;
  for (int i = 0; i < 60; ++i) {
    asked.push_back(search(busy));
  }
  worker.wait_for<proto::ReadLog>(2);
  const Asked submitted = ask(submitter, "/api/v1/experiments", {},
                              "{\"config\": " + engine::compact_json(small_search(1)) + "}");
  daemon_.pump_until([&] { return *submitted != 0; });
  EXPECT_EQ(*submitted, 201U);
  EXPECT_EQ(worker.all<proto::ReadLog>().size(), 2U) << "two searches of a token run at once";
  const Asked others = search(other);
  const auto question = worker.wait_for<proto::ReadLog>(3);
  EXPECT_EQ(answered(asked), 0);
  worker.send(proto::LogPart{question.request, 0, 0, "", ""});
  daemon_.pump_until([&] { return *others != 0; });
  EXPECT_EQ(*others, 200U);
  EXPECT_EQ(answered(asked), 0) << "the other token's search didn't wait for them";
}

}  // namespace
}  // namespace hpsearch::daemon
