#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "hpsearch/workers/shell/devices/device_watch.hpp"
#include "hpsearch/workers/shell/processes/container_runtime.hpp"
#include "inheritable_descriptor.hpp"
#include "scratch.hpp"

// Programs that an agent starts, and that may hang and outlive it: they must not inherit its sockets.

namespace hpsearch::workers {
namespace {

namespace fs = std::filesystem;

class StartedProgram : public testing::Test {
 protected:
  std::string make(const std::string& name) const {
    const std::string path = scratch_.write(name, InheritableDescriptor::script(scratch_.path("has")));
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  void expect_nothing_of_ours() const {
    const std::string has = scratch_.read("has");
    EXPECT_NE(has.find("/dev/null"), std::string::npos) << has;
    EXPECT_EQ(has.find(open_.name()), std::string::npos) << has;
  }

  Scratch scratch_;
  InheritableDescriptor open_;
};

TEST_F(StartedProgram, ContainerRuntimeInheritsNoFiles) {
  const std::string program = make("apptainer");
  const auto found = find_container_runtime({{"PATH", scratch_.path().string() + ":/usr/bin:/bin"}});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->program, program);
  expect_nothing_of_ours();
}

TEST_F(StartedProgram, DevicePollInheritsNoFiles) {
  const DeviceReport report = look_once({.command = {make("look")}, .deadline = std::chrono::minutes(1)});
  EXPECT_NE(report.problem, "");  // A script that prints no report.
  expect_nothing_of_ours();
}

}  // namespace
}  // namespace hpsearch::workers
