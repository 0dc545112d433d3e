#include "hpsearch/io/files/state_home.hpp"

#include <gtest/gtest.h>

namespace hpsearch::files {
namespace {

using engine::Errc;

std::string path_from(const char* hpsearch, const char* xdg) {
  const auto home = StateHome::from({hpsearch, xdg});
  return home ? home->path().string() : home.error().message;
}

TEST(StateHome, FirstSetVariableIsUsed) {
  EXPECT_EQ(path_from("/scratch/me", "/home/me/.state"), "/scratch/me");
  EXPECT_EQ(path_from(nullptr, "/home/me/.state"), "/home/me/.state/hpsearch");
  EXPECT_EQ(path_from(nullptr, nullptr), ".hpsearch");
}

TEST(StateHome, EmptyVariableIsNotSet) {
  EXPECT_EQ(path_from("", "/home/me/.state"), "/home/me/.state/hpsearch");
  EXPECT_EQ(path_from("", ""), ".hpsearch");
}

TEST(StateHome, RelativeXdgStateHomeIsIgnored) {
  EXPECT_EQ(path_from(nullptr, "state"), ".hpsearch");
}

TEST(StateHome, RelativeHpsearchStateHomeIsRefusedByName) {
  const auto home = StateHome::from({"runs", "/home/me/.state"});
  ASSERT_FALSE(home);
  EXPECT_EQ(home.error().code, Errc::bad_request);
  EXPECT_EQ(home.error().message, "HPSEARCH_STATE_HOME is \"runs\"; it must be an absolute path");
}

TEST(StateHome, SearchesOfPythonBelongToTheUser) {
  EXPECT_EQ(StateHome::of_python({"/scratch/me", "/home/me/.state"}, "/home/me"), "/scratch/me");
  EXPECT_EQ(StateHome::of_python({"", "/home/me/.state"}, "/home/me"), "/home/me/.state/hpsearch");
  EXPECT_EQ(StateHome::of_python({nullptr, "state"}, "/home/me"), "/home/me/.local/state/hpsearch");
  EXPECT_EQ(StateHome::of_python({"runs", nullptr}, "/home/me"), "");
  EXPECT_EQ(StateHome::of_python({}, nullptr), "");
}

TEST(StateHome, InTheCurrentDirectoryRunsAreNamedByTheirFile) {
  const auto home = StateHome::from({});
  ASSERT_TRUE(home);
  EXPECT_EQ(home->run("search", "/home/me/a"), ".hpsearch/search");
  EXPECT_EQ(home->run("", "/home/me/a"), ".hpsearch/experiment");
  EXPECT_EQ(home->daemon(), ".hpsearch/hpsearchd");
  EXPECT_TRUE(home->may_be_of("search", "/home/me/a"));
}

TEST(StateHome, HomeForManyDirectoriesHasDistinctRuns) {
  const auto home = StateHome::from({"/scratch/me", nullptr});
  ASSERT_TRUE(home);
  const std::filesystem::path first = home->run("search", "/home/me/a");
  const std::filesystem::path second = home->run("search", "/home/me/b");
  EXPECT_NE(first, second);
  EXPECT_EQ(first, home->run("search", "/home/me/a"));
  EXPECT_EQ(first.parent_path(), "/scratch/me");
  EXPECT_TRUE(first.filename().string().starts_with("search-"));
  EXPECT_TRUE(home->may_be_of(first.filename().string(), "/home/me/a"));
  EXPECT_FALSE(home->may_be_of(first.filename().string(), "/home/me/b"));
  EXPECT_FALSE(home->may_be_of("hpsearchd", "/home/me/a"));
  EXPECT_EQ(home->name_of_run(first.filename().string(), "/home/me/a"), "search");
  EXPECT_EQ(home->name_of_run(first.filename().string() + ".old-1", "/home/me/a"), "search.old-1");
}

}  // namespace
}  // namespace hpsearch::files
