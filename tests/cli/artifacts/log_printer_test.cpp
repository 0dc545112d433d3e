#include "cli/artifacts/log_printer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "messages.hpp"

namespace hpsearch::cli {
namespace {

using namespace std::string_literals;

Failure no_log() {
  return not_found_failure("it has no log there");
}
Failure away() {
  return Failure{Exit::failed, engine::Errc::unavailable, "its worker is away"};
}

/// A trial that advances one step whenever its course is read.
class Course final : public LogSource {
 public:
  using Log = Outcome<std::string>;
  struct Look {
    std::uint64_t attempts;
    bool over;
    std::vector<Log> logs;  ///< Logs of attempts 1, 2 ….
  };
  explicit Course(std::vector<Look> looks) : looks_(std::move(looks)) {}

  [[nodiscard]] Outcome<LogSource::Course> course() const override {
    now_ = next_;
    next_ = std::min(next_ + 1, looks_.size() - 1);
    return LogSource::Course{looks_[now_].attempts, looks_[now_].over};
  }
  [[nodiscard]] Outcome<LogPart> read(std::uint64_t attempt, std::uint64_t offset,
                                      bool from_end) const override {
    const std::vector<Log>& logs = looks_[now_].logs;
    if (attempt > logs.size()) {
      return no_log();
    }
    const Log& log = logs[attempt - 1];
    if (!log) {
      return log.failure();
    }
    const std::uint64_t from = from_end ? 0 : offset;
    return LogPart{from, log->size(), log->substr(std::min<std::size_t>(from, log->size()))};
  }

 private:
  std::vector<Look> looks_;
  mutable std::size_t now_ = 0;
  mutable std::size_t next_ = 0;
};

struct Printed {
  int status = 0;
  std::string text;
  std::string messages;
};

Printed printed(
    const Course& course, const std::function<void(ShownLog&)>& with = [](ShownLog&) {}) {
  ShownLog shown;
  shown.follow = true;
  with(shown);
  const Output output(Output::Format::table);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Printed printed;
  printed.status = LogPrinter(course, shown, output, std::chrono::milliseconds(1)).print_all();
  printed.text = testing::internal::GetCapturedStdout();
  printed.messages = testing::internal::GetCapturedStderr();
  return printed;
}

TEST(LogPrinters, WaitForAnAttemptThatIsBeingPrepared) {
  const std::vector<Course::Look> looks{{0, false, {}},
                                        {1, false, {no_log()}},
                                        {1, false, {no_log()}},
                                        {1, false, {"one\n"s}},
                                        {1, true, {"one\ntwo\n"s}}};
  EXPECT_EQ(printed(Course(looks)).text, "one\ntwo\n");
  const Printed end =
      printed(Course({looks.begin() + 1, looks.end()}), [](ShownLog& shown) { shown.tail = 5; });
  EXPECT_EQ(end.status, 0) << end.messages;
  EXPECT_EQ(end.text, "one\ntwo\n");
}

TEST(LogPrinters, ContinueWithTheNextAttemptBeforeItHasALog) {
  const Course course({{1, false, {"first\n"s}},
                       {2, false, {"first\n"s, no_log()}},
                       {2, false, {"first\n"s, no_log()}},
                       {2, true, {"first\n"s, "second\n"s}}});
  const Printed all = printed(course);
  EXPECT_EQ(all.status, 0) << all.messages;
  EXPECT_EQ(all.text, "first\nsecond\n");
}

TEST(LogPrinters, SkipAnAttemptThatNeverHadALog) {
  const Course course(
      {{1, false, {no_log()}}, {2, false, {no_log(), "second\n"s}}, {2, true, {no_log(), "second\n"s}}});
  const Printed all = printed(course);
  EXPECT_EQ(all.status, 0);
  EXPECT_EQ(all.text, "second\n");
  EXPECT_MESSAGE(all.messages);
}

TEST(LogPrinters, WaitForADisconnectedWorkerWhileItsTrialRuns) {
  std::vector<Course::Look> looks(50, {1, false, {away()}});
  looks.push_back({1, true, {"back\n"s}});
  EXPECT_EQ(printed(Course(looks)).text, "back\n");
}

/// The log of an ended attempt whose middle is missing.
class Gap final : public LogSource {
 public:
  [[nodiscard]] Outcome<LogSource::Course> course() const override { return LogSource::Course{1, true}; }
  [[nodiscard]] Outcome<LogPart> read(std::uint64_t /*attempt*/, std::uint64_t offset,
                                      bool from_end) const override {
    const std::string head = "one\ntwo";
    const std::string tail = "of three\nfour\n";
    constexpr std::uint64_t size = 12'345'700;
    if (!from_end && offset < head.size()) {
      return LogPart{offset, size, head.substr(offset)};
    }
    const std::uint64_t begin = size - tail.size();
    const std::uint64_t at = from_end ? begin : std::max(offset, begin);
    return LogPart{at, size, tail.substr(at - begin)};
  }
};

TEST(LogPrinters, ReportLeftOutBytesInOneLine) {
  const auto print = [](const std::function<void(ShownLog&)>& with) {
    const Gap gap;
    ShownLog shown;
    with(shown);
    const Output output(Output::Format::table);
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    Printed printed;
    printed.status = LogPrinter(gap, shown, output, std::chrono::milliseconds(1)).print_all();
    printed.text = testing::internal::GetCapturedStdout();
    printed.messages = testing::internal::GetCapturedStderr();
    return printed;
  };
  const std::string said = "… 12.3 MB left out here …\n";
  EXPECT_EQ(print([](ShownLog&) {}).text, "one\ntwo\n" + said + "of three\nfour\n");
  EXPECT_EQ(print([](ShownLog& shown) { shown.follow = true; }).text,
            "one\ntwo\n" + said + "of three\nfour\n");
  const Printed raw = print([](ShownLog& shown) { shown.raw = true; });
  EXPECT_EQ(raw.text, "one\ntwoof three\nfour\n");
  EXPECT_NE(raw.messages.find(said), std::string::npos) << raw.messages;
  EXPECT_EQ(print([](ShownLog& shown) { shown.tail = 1; }).text, "four\n");
}

TEST(LogPrinters, FailAtOnceIfALogWillNeverExist) {
  EXPECT_EQ(printed(Course({{1, true, {no_log()}}})).status, static_cast<int>(Exit::not_found));
  EXPECT_EQ(printed(Course({{1, false, {"a\n"s}}}), [](ShownLog& shown) { shown.attempt = 3; }).status,
            static_cast<int>(Exit::not_found));
  EXPECT_EQ(printed(Course({{1, false, {away()}}}), [](ShownLog& shown) { shown.follow = false; }).status,
            static_cast<int>(Exit::failed));
}

}  // namespace
}  // namespace hpsearch::cli
