#include <gtest/gtest.h>

#include <optional>

#include "daemon/house.hpp"
#include "daemon/worker_gate.hpp"

namespace hpsearch::daemon {
namespace {

using namespace std::chrono_literals;

class WorkerGateLog : public testing::Test {
 protected:
  WorkerGateLog() {
    house_.submit(small_search(1));
    worker_.join();
    key_ = worker_.wait_for<proto::Lease>().spec.key;
    worker_.send(proto::Started{key_});
  }
  void ask() {
    WorkerGate::LogQuestion question;
    question.worker = engine::WorkerId(1);
    question.key = key_;
    question.stream = "stderr";
    question.offset = 10;
    question.limit = 100;
    house_.gate->read_log(question, [this](const engine::Result<proto::LogPart>& part) { answer_ = part; });
  }

  House house_;
  ScriptedWorker worker_{house_};
  engine::AttemptKey key_;
  std::optional<engine::Result<proto::LogPart>> answer_;
};

TEST_F(WorkerGateLog, IsAskedOfTheWorker) {
  ask();
  const auto question = worker_.wait_for<proto::ReadLog>();
  EXPECT_EQ(question.key, key_);
  EXPECT_EQ(question.stream, "stderr");
  EXPECT_EQ(question.offset, 10U);
  EXPECT_EQ(question.limit, 100U);
  worker_.send(proto::LogPart{question.request, 10, 15, "hello", ""});
  house_.pump_until([&] { return answer_.has_value(); });
  ASSERT_TRUE(*answer_);
  EXPECT_EQ((*answer_)->text, "hello");
}

TEST_F(WorkerGateLog, AnswersNobodyAskedForAreIgnored) {
  worker_.send(proto::LogPart{99, 0, 0, "surprise", ""});
  ask();
  const auto question = worker_.wait_for<proto::ReadLog>();
  worker_.send(proto::LogPart{question.request, 10, 15, "asked", ""});
  worker_.send(proto::LogPart{question.request, 10, 15, "again", ""});
  house_.pump_until([&] { return answer_.has_value(); });
  pump_for(house_.loop, 50ms);
  EXPECT_EQ((*answer_)->text, "asked");
}

TEST_F(WorkerGateLog, WorkerThatIsAwayIsNamed) {
  worker_.send(proto::Goodbye{""});
  house_.pump_until([&] { return !house_.gate->connected(engine::WorkerId(1)); });
  ask();
  ASSERT_TRUE(answer_.has_value());
  ASSERT_FALSE(*answer_);
  EXPECT_EQ(answer_->error().code, engine::Errc::unavailable);
  EXPECT_NE(answer_->error().message.find("worker of uid-1"), std::string::npos);
}

TEST_F(WorkerGateLog, WorkerThatDoesNotAnswerIsNamed) {
  ask();
  house_.pump_until([&] { return answer_.has_value(); });
  ASSERT_FALSE(*answer_);
  EXPECT_EQ(answer_->error().code, engine::Errc::unavailable);
  EXPECT_NE(answer_->error().message.find("does not answer"), std::string::npos);
}

TEST_F(WorkerGateLog, IsGivenUpWhenTheDaemonEnds) {
  ask();
  house_.gate->stop();
  ASSERT_TRUE(answer_.has_value());
  EXPECT_FALSE(*answer_);
}

}  // namespace
}  // namespace hpsearch::daemon
