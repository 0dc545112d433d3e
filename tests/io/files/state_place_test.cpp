#include "hpsearch/io/files/state_place.hpp"

#include <gtest/gtest.h>

#include "messages.hpp"
#include "scratch.hpp"

namespace hpsearch::files {
namespace {

using engine::Errc;

const FileSystemKind nfs{"NFS", Trust::tested};
const FileSystemKind sshfs{"FUSE, fuse.sshfs", Trust::on_request};

TEST(StatePlace, NeedsConsentOnlyIfLocksAreUnreliable) {
  for (const NetworkFileSystems network : {NetworkFileSystems::refused, NetworkFileSystems::allowed}) {
    EXPECT_TRUE(accept_place("/s", FileSystemKind(), network));
    EXPECT_TRUE(accept_place("/s", nfs, network));
  }
  EXPECT_TRUE(accept_place("/s", sshfs, NetworkFileSystems::allowed));
  const auto refused = accept_place("/home/me/s", sshfs, NetworkFileSystems::refused);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::bad_request);
  for (const char* said : {"/home/me/s", "(FUSE, fuse.sshfs)", "NFS, Lustre", "--state-dir",
                           "HPSEARCH_STATE_HOME", "--allow-network-filesystem"}) {
    EXPECT_NE(refused.error().message.find(said), std::string::npos) << refused.error().message;
  }
}

TEST(StatePlace, IsCheckedUnlessItIsLocal) {
  const Scratch scratch;
  EXPECT_TRUE(check_place(scratch.path().string(), nfs));
  EXPECT_TRUE(check_place(scratch.path("missing"), FileSystemKind()));
  const auto failed = check_place(scratch.path("missing"), nfs);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Errc::unavailable);
  EXPECT_MESSAGE(failed.error().message);
}

TEST(StatePlace, WarningIsShownOncePerFileSystem) {
  const Scratch scratch;
  const std::string directory = scratch.path().string();
  EXPECT_TRUE(is_warned(directory, FileSystemKind()));
  EXPECT_FALSE(is_warned(directory, nfs));
  const std::string warning = warning_of(directory, nfs);
  EXPECT_NE(warning.find(directory + " is on NFS."), std::string::npos) << warning;
  EXPECT_FALSE(is_warned(directory, nfs)) << "nobody was told";
  note_warning(directory, nfs);
  EXPECT_TRUE(is_warned(directory, nfs));
  EXPECT_FALSE(is_warned(directory, sshfs));
  note_warning(scratch.path("missing"), nfs);
}

}  // namespace
}  // namespace hpsearch::files
