#include "hpsearch/io/net/rclone.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "inheritable_descriptor.hpp"
#include "scratch.hpp"

namespace hpsearch::net {
namespace {

namespace fs = std::filesystem;

/// A script is what is found as rclone.
class Rclone : public testing::Test {
 protected:
  Rclone() : path_(std::getenv("PATH")) {
    ::setenv("PATH", (scratch_.path().string() + ":" + path_).c_str(), 1);
  }
  ~Rclone() override { ::setenv("PATH", path_.c_str(), 1); }

  void is(const std::string& script) const {
    fs::permissions(scratch_.write("rclone", script), fs::perms::owner_all);
  }

  Scratch scratch_;

 private:
  std::string path_;
};

TEST_F(Rclone, HasNothingOfOursOpen) {
  const InheritableDescriptor open;
  is(InheritableDescriptor::script(scratch_.path("has")));
  const engine::Status ran = run_rclone({"lsf", "x:y"}, {});
  ASSERT_TRUE(ran) << ran.error().message;
  const std::string has = scratch_.read("has");
  EXPECT_NE(has.find("/dev/null"), std::string::npos) << has;
  EXPECT_EQ(has.find(open.name()), std::string::npos) << has;
}

TEST_F(Rclone, FailsWithWhatItSaidLast) {
  is("#!/bin/sh\necho first >&2\necho '2026/01/01 ERROR : no such bucket' >&2\nexit 3\n");
  const engine::Status ran = run_rclone({}, {});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().message, "rclone failed: ERROR : no such bucket");
}

TEST_F(Rclone, FailsWithAMessageOfSeveralLinesInOne) {
  is("#!/bin/sh\nprintf '2026/01/01 ERROR : first\\n2026/01/01 Failed to copy: NoSuchBucket\\n\\tstatus "
     "code: "
     "404\\n' >&2\nexit 1\n");
  const engine::Status ran = run_rclone({}, {});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().message, "rclone failed: Failed to copy: NoSuchBucket status code: 404");
}

TEST_F(Rclone, ReturnsWhatItWrites) {
  is("#!/bin/sh\necho one\necho a warning >&2\necho two\n");
  const auto read = read_rclone({"lsf", "x:y"}, {});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, "one\ntwo\n");
}

TEST_F(Rclone, EndsWhenItHasToStop) {
  is("#!/bin/sh\nexec sleep 600\n");
  const std::atomic<bool> stopped{true};
  const engine::Status ran = run_rclone({"copy", "x:y", "z"}, {}, &stopped);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().message, "rclone was ended, because hpsearch is shutting down");
}

}  // namespace
}  // namespace hpsearch::net
