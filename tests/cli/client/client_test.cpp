#include "cli/client/client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/render/text.hpp"

namespace hpsearch::cli {
namespace {

TEST(ReadAnswer, MapsTheDaemonsErrorsToExitCodes) {
  const std::pair<unsigned, Exit> table[] = {{400, Exit::usage},
                                             {404, Exit::not_found},
                                             {409, Exit::conflict},
                                             {503, Exit::failed},
                                             {500, Exit::failed}};
  for (const auto& [status, exit] : table) {
    const auto answer = read_answer(status, R"({"error":{"code":"x","message":"so it is"}})", "a:1");
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.failure().exit, exit) << status;
    EXPECT_EQ(answer.failure().message, "so it is");
  }
}

TEST(ReadAnswer, KeepsTheProblems) {
  const auto answer = read_answer(
      400, R"({"error":{"message":"bad","problems":[{"path":"a.b","what":"is 0","allowed":"at least 1"}]}})",
      "a:1");
  ASSERT_FALSE(answer);
  ASSERT_EQ(answer.failure().problems.size(), 1U);
  EXPECT_EQ(answer.failure().problems[0].path, "a.b");
}

TEST(ReadAnswer, RefusesAnswersOfOtherServers) {
  const auto page = read_answer(200, "<html>", "a:1");
  ASSERT_FALSE(page);
  EXPECT_THAT(page.failure().message, testing::HasSubstr("a:1"));
  const auto error = read_answer(502, "<html>", "a:1");
  ASSERT_FALSE(error);
  EXPECT_THAT(error.failure().message, testing::HasSubstr("502"));
}

TEST(ReadAnswer, AcceptsSuccess) {
  const auto answer = read_answer(201, R"({"experiment":7})", "a:1");
  ASSERT_TRUE(answer);
  EXPECT_EQ(count_at(*answer, "experiment"), 7U);
}

TEST(Client, ReportsThatNoDaemonAnswers) {
  Client client("127.0.0.1:1");
  client.set_timeout(std::chrono::seconds(2));
  const auto answer = client.get("/healthz");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.failure().exit, Exit::unreachable);
  EXPECT_THAT(answer.failure().message, testing::HasSubstr("127.0.0.1:1"));
}

}  // namespace
}  // namespace hpsearch::cli
