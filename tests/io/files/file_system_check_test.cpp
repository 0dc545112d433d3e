#include "hpsearch/io/files/file_system_check.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>

#include "messages.hpp"
#include "scratch.hpp"

namespace hpsearch::files {
namespace {

using engine::Errc;
using ChildsLock = FileCalls::ChildsLock;

/// The message about a file system with this fault; the check must leave no files.
std::string said_of(FileCalls&& calls, Errc code = Errc::bad_request) {
  const Scratch scratch;
  const auto passed = check_file_system(scratch.path().string(), calls);
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
  if (passed) {
    return "";
  }
  EXPECT_EQ(passed.error().code, code);
  return passed.error().message;
}

int fails(int error) {
  errno = error;
  return -1;
}

TEST(FileSystemCheck, PassesOnALocalDiskAndLeavesNothing) {
  EXPECT_EQ(said_of(FileCalls()), "");
}

TEST(FileSystemCheck, UnwritableDirectoryIsNoFaultOfTheFileSystem) {
  struct Full : FileCalls {
    int create(const std::string& /*path*/) override { return fails(ENOSPC); }
  };
  EXPECT_MESSAGE(said_of(Full(), Errc::unavailable));
}

TEST(FileSystemCheck, DetectsThatExclusiveCreationIsMissing) {
  struct Repeats : FileCalls {
    int create(const std::string& path) override {
      const int made = FileCalls::create(path);
      return made >= 0 ? made : open(path);
    }
  };
  EXPECT_EQ(said_of(Repeats()), "O_EXCL has no effect: a file that existed was created a second time");
  struct Confused : FileCalls {
    int create(const std::string& path) override {
      const int made = FileCalls::create(path);
      return made >= 0 ? made : fails(EIO);
    }
  };
  EXPECT_EQ(said_of(Confused()), "creating a file that exists (O_EXCL) failed: Input/output error");
}

TEST(FileSystemCheck, DetectsMissingLocks) {
  struct Lockless : FileCalls {
    int lock(int /*file*/) override { return fails(ENOLCK); }
  };
  EXPECT_EQ(said_of(Lockless()), "locking a file (F_OFD_SETLK) failed: No locks available");
}

TEST(FileSystemCheck, DetectsThatAChildDoesNotSeeALock) {
  struct Blind : FileCalls {
    int lock(int /*file*/) override { return 0; }
  };
  EXPECT_EQ(said_of(Blind()), "a child process got the lock that its parent held");
  struct Failing : FileCalls {
    ChildsLock lock_in_child(const std::string& path) override {
      return FileCalls::lock_in_child(path + ".not-there");
    }
  };
  EXPECT_EQ(said_of(Failing()), "a child process could not try a lock (F_OFD_SETLK)");
}

TEST(FileSystemCheck, DetectsThatALockStays) {
  struct Sticky : FileCalls {
    ChildsLock lock_in_child(const std::string& /*path*/) override { return ChildsLock::refused; }
  };
  EXPECT_EQ(said_of(Sticky()), "a lock did not end when its file was closed");
}

TEST(FileSystemCheck, DetectsFailuresOfWritingAndSyncing) {
  struct Unwritable : FileCalls {
    int write(int /*file*/, std::string_view /*bytes*/) override { return fails(EDQUOT); }
  };
  EXPECT_EQ(said_of(Unwritable()), "writing to a file failed: Disk quota exceeded");
  struct Unsynced : FileCalls {
    int sync(int /*file*/) override { return fails(EIO); }
  };
  EXPECT_EQ(said_of(Unsynced()), "fsync of a file failed: Input/output error");
  struct UnsyncedNames : FileCalls {
    int sync_directory(const std::string& /*path*/) override { return fails(EINVAL); }
  };
  EXPECT_EQ(said_of(UnsyncedNames()), "fsync of the directory failed: Invalid argument");
}

TEST(FileSystemCheck, DetectsThatASecondDescriptorReadsOtherContent) {
  struct Short : FileCalls {
    int write(int file, std::string_view bytes) override {
      return FileCalls::write(file, bytes.substr(0, 4096));
    }
  };
  EXPECT_EQ(said_of(Short()), "a second descriptor read something else than was written");
  struct Unopened : FileCalls {
    int open(const std::string& /*path*/) override { return fails(ESTALE); }
  };
  EXPECT_EQ(said_of(Unopened()), "reading a file through a second descriptor failed: Stale file handle");
}

TEST(FileSystemCheck, DetectsRenamesThatFailOrHaveNoEffect) {
  struct Unrenamed : FileCalls {
    int rename(const std::string& /*from*/, const std::string& /*to*/) override { return fails(EEXIST); }
  };
  EXPECT_EQ(said_of(Unrenamed()), "renaming a file failed: File exists");
  struct Unseen : FileCalls {
    int rename(const std::string& /*from*/, const std::string& /*to*/) override { return 0; }
  };
  EXPECT_EQ(said_of(Unseen()), "a renamed file was not found under its new name");
  struct Doubled : FileCalls {
    int rename(const std::string& from, const std::string& to) override {
      std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
      return 0;
    }
  };
  EXPECT_EQ(said_of(Doubled()), "a renamed file was still there under its old name");
}

}  // namespace
}  // namespace hpsearch::files
