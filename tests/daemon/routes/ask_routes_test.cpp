#include <gtest/gtest.h>

#include <string>

#include "daemon/daemon_fixture.hpp"
#include "messages.hpp"

namespace hpsearch::daemon {
namespace {

/// A daemon with a search whose trials clients run.
class AskRoutes : public testing::Test {
 protected:
  AskRoutes() { submit(4); }
  void submit(std::int64_t max_trials) {
    engine::Value config = small_search(max_trials);
    config.as_map()->erase("entrypoint");
    (*config.as_map())["workers"] = "external";
    const auto created = post("/api/v1/experiments", R"({"config":)" + engine::compact_json(config) + "}");
    ASSERT_EQ(created.status, 201U) << created.text;
  }
  DaemonFixture::Answer post(const std::string& target, const std::string& body,
                             const net::HttpHeaders& headers = {}) {
    return daemon_.ask("POST", target, body, headers);
  }
  DaemonFixture::Answer ask(const std::string& body = "{}", const net::HttpHeaders& headers = {}) {
    return post("/api/v1/experiments/1/ask", body, headers);
  }
  /// A member of a trial of the answer, as JSON.
  static std::string of(const DaemonFixture::Answer& asked, std::size_t place, const std::string& name) {
    const engine::Value* trials = asked.body.at_path("trials");
    return trials != nullptr && place < trials->as_list()->size()
               ? engine::compact_json(*(*trials->as_list())[place].at_path(name))
               : "";
  }
  DaemonFixture::Answer report(const std::string& lease, int step, const std::string& metric = "0.5",
                               const std::string& more = "") {
    return post("/api/v1/experiments/1/trials/0/report" + more, R"({"lease":)" + lease + R"(,"step":)" +
                                                                    std::to_string(step) +
                                                                    R"(,"metrics":{"loss":)" + metric + "}}");
  }
  DaemonFixture::Answer tell(const std::string& lease, const std::string& state, int trial = 0) {
    return post("/api/v1/experiments/1/trials/" + std::to_string(trial) + "/tell",
                R"({"lease":)" + lease + R"(,"state":")" + state + R"("})");
  }

