#include "daemon/core/state_directory.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "daemon/store/sqlite_store.hpp"
#include "hpsearch/io/files/socket_directory.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "messages.hpp"
#include "scratch.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;

/// The identity and content of each file.
std::map<std::string, std::pair<std::uint64_t, std::string>> files_in(const std::string& directory) {
  std::map<std::string, std::pair<std::uint64_t, std::string>> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    struct stat found {};
    EXPECT_EQ(::stat(entry.path().c_str(), &found), 0);
    files[entry.path()] = {found.st_ino, entry.is_regular_file() ? text_of(entry.path()) : ""};
  }
  return files;
}

TEST(StateDirectory, IsMadeForItsOwnerOnly) {
  const Scratch scratch;
  const auto directory = StateDirectory::open(scratch.path("a/b/c/"));
  ASSERT_TRUE(directory) << directory.error().message;
  EXPECT_EQ((*directory)->path(), scratch.path("a/b/c"));
  struct stat found {};
  ASSERT_EQ(::stat((*directory)->path().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0700U);
  EXPECT_TRUE(std::filesystem::is_directory((*directory)->checkpoints()));
  EXPECT_EQ(text_of(scratch.path("a/b/c/lock")), std::to_string(::getpid()) + "\n");
}

using Network = StateDirectory::NetworkFileSystems;

files::FileSystemKind nfs(const std::string& /*path*/) {
  return {"NFS", files::Trust::tested};
}

files::FileSystemKind smb(const std::string& /*path*/) {
  return {"SMB", files::Trust::on_request};
}

TEST(StateDirectory, UnreliableFileSystemIsRefusedUnlessAllowed) {
  const Scratch scratch;
  const auto refused = StateDirectory::open(scratch.path("state"), Network::refused, smb);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::bad_request);
  const std::vector<std::string> names{scratch.path("state"), "(SMB)", "--allow-network-filesystem"};
  for (const std::string& said : names) {
    EXPECT_NE(refused.error().message.find(said), std::string::npos) << refused.error().message;
  }
  EXPECT_FALSE(std::filesystem::exists(scratch.path("state")));
  const auto allowed = StateDirectory::open(scratch.path("state"), Network::allowed, smb);
  EXPECT_TRUE(allowed) << allowed.error().message;
}

TEST(StateDirectory, ClusterFileSystemIsAcceptedWithOneWarning) {
  const Scratch scratch;
  for (const bool first : {true, false}) {
    const auto directory = StateDirectory::open(scratch.path("state"), Network::refused, nfs);
    ASSERT_TRUE(directory) << directory.error().message;
    EXPECT_EQ((*directory)->warning().empty(), !first) << (*directory)->warning();
  }
}

TEST(StateDirectory, SocketsAreNotOnAClusterFileSystem) {
  const Scratch scratch;
  std::string sockets;
  {
    const auto directory = StateDirectory::open(scratch.path("state"), Network::refused, nfs);
    ASSERT_TRUE(directory);
    sockets = std::filesystem::path((*directory)->http_socket()).parent_path();
    EXPECT_EQ(sockets, files::SocketDirectory::of((*directory)->path()).path());
    EXPECT_EQ((*directory)->workers_socket(), sockets + "/workers.sock");
    EXPECT_TRUE(std::filesystem::is_directory(sockets));
  }
  EXPECT_FALSE(std::filesystem::exists(sockets));
  const auto local = StateDirectory::open(scratch.path("local"));
  ASSERT_TRUE(local);
  EXPECT_EQ((*local)->http_socket(), scratch.path("local/api.sock"));
  EXPECT_EQ((*local)->warning(), "");
}

TEST(StateDirectory, StoreInADatabaseMakesNoFileHere) {
  const Scratch scratch;
  const auto open = [&] {
    return StateDirectory::open(scratch.path("state"), Network::refused, files::file_system_at,
                                StateDirectory::OtherHosts::respected, StateDirectory::Store::in_a_database);
  };
  const auto first = open();
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_FALSE(std::filesystem::exists(scratch.path("state/events.db")));
  EXPECT_FALSE((*first)->take_store_lock());
  const auto second = open();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::wrong_state);
}

TEST(StateDirectory, SecondHolderIsRefusedWithThePidOfTheFirst) {
  const Scratch scratch;
  const auto first = StateDirectory::open(scratch.path("state"));
  ASSERT_TRUE(first);
  const auto second = StateDirectory::open(scratch.path("state"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::wrong_state);
  EXPECT_NE(second.error().message.find(scratch.path("state")), std::string::npos);
  EXPECT_NE(second.error().message.find("process " + std::to_string(::getpid())), std::string::npos);
}

TEST(StateDirectory, SecondHolderIsRefusedWithoutTheLockFile) {
  const Scratch scratch;
  auto first = StateDirectory::open(scratch.path("state"));
  ASSERT_TRUE(first);
  const auto store = SqliteStore::open((*first)->database(), {}, (*first)->take_store_lock());
  ASSERT_TRUE(store) << store.error().message;
  ASSERT_TRUE((*first)->announce({"unix:///s/api.sock", "127.0.0.1:1", "tcp://127.0.0.1:2", "0.1.0", 3}));
  std::filesystem::remove(scratch.path("state/lock"));
  const auto before = files_in(scratch.path("state"));
  const auto second = StateDirectory::open(scratch.path("state"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::wrong_state);
  EXPECT_NE(second.error().message.find("process " + std::to_string(::getpid())), std::string::npos)
      << second.error().message;
  EXPECT_EQ(files_in(scratch.path("state")), before);
}

TEST(StateDirectory, SecondHolderIsRefusedInAnEmptiedDirectory) {
  const Scratch scratch;
  const auto first = StateDirectory::open(scratch.path("state"));
  ASSERT_TRUE(first);
  for (const auto& entry : std::filesystem::directory_iterator(scratch.path("state"))) {
    std::filesystem::remove_all(entry.path());
  }
  std::filesystem::create_symlink(scratch.path("state"), scratch.path("link"));
  for (const char* path : {"state", "link"}) {
    const auto second = StateDirectory::open(scratch.path(path));
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::wrong_state);
  }
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path("state")));
}

