#include "hpsearch/io/files/file_system_kind.hpp"

#include <gtest/gtest.h>
#include <linux/magic.h>

#include <initializer_list>

#include "scratch.hpp"

namespace hpsearch::files {
namespace {

constexpr std::uint32_t fuse = 0x65735546;

struct Row {
  std::uint32_t magic;
  const char* mount_type;
  FileSystemKind kind;
};

TEST(FileSystemKind, FileSystemsOfClustersAreTested) {
  for (const Row& row : std::initializer_list<Row>{{NFS_SUPER_MAGIC, "nfs4", {"NFS", Trust::tested}},
                                                   {0x0BD00BD0, "lustre", {"Lustre", Trust::tested}},
                                                   {0x47504653, "gpfs", {"GPFS", Trust::tested}},
                                                   {0x19830326, "beegfs", {"BeeGFS", Trust::tested}},
                                                   {0x00C36400, "ceph", {"CephFS", Trust::tested}},
                                                   {OCFS2_SUPER_MAGIC, "ocfs2", {"OCFS2", Trust::tested}},
                                                   {fuse, "fuse.ceph-fuse", {"CephFS", Trust::tested}},
                                                   {fuse, "fuse.glusterfs", {"GlusterFS", Trust::tested}}}) {
    EXPECT_EQ(file_system_kind(row.magic, row.mount_type), row.kind) << row.mount_type;
  }
}

TEST(FileSystemKind, UnreliableOnesNeedConsent) {
  for (const Row& row :
       std::initializer_list<Row>{{SMB_SUPER_MAGIC, "smbfs", {"SMB", Trust::on_request}},
                                  {SMB2_SUPER_MAGIC, "smb3", {"SMB", Trust::on_request}},
                                  {CIFS_SUPER_MAGIC, "cifs", {"CIFS", Trust::on_request}},
                                  {V9FS_MAGIC, "9p", {"9P", Trust::on_request}},
                                  {AFS_SUPER_MAGIC, "afs", {"AFS", Trust::on_request}},
                                  {CODA_SUPER_MAGIC, "coda", {"Coda", Trust::on_request}},
                                  {fuse, "fuse.sshfs", {"FUSE, fuse.sshfs", Trust::on_request}},
                                  {fuse, "fuse.ceph-fuse2", {"FUSE, fuse.ceph-fuse2", Trust::on_request}},
                                  {fuse, "virtiofs", {"FUSE, virtiofs", Trust::on_request}},
                                  {fuse, "fuse", {"FUSE", Trust::on_request}},
                                  {fuse, "", {"FUSE", Trust::on_request}}}) {
    EXPECT_EQ(file_system_kind(row.magic, row.mount_type), row.kind) << row.mount_type;
  }
}

TEST(FileSystemKind, DisksAndMemoryAreLocal) {
  for (const std::uint32_t magic : std::initializer_list<std::uint32_t>{
           EXT4_SUPER_MAGIC, BTRFS_SUPER_MAGIC, XFS_SUPER_MAGIC, TMPFS_MAGIC, OVERLAYFS_SUPER_MAGIC, 0}) {
    EXPECT_EQ(file_system_kind(magic, "fuse.sshfs"), FileSystemKind()) << magic;
  }
}

TEST(MountType, IsThatOfTheDevice) {
  const char* const mounts =
      "22 27 0:20 / /proc rw,nosuid - proc proc rw\n"
      "42 27 0:39 / /home/a\\040b rw,relatime shared:1 master:2 - fuse.sshfs me@host: rw,user_id=0\n"
      "43 27 8:1 / / rw - ext4 /dev/sda1 rw\n"
      "44 27 0:40 / /cut";
  EXPECT_EQ(mount_type_in(mounts, 0, 39), "fuse.sshfs");
  EXPECT_EQ(mount_type_in(mounts, 8, 1), "ext4");
  EXPECT_EQ(mount_type_in(mounts, 0, 3), "");
  EXPECT_EQ(mount_type_in(mounts, 0, 40), "");
  EXPECT_EQ(mount_type_in("", 0, 39), "");
  EXPECT_EQ(mount_type_in("42 27 0:39 / /x rw - ", 0, 39), "");
  EXPECT_EQ(mount_type_in("42\n\n 0:39", 0, 39), "");
}

TEST(FileSystemAt, UsesTheNearestExistingDirectory) {
  const Scratch scratch;
  EXPECT_EQ(file_system_at(scratch.path("a/b/c")), file_system_at(scratch.path().string()));
  EXPECT_EQ(file_system_at("/nowhere/at/all").trust, Trust::local);
  EXPECT_EQ(file_system_at("nowhere").trust, Trust::local);
}

}  // namespace
}  // namespace hpsearch::files
