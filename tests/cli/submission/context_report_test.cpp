#include "cli/submission/context_report.hpp"

#include <gmock/gmock.h>

#include "messages.hpp"

namespace hpsearch::cli {
namespace {

using context::ContextFile;
using testing::ElementsAre;

ContextFile file(const char* path, std::uint64_t bytes) {
  return {ContextFile::Kind::file, path, bytes, false, {}};
}

TEST(ContextReport, CountsFilesAndBytes) {
  EXPECT_THAT(context_report({{file("train.py", 1'200)}, {}}),
              ElementsAre("each trial gets a copy of 1 file, 1.2 kB"));
  EXPECT_THAT(context_report({}), ElementsAre("each trial gets a copy of 0 files, 0 B"));
}

TEST(ContextReport, NamesTheFiveLargestDirectories) {
  std::vector<ContextFile> files{{ContextFile::Kind::directory, "a", 0, false, {}}, file("top", 9'000'000)};
  for (const char* name : {"a/x", "b/x", "b/y/z", "c/x", "d/x", "e/x", "f/x"}) {
    files.push_back(file(name, 1'000U * static_cast<std::uint64_t>(name[0] - 'a' + 1)));
  }
  EXPECT_THAT(context_report({files, {}}),
              ElementsAre("each trial gets a copy of 8 files, 9.0 MB: f/ (6.0 kB), e/ (5.0 kB), b/ (4.0 kB), "
                          "d/ (4.0 kB), c/ (3.0 kB)"));
}

TEST(ContextReport, NamesFilesLeftOutByDefault) {
  EXPECT_THAT(context_report({{file("a", 1)}, {".env", ".git/"}}).back(),
              testing::StrEq("left out: .env, .git/; to take one in, write !NAME in .hpsearchignore"));
  EXPECT_MESSAGE(context_report({{}, {"1", "2", "3", "4", "5", "6", "7"}}).back());
}

}  // namespace
}  // namespace hpsearch::cli