TEST(StateDirectory, DatabaseLinkedFromAnotherDirectoryIsRefused) {
  const Scratch scratch;
  const auto first = StateDirectory::open(scratch.path("state"));
  ASSERT_TRUE(first);
  std::filesystem::create_directory(scratch.path("beside"));
  for (const bool hard : {false, true}) {
    std::filesystem::remove(scratch.path("beside/events.db"));
    if (hard) {
      std::filesystem::create_hard_link(scratch.path("state/events.db"), scratch.path("beside/events.db"));
    } else {
      std::filesystem::create_symlink(scratch.path("state/events.db"), scratch.path("beside/events.db"));
    }
    const auto second = StateDirectory::open(scratch.path("beside"));
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::wrong_state);
    EXPECT_EQ(files_in(scratch.path("beside")).size(), 1U);
  }
}

TEST(StateDirectory, DetectsThatItsPathLeadsElsewhere) {
  const Scratch scratch;
  const auto directory = StateDirectory::open(scratch.path("state"));
  ASSERT_TRUE(directory);
  ASSERT_TRUE((*directory)->check_ours());
  std::filesystem::rename(scratch.path("state"), scratch.path("moved"));
  EXPECT_FALSE((*directory)->check_ours());
  std::filesystem::create_directory(scratch.path("state"));
  const auto replaced = (*directory)->check_ours();
  ASSERT_FALSE(replaced);
  EXPECT_MESSAGE(replaced.error().message);
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path("state")));
}

TEST(StateDirectory, MissingDatabaseIsRefusedAndNotMade) {
  const Scratch scratch;
  { ASSERT_TRUE(SqliteStore::open(scratch.write("state/events.db", ""))); }
  std::filesystem::remove(scratch.path("state/events.db"));
  const auto before = files_in(scratch.path("state"));
  const auto refused = StateDirectory::open(scratch.path("state"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::not_found);
  EXPECT_EQ(files_in(scratch.path("state")), before);
}

TEST(StateDirectory, PassesOnTheLockOfAnExistingStore) {
  const Scratch scratch;
  { ASSERT_TRUE(SqliteStore::open(scratch.write("state/events.db", ""))); }
  const auto directory = StateDirectory::open(scratch.path("state"));
  ASSERT_TRUE(directory) << directory.error().message;
  ASSERT_FALSE(SqliteStore::open((*directory)->database())) << "it is taken already";
  EXPECT_TRUE(SqliteStore::open((*directory)->database(), {}, (*directory)->take_store_lock()));
}

TEST(StateDirectory, IsFreeAfterItsHolderEnded) {
  const Scratch scratch;
  { ASSERT_TRUE(StateDirectory::open(scratch.path("state"))); }
  EXPECT_TRUE(StateDirectory::open(scratch.path("state")));
}

TEST(StateDirectory, AnnouncesAndRetractsItsAddresses) {
  const Scratch scratch;
  auto directory = StateDirectory::open(scratch.path("state"));
  ASSERT_TRUE(directory);
  ASSERT_TRUE((*directory)->announce({"unix:///s/api.sock", "127.0.0.1:1", "tcp://127.0.0.1:2", "0.1.0", 3}));
  const auto value = proto::parse_json(text_of(scratch.path("state/daemon.json")));
  ASSERT_TRUE(value);
  EXPECT_EQ(*value->at_path("socket")->as_text(), "unix:///s/api.sock");
  EXPECT_EQ(*value->at_path("http")->as_text(), "127.0.0.1:1");
  EXPECT_EQ(*value->at_path("workers")->as_text(), "tcp://127.0.0.1:2");
  EXPECT_EQ(*value->at_path("version")->as_text(), "0.1.0");
  EXPECT_EQ(*value->at_path("daemon_epoch")->as_integer(), 3);
  EXPECT_EQ(*value->at_path("pid")->as_integer(), ::getpid());
  (*directory)->retract();
  EXPECT_FALSE(std::filesystem::exists(scratch.path("state/daemon.json")));
}

TEST(StateDirectory, StaleAnnouncementIsRemoved) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch.path("state"));
  std::ofstream(scratch.path("state/daemon.json")) << "{}";
  ASSERT_TRUE(StateDirectory::open(scratch.path("state")));
  EXPECT_FALSE(std::filesystem::exists(scratch.path("state/daemon.json")));
}

TEST(StateDirectory, PathThroughAFileIsUnavailable) {
  const Scratch scratch;
  std::ofstream(scratch.path("file")) << "x";
  for (const char* path : {"file", "file/state"}) {
    const auto directory = StateDirectory::open(scratch.path(path));
    ASSERT_FALSE(directory);
    EXPECT_EQ(directory.error().code, Errc::unavailable);
    EXPECT_MESSAGE(directory.error().message);
  }
}

}  // namespace
}  // namespace hpsearch::daemon
