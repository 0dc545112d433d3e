#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "workers/core/fixtures/program_line.hpp"
#include "workers/core/fixtures/stage.hpp"

// How many bytes of reports may be unacknowledged, and who limits them.

namespace hpsearch::workers::test {
namespace {

constexpr std::uint64_t kib = 1024;

/// Batches of 1 KiB, and programs whose reports take a quarter of that each.
class Credit : public testing::Test {
 protected:
  static WorkerRules rules() {
    WorkerRules rules = Stage::rules();
    rules.attempt.batch_bytes = kib;
    return rules;
  }
  void send_reports(const AttemptKey& of, int from, int upto) {
    const std::string name(161, 'x');
    for (int number = from; number <= upto; ++number) {
      stage.step(program_line(of, std::nullopt, R"({"step":1,"acc":0.5,")" + name + R"(":0.5})",
                              static_cast<std::uint64_t>(number)));
    }
  }
  /// The number of the attempt's reports that were sent since the last call.
  std::uint64_t sent(const AttemptKey& of) {
    std::uint64_t count = 0;
    for (const proto::Reports& batch : stage.said<proto::Reports>()) {
      count += batch.key == of ? batch.reports.size() : 0;
    }
    stage.clear();
    return count;
  }
  void begin(std::uint64_t credit) {
    stage.say(proto::Welcome{WorkerId{7}, 10'000, {}, "", 0, credit});
    stage.run(key, 0);
  }

  Stage stage{rules()};
  const AttemptKey key = key_of(1, 10);
  const AttemptKey other = key_of(2, 20);
};

TEST_F(Credit, DefaultIsTheWorkersOwnLimitOfBatches) {
  begin(0);
  send_reports(key, 1, 100);
  EXPECT_EQ(sent(key), 64U) << "one batch each";
}

TEST_F(Credit, GrantInTheWelcomeLimitsUnacknowledgedReports) {
  begin(2 * kib);
  send_reports(key, 1, 100);
  EXPECT_EQ(sent(key), 8U);
  send_reports(key, 101, 110);
  EXPECT_EQ(sent(key), 0U);
}

TEST_F(Credit, ZeroAllowsOneBatchAndEveryReportArrives) {
  begin(1);
  send_reports(key, 1, 40);
  std::uint64_t arrived = 0;
  for (int turn = 0; turn < 100 && arrived < 40; ++turn) {
    const std::uint64_t more = sent(key);
    ASSERT_EQ(more, 4U) << "after report " << arrived;
    arrived += more;
    stage.say(proto::Ack{key, arrived, 1});
  }
  EXPECT_EQ(arrived, 40U);
}

TEST_F(Credit, LastAcknowledgementDecides) {
  begin(kib);
  send_reports(key, 1, 1'000);
  EXPECT_EQ(sent(key), 4U);
  stage.say(proto::Ack{key, 4, 16 * kib});
  EXPECT_EQ(sent(key), 67U) << "there is more again";
  stage.say(proto::Ack{key, 70, kib});
  EXPECT_EQ(sent(key), 3U) << "and less again: one of the others is still under way";
  stage.say(proto::Ack{key, 74});
  EXPECT_EQ(sent(key), 64U * 4U) << "a daemon that says nothing leaves it to the worker";
}

TEST_F(Credit, BeyondTheWorkersOwnLimitIsNotUsed) {
  begin(0);
  for (std::uint64_t number = 2; number <= 128; ++number) {
    stage.say(lease_of(key_of(number, 10 * number), 0));  // They wait for its slot.
  }
  stage.step(SendRefused{});
  send_reports(key, 1, 400);
  stage.pass(Duration::seconds(1));
  stage.clear();
  stage.envelope().session_epoch = 2;
  stage.say(proto::Welcome{WorkerId{7}, 10'000, {{key, Fate::go_on, 0}}, "", 0, std::uint64_t{1} << 40U});
  EXPECT_EQ(sent(key), 32 * kib / 244) << "a 128th of 4 MiB";
}

TEST_F(Credit, IsSharedByAllAttempts) {
  begin(4 * kib);
  stage.run(other, 1);
  send_reports(key, 1, 100);
  EXPECT_EQ(sent(key), 8U) << "half of it is the other one's";
  stage.say(proto::Ack{key, 1, 1});
  stage.clear();
  send_reports(other, 1, 1);
  EXPECT_EQ(sent(other), 1U) << "whatever the first one has under way";
}

TEST_F(Credit, LargeReportIsSentWithoutCredit) {
  begin(1);
  const std::string why(3 * kib, 'y');
  stage.step(
      program_line(key, QuestionId{1}, R"({"type":"invalid_hyperparameters","why":")" + why + "\"}", 1));
  EXPECT_EQ(sent(key), 1U);
}

TEST_F(Credit, LimitsResentReports) {
  begin(0);
  send_reports(key, 1, 100);
  stage.step(SendRefused{});
  stage.pass(Duration::seconds(1));
  stage.clear();
  stage.envelope().session_epoch = 2;
  stage.say(proto::Welcome{WorkerId{7}, 10'000, {{key, Fate::go_on, 0}}, "", 0, kib});
  EXPECT_EQ(sent(key), 4U) << "one batch";
}

}  // namespace
}  // namespace hpsearch::workers::test
