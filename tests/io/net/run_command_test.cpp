#include "hpsearch/io/net/run_command.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "hpsearch/io/files/descriptor.hpp"

namespace hpsearch::net {
namespace {

using std::chrono::seconds;

TEST(RunCommand, AnswersWithOutputErrorsAndStatus) {
  const CommandAnswer answer = run_command({"sh", "-c", "echo $1 $NAME; echo wrong >&2; exit 3", "sh", "a b"},
                                           seconds(20), {"NAME=value"});
  EXPECT_TRUE(answer.ran);
  EXPECT_EQ(answer.status, 3);
  EXPECT_EQ(answer.output, "a b value\n");
  EXPECT_EQ(answer.complaint(), "wrong");
  EXPECT_TRUE(answer.was_refused());
  EXPECT_FALSE(answer.succeeded());
}

TEST(RunCommand, ProgramsThatAreMissingOrKilledDiffer) {
  const CommandAnswer missing = run_command({"/nowhere/program"}, seconds(20));
  EXPECT_TRUE(missing.was_refused());
  EXPECT_EQ(missing.complaint(), "/nowhere/program cannot be run: No such file or directory");
  EXPECT_FALSE(run_command({"sh", "-c", "kill -9 $$"}, seconds(20)).was_refused())
      << "it may have done its work";
  const CommandAnswer late = run_command({"sleep", "60"}, seconds(1));
  EXPECT_FALSE(late.was_refused());
  EXPECT_EQ(late.complaint(), "sleep did not answer within 1 s");
}

TEST(RunCommand, OurDescriptorsAreClosedInTheProgram) {
  // Without O_CLOEXEC, as libraries open their sockets: a port would stay taken as long as the program runs.
  const files::Descriptor open(::open("/dev/zero", O_RDONLY));
  ASSERT_GE(open.get(), 3);
  const CommandAnswer answer = run_command({"sh", "-c", "ls -l /proc/$$/fd"}, seconds(20));
  EXPECT_EQ(answer.output.find("/dev/zero"), std::string::npos) << answer.output;
}

}  // namespace
}  // namespace hpsearch::net
