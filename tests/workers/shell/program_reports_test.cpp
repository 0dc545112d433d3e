// Messages of programs, and the answers.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "workers/shell/programs.hpp"

namespace hpsearch::workers::test {
namespace {

using engine::AttemptKey;
using engine::Directive;
using engine::ExitReport;
using engine::InvalidHparamsReport;
using engine::Lsn;
using engine::MetricsReport;
using engine::Units;
using jobs::LaunchSpec;
using Cause = engine::ExitReport::Cause;

TEST_F(Programs, ReportOnTheSocketAndGetTheDecision) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, python(R"(
print(say(type="report", step=1, metrics={"acc": 0.5, "train": {"loss": float("nan")}}))
print(say(type="report", step=3, metrics={"acc": 0.75}))
print(say(type="log", text="more to come"))
)")));
  wait_for_reports(key, 2);
  EXPECT_EQ(daemon_.started, (std::vector<AttemptKey>{key}));
  decide(key, 50, Directive::train_on, 9);
  const ExitReport exit = daemon_.wait_for_exit(key);
  EXPECT_EQ(exit.cause, Cause::exited);
  EXPECT_EQ(exit.code, 0) << exit.log_tail;
  EXPECT_EQ(daemon_.decision_acks, (std::vector<Lsn>{Lsn{50}}));
  const auto metrics = daemon_.reports_of<MetricsReport>(key);
  ASSERT_EQ(metrics.size(), 2U);
  EXPECT_EQ(metrics[0].step, Units{1});
  EXPECT_EQ(metrics[0].metrics[0], (std::pair<std::string, double>{"acc", 0.5}));
  EXPECT_EQ(metrics[0].metrics[1].first, "train.loss");
  EXPECT_TRUE(std::isnan(metrics[0].metrics[1].second));
  EXPECT_EQ(metrics[1].step, Units{3});
  EXPECT_EQ(read_log(key, "stdout").text,
            "{'directive': 'continue', 'length': 3}\n{'directive': 'continue', 'length': 9}\n"
            "more to come\n{'directive': 'continue', 'length': 9}\n");
}

TEST_F(Programs, ProgressIsLoggedForEachPercent) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, python(R"(
for fraction in 0.1, 0.101, None, 0.5, 7, 1:
    say(type="progress", fraction=fraction)
say(type="progress")
print("ends")
)")));
  const ExitReport exit = daemon_.wait_for_exit(key);
  EXPECT_EQ(exit.code, 0) << exit.log_tail;
  EXPECT_EQ(read_log(key, "stdout").text, "progress 10%\nprogress 50%\nprogress 100%\nends\n");
}

TEST_F(Programs, ReportByLinesOnStdout) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key,
                shell(R"(printf 'epoch 1\nHPSEARCH {{"step":1,"acc":0.25}}\n'; )"
                      R"(printf '50%%\rHPSEARCH {{"step":2,"acc":NaN}}\nHPSEARCH {{"step":3,"acc":0.5}}')")));
  const ExitReport exit = daemon_.wait_for_exit(key);
  EXPECT_EQ(exit.code, 0);
  const auto metrics = daemon_.reports_of<MetricsReport>(key);
  ASSERT_EQ(metrics.size(), 3U);
  EXPECT_EQ(metrics[2].step, Units{3});
  EXPECT_TRUE(std::isnan(metrics[1].metrics[0].second));
}

TEST_F(Programs, OutputIsReadByPatterns) {
  begin();
  const AttemptKey key = key_of(0);
  LaunchSpec spec = spec_of(key, shell("echo 'epoch 1 acc: 0.25'; echo 'epoch 2 acc: tensor(0.5)' >&2"));
  spec.metric_patterns["acc"] = R"(epoch (?P<step>\d+) acc: (?P<value>.*))";
  lease(spec);
  daemon_.wait_for_exit(key);
  const auto metrics = daemon_.reports_of<MetricsReport>(key);
  ASSERT_EQ(metrics.size(), 2U);  // The two streams have no order between them.
  EXPECT_EQ(metrics[0].metrics[0].second + metrics[1].metrics[0].second, 0.75);
}

TEST_F(Programs, WithAnInvalidPatternDoNotStart) {
  begin();
  const AttemptKey key = key_of(0);
  LaunchSpec spec = spec_of(key, shell("true"));
  spec.metric_patterns["acc"] = "(";
  lease(spec);
  const ExitReport exit = daemon_.wait_for_exit(key);
  EXPECT_EQ(exit.cause, Cause::could_not_start);
  EXPECT_NE(exit.message.find("metrics.acc"), std::string::npos) << exit.message;
}

TEST_F(Programs, GetAnErrorForAnInvalidMessageAndContinue) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, python(R"(
print(say(type="report", step="three", metrics={}))
lines.write("x" * 70000 + "\n"); lines.flush(); print(lines.readline())
print(say(type="report", step=1, metrics={"acc": 0.5}))
)")));
  EXPECT_EQ(daemon_.wait_for_exit(key).code, 0);
  const std::string text = read_log(key, "stdout").text;
  EXPECT_NE(text.find("step is \"three\""), std::string::npos) << text;
  EXPECT_NE(text.find("longer than 65536 bytes"), std::string::npos) << text;
  EXPECT_NE(text.find("continue"), std::string::npos) << text;
}

TEST_F(Programs, MayShutDownTheirSideBeforeTheAnswer) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, python(R"(
lines.write('{"type":"report","step":3,"metrics":{"acc":1}}'); lines.flush()
stream.shutdown(socket.SHUT_WR)
print(lines.readline())
)")));
  wait_for_reports(key, 1);
  decide(key, 50, Directive::stop);
  EXPECT_EQ(daemon_.wait_for_exit(key).code, 0);
  EXPECT_NE(read_log(key, "stdout").text.find("stop"), std::string::npos);
}

TEST_F(Programs, ReportInvalidHyperparameters) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, python(R"(
answer = say(type="invalid_hyperparameters", why="more heads than features")
sys.exit(0 if answer["directive"] == "stop" else 1)
)")));
  EXPECT_EQ(daemon_.wait_for_exit(key).code, 0);
  ASSERT_EQ(daemon_.reports_of<InvalidHparamsReport>(key).size(), 1U);
  EXPECT_EQ(daemon_.reports_of<InvalidHparamsReport>(key)[0].why, "more heads than features");
}

TEST_F(Programs, LastReportBeforeTheEndCounts) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, python(R"(
for step in range(1, 3):
    print(json.dumps({"type": "report", "step": step, "metrics": {"acc": step}}), file=lines)
lines.flush()
os._exit(3)
)")));
  EXPECT_EQ(daemon_.wait_for_exit(key).code, 3);
  EXPECT_EQ(daemon_.reports_of<MetricsReport>(key).size(), 2U);
}

TEST_F(Programs, PauseBelowTheLengthComesWithTheNextReport) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, python(R"(
say(type="report", step=1, metrics={"acc": 0})
import time
while True:
    time.sleep(0.01)
    answer = say(type="report", step=2, metrics={"acc": 0})
    if answer["directive"] != "continue":
        print(answer["directive"])
        break
)")));
  wait_for_reports(key, 1);
  decide(key, 50, Directive::pause);
  EXPECT_EQ(daemon_.wait_for_exit(key).cause, Cause::exited);
  EXPECT_EQ(read_log(key, "stdout").text, "pause\n");
}

}  // namespace
}  // namespace hpsearch::workers::test
