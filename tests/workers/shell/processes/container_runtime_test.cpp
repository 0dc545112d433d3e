#include "hpsearch/workers/shell/processes/container_runtime.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <string>

#include "messages.hpp"
#include "scratch.hpp"

namespace hpsearch::workers::test {
namespace {

/// A runtime that records its arguments and returns these statuses.
struct Answers {
  int rm = 0;
  int inspect = 0;
  int version = 0;
  int rm_later = rm;  ///< From the second time on.
};

class FakeRuntime {
 public:
  explicit FakeRuntime(const Answers& answers) {
    write_text(program(), "#!/bin/sh\necho \"$WHOSE $*\" >> " + asked_file().string() +
                              "\ncase $1 in\nrm) test \"$(grep -c ' rm ' " + asked_file().string() +
                              ")\" = 1 && exit " + std::to_string(answers.rm) + "; exit " +
                              std::to_string(answers.rm_later) + ";;\nversion) exit " +
                              std::to_string(answers.version) + ";;\n*) exit " +
                              std::to_string(answers.inspect) + ";;\nesac\n");
    std::filesystem::permissions(program(), std::filesystem::perms::owner_all);
  }
  [[nodiscard]] engine::Status remove(
      const std::string& name, std::chrono::milliseconds patience = std::chrono::milliseconds(0)) const {
    return remove_container({program().string(), name}, {{"PATH", "/usr/bin:/bin"}, {"WHOSE", "worker's"}},
                            patience);
  }
  [[nodiscard]] std::string asked() const { return text_of(asked_file()); }

 private:
  [[nodiscard]] std::filesystem::path program() const { return scratch_.path() / "podman"; }
  [[nodiscard]] std::filesystem::path asked_file() const { return scratch_.path() / "asked"; }

  Scratch scratch_;
};

TEST(ContainersThatAreLeft, AreRemovedByTheirNameInTheWorkersEnvironment) {
  const FakeRuntime runtime({});
  EXPECT_TRUE(runtime.remove("hpsearch-1-2-3"));
  EXPECT_EQ(runtime.asked(), "worker's rm --force hpsearch-1-2-3\n");
}

TEST(ContainersThatAreLeft, AreNoneIfTheRuntimeHasNone) {
  const FakeRuntime runtime({.rm = 1, .inspect = 1});
  EXPECT_TRUE(runtime.remove("gone"));
  EXPECT_EQ(runtime.asked(), "worker's rm --force gone\nworker's container inspect gone\nworker's version\n");
}

/// Docker returns this while its own --rm is removing the container.
TEST(ContainersThatAreLeft, AreAwaitedWhileTheyAreBeingRemoved) {
  const FakeRuntime runtime({.rm = 1, .rm_later = 0});
  EXPECT_TRUE(runtime.remove("goes", std::chrono::seconds(60)));
  EXPECT_EQ(runtime.asked(),
            "worker's rm --force goes\nworker's container inspect goes\nworker's rm --force goes\n");
}

TEST(ContainersThatAreLeft, AreReportedIfTheyStay) {
  const FakeRuntime runtime({.rm = 125});
  const engine::Status removed = runtime.remove("stays");
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().code, engine::Errc::unavailable);
  EXPECT_MESSAGE(removed.error().message);
}

TEST(ContainersThatAreLeft, AreNotRemovedIfTheRuntimeDoesNotAnswer) {
  EXPECT_FALSE(FakeRuntime({.rm = 1, .inspect = 1, .version = 1}).remove("unknown"));
}

TEST(ContainersThatAreLeft, AreFoundByTheNextAgent) {
  const Scratch scratch;
  const std::filesystem::path file = scratch.path() / "container.json";
  const files::Directory directory = *files::Directory::open(scratch.path());
  EXPECT_EQ(read_container_record(directory, "container.json"), std::nullopt);
  const ContainerRecord record{"/usr/bin/podman", "hpsearch-1-2-3-abc"};
  ASSERT_TRUE(write_container_record(file, record));
  EXPECT_EQ(read_container_record(directory, "container.json"), record);
  write_text(file, "{\"program\": 3}");
  EXPECT_EQ(read_container_record(directory, "container.json"), std::nullopt);
}

}  // namespace
}  // namespace hpsearch::workers::test
