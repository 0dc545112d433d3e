#include "cli/client/search_places.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "messages.hpp"
#include "scratch.hpp"

namespace hpsearch::cli {
namespace {

namespace fs = std::filesystem;
using engine::Value;
using testing::ElementsAre;

/// A working directory with searches in its .hpsearch.
class SearchPlaces : public testing::Test {
 protected:
  SearchPlaces() : before_(fs::current_path()) {
    ::unsetenv("HPSEARCH_STATE_HOME");
    ::unsetenv("XDG_STATE_HOME");
    fs::current_path(scratch_.path());
    here_ = fs::current_path();
    ::setenv("HOME", (here_ / "home").c_str(), 1);
  }
  ~SearchPlaces() override { fs::current_path(before_); }

  void add(const std::string& name, const fs::path& file, const std::string& experiment = "") const {
    add_in(here_ / ".hpsearch" / name, file, experiment);
  }
  [[nodiscard]] fs::path of_python() const { return here_ / "home" / ".local" / "state" / "hpsearch"; }
  static void add_in(const fs::path& directory, const fs::path& file, const std::string& experiment = "") {
    const StateDirectory state(directory);
    ASSERT_TRUE(make_private_directory(state.path()));
    RunRecord record;
    record.file = file.string();
    record.state_directory = state.path().string();
    record.config = Value::Map{{"name", experiment}};
    ASSERT_TRUE(save_run_record(state, record));
  }
  [[nodiscard]] std::string place_of(const fs::path& file) const {
    const auto place = state_directory_of(file.stem().string(), file);
    return place ? place->lexically_relative(here_).string() : place.failure().message;
  }
  static std::string named(const std::string& given) {
    const auto found = search_named(given);
    return !found ? found.failure().message : *found ? (*found)->name : "none";
  }
  static std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const SearchPlace& one : searches_here()) {
      all.push_back(one.name);
    }
    return all;
  }

  const Scratch scratch_;
  const fs::path before_;
  fs::path here_;
};

TEST_F(SearchPlaces, AFileOfTheSameStemElsewhereIsAnotherSearch) {
  const fs::path a = here_ / "a" / "experiment.yaml";
  const fs::path b = here_ / "b" / "experiment.yaml";
  EXPECT_EQ(place_of(a), ".hpsearch/experiment");
  add("experiment", a);
  EXPECT_EQ(place_of(a), ".hpsearch/experiment");
  EXPECT_EQ(place_of(b), ".hpsearch/b-experiment");
  add("b-experiment", b);
  EXPECT_EQ(place_of(b), ".hpsearch/b-experiment");
  EXPECT_EQ(place_of(here_ / "x" / "b" / "experiment.yaml"), ".hpsearch/b-experiment-2");
  EXPECT_EQ(place_of(here_ / "b" / "experiment.yml"), ".hpsearch/b-experiment-2");
}

TEST_F(SearchPlaces, SearchesOfPythonAreFoundFromEverywhere) {
  add("width", here_ / "width.yaml");
  add_in(of_python() / "width" / "search", of_python() / "width" / "experiment.json");
  add_in(of_python() / "square" / "search", of_python() / "square" / "experiment.json");
  add_in(of_python() / "of a run elsewhere-0123456789ab", "/x/experiment.yaml");
  fs::create_directories(of_python() / "stray");
  fs::create_directory_symlink(of_python() / "square", of_python() / "link");
  std::vector<std::string> found;
  for (const SearchPlace& one : searches_of_python()) {
    found.push_back(one.name);
    EXPECT_EQ(one.path, one.whole / "search");
  }
  EXPECT_THAT(found, ElementsAre((of_python() / "width").string(), "square"));
  EXPECT_THAT(names(), ElementsAre("width"));
  EXPECT_EQ(named("square"), "square");
  EXPECT_EQ(named("width"), "width");
  EXPECT_EQ(named((of_python() / "width").string()), (of_python() / "width").string());
  EXPECT_EQ(named((of_python() / "square").string()), "square");
  EXPECT_EQ(named("of a run elsewhere-0123456789ab"), "none");
}

TEST_F(SearchPlaces, MovedSearchIsNotContinued) {
  const fs::path file = here_ / "experiment.yaml";
  add("experiment.old-20261126-140200", file);
  EXPECT_EQ(place_of(file), ".hpsearch/experiment");
}

TEST_F(SearchPlaces, DaemonOfTheStateHomeKeepsItsDirectory) {
  EXPECT_EQ(place_of(here_ / "c" / "hpsearchd.yaml"), ".hpsearch/c-hpsearchd");
}

TEST_F(SearchPlaces, ADirectoryThatWasMovedWithItsFileIsTheSameSearch) {
  RunRecord record;
  record.file = "/home/me/old/conf/e.yaml";
  record.state_directory = "/home/me/old/.hpsearch/e";
  EXPECT_TRUE(is_search_of(record, "/home/me/new/conf/e.yaml", "/home/me/new/.hpsearch/e"));
  EXPECT_FALSE(is_search_of(record, "/home/me/new/e.yaml", "/home/me/new/.hpsearch/e"));
  EXPECT_TRUE(is_search_of(record, "/home/me/old/conf/e.yaml", "/elsewhere"));
  EXPECT_FALSE(is_search_of(record, "-", "/home/me/old/.hpsearch/e"));
}

TEST_F(SearchPlaces, ASearchIsNamedByItsDirectoryItsFileOrItsName) {
  add("experiment", here_ / "a" / "experiment.yaml", "digits");
  add("b-experiment", here_ / "b" / "experiment.yaml", "letters");
  EXPECT_THAT(names(), ElementsAre("b-experiment", "experiment"));
  EXPECT_EQ(named("b-experiment"), "b-experiment");
  EXPECT_EQ(named("b/experiment.yaml"), "b-experiment");
  EXPECT_EQ(named("digits"), "experiment");
  EXPECT_EQ(named("numbers"), "none");
  add("third", here_ / "third.yaml", "digits");
  EXPECT_MESSAGE(named("digits"));
}

TEST_F(SearchPlaces, LatestIsTheOneThatWasRunLast) {
  add("first", here_ / "first.yaml");
  add("second", here_ / "second.yaml");
  const auto run = StateDirectory(here_ / ".hpsearch" / "first").run_file();
  fs::last_write_time(run, fs::last_write_time(run) + std::chrono::hours(1));
  ASSERT_TRUE(latest_search());
  EXPECT_EQ(latest_search()->name, "first");
}

}  // namespace
}  // namespace hpsearch::cli
