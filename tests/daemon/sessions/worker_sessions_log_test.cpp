#include <gtest/gtest.h>

#include <optional>

#include "daemon/daemon_fixture.hpp"
#include "daemon/sessions/worker_sessions.hpp"
#include "messages.hpp"

namespace hpsearch::daemon {
namespace {

using namespace std::chrono_literals;

class WorkerSessionsLog : public testing::Test {
 protected:
  WorkerSessionsLog() {
    daemon_.submit(small_search(1));
    worker_.join();
    key_ = worker_.wait_for<proto::Lease>().spec.key;
    worker_.send(proto::Started{key_});
  }
  void ask() {
    WorkerSessions::LogQuestion question;
    question.worker = engine::WorkerId(1);
    question.key = key_;
    question.stream = "stderr";
    question.offset = 10;
    question.limit = 100;
    daemon_.sessions->read_log(question,
                               [this](const engine::Result<proto::LogPart>& part) { answer_ = part; });
  }

  DaemonFixture daemon_;
  ScriptedWorker worker_{daemon_};
  engine::AttemptKey key_;
  std::optional<engine::Result<proto::LogPart>> answer_;
};

TEST_F(WorkerSessionsLog, IsRequestedFromTheWorker) {
  ask();
  const auto question = worker_.wait_for<proto::ReadLog>();
  EXPECT_EQ(question.key, key_);
  EXPECT_EQ(question.stream, "stderr");
  EXPECT_EQ(question.offset, 10U);
  EXPECT_EQ(question.limit, 100U);
  worker_.send(proto::LogPart{question.request, 10, 15, "hello", ""});
  daemon_.pump_until([&] { return answer_.has_value(); });
  ASSERT_TRUE(*answer_);
  EXPECT_EQ((*answer_)->text, "hello");
}

TEST_F(WorkerSessionsLog, UnrequestedPartsAreIgnored) {
  worker_.send(proto::LogPart{99, 0, 0, "surprise", ""});
  ask();
  const auto question = worker_.wait_for<proto::ReadLog>();
  worker_.send(proto::LogPart{question.request, 10, 15, "asked", ""});
  worker_.send(proto::LogPart{question.request, 10, 15, "again", ""});
  daemon_.pump_until([&] { return answer_.has_value(); });
  pump_for(daemon_.loop, 50ms);
  EXPECT_EQ((*answer_)->text, "asked");
}

TEST_F(WorkerSessionsLog, DisconnectedWorkerIsNamed) {
  worker_.send(proto::Goodbye{""});
  daemon_.pump_until([&] { return !daemon_.sessions->connected(engine::WorkerId(1)); });
  ask();
  ASSERT_TRUE(answer_.has_value());
  ASSERT_FALSE(*answer_);
  EXPECT_EQ(answer_->error().code, engine::Errc::unavailable);
  EXPECT_MESSAGE(answer_->error().message);
}

TEST_F(WorkerSessionsLog, SilentWorkerIsNamed) {
  ask();
  daemon_.pump_until([&] { return answer_.has_value(); });
  ASSERT_FALSE(*answer_);
  EXPECT_EQ(answer_->error().code, engine::Errc::unavailable);
  EXPECT_MESSAGE(answer_->error().message);
}

TEST_F(WorkerSessionsLog, SilentWorkerGetsNoMoreRequestsBeforeItsNextMessage) {
  ask();
  daemon_.pump_until([&] { return answer_.has_value(); });
  answer_.reset();
  ask();
  ASSERT_TRUE(answer_.has_value()) << "at once";
  EXPECT_MESSAGE(answer_->error().message);
  EXPECT_EQ(worker_.all<proto::ReadLog>().size(), 1U);
  answer_.reset();
  worker_.send(proto::Beat{});
  daemon_.pump_until([&] {
    ask();
    return worker_.all<proto::ReadLog>().size() > 1;
  });
}

TEST_F(WorkerSessionsLog, RequestsFailWhenTheDaemonEnds) {
  ask();
  daemon_.sessions->stop();
  ASSERT_TRUE(answer_.has_value());
  EXPECT_FALSE(*answer_);
}

}  // namespace
}  // namespace hpsearch::daemon
