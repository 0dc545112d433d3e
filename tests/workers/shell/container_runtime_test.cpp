#include "hpsearch/workers/shell/container_runtime.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "scratch.hpp"

namespace hpsearch::workers::test {
namespace {

/// A runtime that takes down what it is asked, and answers as it is told.
class FakeRuntime {
 public:
  FakeRuntime(int rm, int inspect) {
    write_text(program(), "#!/bin/sh\necho \"$WHOSE $*\" >> " + asked_file().string() + "\ncase $1 in rm) exit " +
                              std::to_string(rm) + ";; *) exit " + std::to_string(inspect) + ";; esac\n");
    std::filesystem::permissions(program(), std::filesystem::perms::owner_all);
  }
  [[nodiscard]] engine::Status remove(const std::string& name) const {
    return remove_container({program().string(), name}, {{"PATH", "/usr/bin:/bin"}, {"WHOSE", "worker's"}});
  }
  [[nodiscard]] std::string asked() const { return text_of(asked_file()); }

 private:
  [[nodiscard]] std::filesystem::path program() const { return scratch_.path() / "podman"; }
  [[nodiscard]] std::filesystem::path asked_file() const { return scratch_.path() / "asked"; }

  Scratch scratch_;
};

TEST(ContainersThatAreLeft, AreRemovedByTheirNameInTheWorkersEnvironment) {
  const FakeRuntime runtime(0, 0);
  EXPECT_TRUE(runtime.remove("hpsearch-1-2-3"));
  EXPECT_EQ(runtime.asked(), "worker's rm --force hpsearch-1-2-3\n");
}

TEST(ContainersThatAreLeft, AreNoneWhereTheRuntimeKnowsOfNone) {
  const FakeRuntime runtime(1, 1);
  EXPECT_TRUE(runtime.remove("gone"));
  EXPECT_EQ(runtime.asked(), "worker's rm --force gone\nworker's container inspect gone\n");
}

TEST(ContainersThatAreLeft, AreToldWhenTheyStay) {
  const FakeRuntime runtime(125, 0);
  const engine::Status removed = runtime.remove("stays");
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().code, engine::Errc::unavailable);
  EXPECT_NE(removed.error().message.find("rm --force stays"), std::string::npos) << removed.error().message;
}

TEST(ContainersThatAreLeft, AreNotSaidToBeGoneByARuntimeThatDoesNotAnswer) {
  EXPECT_FALSE(FakeRuntime(124, 124).remove("unknown"));
}

TEST(ContainersThatAreLeft, AreKnownToTheNextAgent) {
  const Scratch scratch;
  const std::filesystem::path file = scratch.path() / "container.json";
  EXPECT_EQ(read_container_record(file), std::nullopt);
  const ContainerRecord record{"/usr/bin/podman", "hpsearch-1-2-3-abc"};
  ASSERT_TRUE(write_container_record(file, record));
  EXPECT_EQ(read_container_record(file), record);
  write_text(file, "{\"program\": 3}");
  EXPECT_EQ(read_container_record(file), std::nullopt);
}

}  // namespace
}  // namespace hpsearch::workers::test