  DaemonFixture daemon_;
};

TEST_F(AskRoutes, TrialIsRequestedReportedAndEnded) {
  const auto asked = ask(R"({"count":2,"lease_seconds":30})");
  ASSERT_EQ(asked.status, 200U) << asked.text;
  ASSERT_EQ(asked.count("trials"), 2U);
  EXPECT_EQ(of(asked, 0, "trial"), "0");
  EXPECT_EQ(of(asked, 0, "length"), "4");
  EXPECT_EQ(of(asked, 0, "reached"), "0");
  EXPECT_EQ(of(asked, 0, "lease_seconds"), "30.0");
  EXPECT_NE(of(asked, 0, "hparams.lr"), "");
  const std::string lease = of(asked, 0, "lease");
  const auto first = report(lease, 1);
  ASSERT_EQ(first.status, 200U) << first.text;
  EXPECT_EQ(first.at("directive"), "\"continue\"");
  EXPECT_EQ(first.at("length"), "4");
  EXPECT_EQ(report(lease, 4).at("directive"), "\"stop\"");
  const auto end = tell(lease, "completed");
  EXPECT_EQ(end.at("trial_state"), "\"COMPLETED\"") << end.text;
  EXPECT_EQ(tell(lease, "completed").status, 200U) << "its client may not have got the answer";
  EXPECT_EQ(report(lease, 5).status, 409U);
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/experiments/1/trials/0/metrics").count("metrics"), 2U);
}

TEST_F(AskRoutes, RepeatedAskGetsTheSameTrials) {
  const net::HttpHeaders key{{"Idempotency-Key", "night-7"}};
  const auto asked = ask(R"({"count":2})", key);
  const auto again = ask(R"({"count":2})", key);
  EXPECT_EQ(again.text, asked.text);
  EXPECT_EQ(again.header("Idempotent-Replay"), "true");
  EXPECT_EQ(ask(R"({"count":1})", key).status, 422U);
  daemon_.restart();
  const auto after = ask(R"({"count":2})", key);
  EXPECT_EQ(after.text, asked.text) << "the log has who got them";
  EXPECT_EQ(after.header("Idempotent-Replay"), "true");
  EXPECT_EQ(daemon_.runtime->engine().find(engine::ExperimentId(1))->running.size(), 2U);
}

TEST_F(AskRoutes, AnswerIsDurable) {
  const auto asked = ask();
  daemon_.restart();
  EXPECT_EQ(tell(of(asked, 0, "lease"), "completed").status, 200U);
}

TEST_F(AskRoutes, LeaseWithoutRenewalIsLost) {
  const std::string lease = of(ask(R"({"lease_seconds":1})"), 0, "lease");
  const engine::TrialRecord& trial =
      *daemon_.runtime->engine().find(engine::ExperimentId(1), engine::TrialNumber(0));
  daemon_.pump_until([&] { return !trial.live; });
  EXPECT_EQ(trial.state, engine::TrialState::pending);
  const auto late = report(lease, 1);
  EXPECT_EQ(late.status, 409U);
  EXPECT_MESSAGE(late.at("error.message"));
  const auto again = ask();
  EXPECT_EQ(of(again, 0, "trial"), "0");
  EXPECT_EQ(of(again, 0, "attempt"), "2");
}

TEST_F(AskRoutes, LeaseWithoutRenewalAfterARestartIsLost) {
  static_cast<void>(ask(R"({"lease_seconds":1})"));
  daemon_.restart();
  daemon_.pump_until(
      [&] { return !daemon_.runtime->engine().find(engine::ExperimentId(1), engine::TrialNumber(0))->live; });
}

TEST_F(AskRoutes, NothingIsDecidedWithoutAMetric) {
  const std::string lease = of(ask(), 0, "lease");
  const auto answer = post("/api/v1/experiments/1/trials/0/report?wait=1",
                           R"({"lease":)" + lease + R"(,"step":4,"metrics":{"other":1}})");
  EXPECT_EQ(answer.status, 202U) << answer.text;
  EXPECT_EQ(answer.at("directive"), "\"continue\"");
  EXPECT_EQ(report(lease, 4, R"({"class":"nan"})").status, 200U);
}

TEST_F(AskRoutes, InvalidHyperparametersEndTheTrial) {
  EXPECT_EQ(tell(of(ask(), 0, "lease"), "invalid_hyperparameters").at("trial_state"), "\"STOPPED\"");
}

TEST_F(AskRoutes, InvalidInputIsNamed) {
  const std::string lease = of(ask(), 0, "lease");
  for (const auto& [body, message] :
       std::vector<std::pair<std::string, std::string>>{{R"({"count":0})", "count is 0"},
                                                        {R"({"count":257})", "count is 257"},
                                                        {R"({"count":"2"})", "count is \\\"2\\\""},
                                                        {R"({"lease_seconds":0})", "lease_seconds is 0"},
                                                        {R"({"lease_seconds":1e9})", "lease_seconds is 1"},
                                                        {R"({"counts":1})", "counts is unknown"}}) {
    const auto answer = ask(body);
    EXPECT_EQ(answer.status, 400U) << body;
    EXPECT_NE(answer.text.find(message), std::string::npos) << answer.text;
  }
  EXPECT_EQ(report("7", 1).status, 400U) << "a lease is a text";
  EXPECT_EQ(report("\"7\"", 1).status, 409U);
  EXPECT_EQ(report(lease, -1).status, 400U);
  EXPECT_EQ(report(lease, 1, "\"low\"").status, 400U);
  EXPECT_EQ(report(lease, 1, "1", "?wait=61").status, 400U);
  EXPECT_EQ(tell(lease, "done").status, 400U);
  EXPECT_EQ(tell(lease, "completed", 99).status, 404U);
  daemon_.submit(small_search(2));
  EXPECT_EQ(post("/api/v1/experiments/2/ask", "{}").status, 409U);
}

}  // namespace
}  // namespace hpsearch::daemon
