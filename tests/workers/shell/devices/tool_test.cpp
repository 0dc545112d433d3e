#include "hpsearch/workers/shell/devices/tool.hpp"

#include <gtest/gtest.h>

namespace hpsearch::workers {
namespace {

using namespace std::chrono_literals;

std::string problem_of(const std::vector<std::string>& command, const ToolLimits& limits = {}) {
  const auto output = tool_output(command, limits);
  EXPECT_FALSE(output);
  return output ? "" : output.error().message;
}

TEST(ToolOutput, IsWhatTheProgramPrints) {
  const auto output = tool_output({"printf", "%s", "$HOME; a  b\n"});
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(*output, "$HOME; a  b\n") << "no shell reads the words";
}

TEST(ToolOutput, ProgramThatFailsHasNone) {
  EXPECT_EQ(problem_of({"false"}), "false: it failed with exit code 1");
  EXPECT_EQ(problem_of({"/there/is/none"}), "/there/is/none: it cannot be started");
  EXPECT_EQ(problem_of({"sh", "-c", "kill -9 $$"}), "sh: it was killed");
}

TEST(ToolOutput, HasLimits) {
  EXPECT_EQ(problem_of({"sleep", "60"}, {.time = 20ms}), "sleep: it did not answer within 20 ms");
  EXPECT_EQ(problem_of({"cat", "/dev/zero"}, {.bytes = 1'000'000}),
            "cat: it printed more than 1000000 bytes");
}

}  // namespace
}  // namespace hpsearch::workers
