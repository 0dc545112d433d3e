#include "hpsearch/workers/determined/private_root.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <functional>

#include "hpsearch/workers/determined/bind_mounts.hpp"
#include "scratch.hpp"

namespace hpsearch::workers {
namespace {

namespace fs = std::filesystem;

constexpr int refused = 99;

/// The exit status of a child that calls `what` in a private root; `refused` if it can't have one.
int in_private_root(const Scratch& scratch, const std::map<fs::path, fs::path>& places,
                    const std::function<int()>& what) {
  fs::create_directories(scratch.path("root"));
  const pid_t child = ::fork();
  if (child == 0) {
    const engine::Status entered = enter_private_root(scratch.path("root"), places);
    ::_exit(entered ? what() : refused);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(PrivateRoot, HasItsPlacesAndTheMachine) {
  const Scratch scratch;
  scratch.write("run/inside", "r");
  scratch.write("storage/inside", "s");
  const int status = in_private_root(
      scratch, {{"/run/hpsearch-test", scratch.path("run")}, {"/hpsearch-test", scratch.path("storage")}},
      [&] {
        const bool seen = text_of("/run/hpsearch-test/inside") == "r" &&
                          text_of("/hpsearch-test/inside") == "s" &&
                          text_of(scratch.path("run/inside")) == "r" && fs::exists("/bin/sh") &&
                          fs::exists("/dev/null") && fs::exists("/proc/self");
        write_text("/hpsearch-test/new", "n");
        return seen ? 0 : 1;
      });
  if (status == refused) {
    GTEST_SKIP() << "this machine allows no private mount namespace";
  }
  EXPECT_EQ(status, 0);
  EXPECT_EQ(scratch.read("storage/new"), "n");
  EXPECT_FALSE(fs::exists("/hpsearch-test"));
  EXPECT_FALSE(fs::exists("/run/hpsearch-test"));
  EXPECT_TRUE(fs::is_empty(scratch.path("root"))) << "nothing of it may be seen outside";
}

TEST(PrivateRoot, HasTheExperimentsBindMounts) {
  using engine::Value;
  const Scratch scratch;
  scratch.write("data/inside", "d");
  scratch.write("labels", "l");
  fs::create_directories(scratch.path("work"));
  fs::create_directories(scratch.path("there"));
  const auto mount = [&](const char* from, const std::string& to, bool read_only) {
    return Value(
        Value::Map{{"host_path", scratch.path(from)}, {"container_path", to}, {"read_only", read_only}});
  };
  const Value mounts = Value::List{mount("data", "/hpsearch-test/data", true), mount("data", "linked", false),
                                   mount("labels", "/hpsearch-test/labels.csv", false),
                                   mount("data", scratch.path("there"), false)};
  const int status = in_private_root(scratch, {}, [&] {
    const engine::Status made = make_bind_mounts(mounts, scratch.path("work"));
    if (!made) {
      std::fprintf(stderr, "%s\n", made.error().message.c_str());
      return 2;
    }
    const bool seen =
        text_of("/hpsearch-test/data/inside") == "d" && text_of("/hpsearch-test/labels.csv") == "l" &&
        text_of(scratch.path("work/linked/inside")) == "d" && text_of(scratch.path("there/inside")) == "d";
    write_text("/hpsearch-test/data/forbidden", "f");
    write_text(scratch.path("there/allowed"), "a");
    const engine::Status nowhere =
        make_bind_mounts(Value(Value::List{mount("absent", "/hpsearch-test", false)}), scratch.path("work"));
    const engine::Status on_the_machine =
        make_bind_mounts(Value(Value::List{mount("data", scratch.path("new"), false)}), scratch.path("work"));
    return seen && !nowhere && !on_the_machine ? 0 : 1;
  });
  if (status == refused) {
    GTEST_SKIP() << "this machine allows no private mount namespace";
  }
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(fs::exists("/hpsearch-test"));
  EXPECT_FALSE(fs::exists(scratch.path("data/forbidden")));
  EXPECT_EQ(scratch.read("data/allowed"), "a");
  EXPECT_FALSE(fs::exists(scratch.path("new")));
  EXPECT_TRUE(fs::is_empty(scratch.path("there")));
}

/// In a directory where a machine usually has mounts, another one can be added.
TEST(PrivateRoot, HasBindMountsBesideTheMachinesDirectories) {
  using engine::Value;
  const Scratch scratch;
  scratch.write("data/inside", "d");
  fs::create_directories(scratch.path("work"));
  const std::string place = "/mnt/hpsearch-test/deep";
  const auto mount = [&](const std::string& to) {
    return Value(Value::Map{{"host_path", scratch.path("data")}, {"container_path", to}});
  };
  const Value mounts =
      Value::List{mount(place), mount("/hpsearch-test"), mount(scratch.path("new")), mount("relative")};
  const auto places = missing_places(mounts);
  ASSERT_EQ(places.size(), 1U) << "the root has the second anyway, and a program may write beside the third";
  EXPECT_EQ(places.at(place), scratch.path("data"));
  const int status = in_private_root(scratch, places, [&] {
    const bool made = make_bind_mounts(Value(Value::List{mount(place)}), scratch.path("work")).has_value();
    return made && text_of(place + "/inside") == "d" ? 0 : 1;
  });
  if (status == refused) {
    GTEST_SKIP() << "this machine allows no private mount namespace";
  }
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(fs::exists("/mnt/hpsearch-test"));
}

TEST(PrivateRoot, FailsWithoutACurrentDirectory) {
  const Scratch scratch;
  EXPECT_EQ(in_private_root(scratch, {{"/hpsearch-test", scratch.path("nowhere")}}, [] { return 0; }),
            refused);
}

}  // namespace
}  // namespace hpsearch::workers
