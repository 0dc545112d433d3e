#include "daemon/core/state_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <span>
#include <thread>
#include <utility>

#include "daemon/store/files/disk_space.hpp"
#include "daemon/store/files/file_system.hpp"
#include "daemon/store/tools/whole_store.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/io/files/replace_file.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/record.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

constexpr int holder_tries = 50;
constexpr std::chrono::milliseconds holder_look_every{10};
constexpr std::uint64_t room_to_start = std::uint64_t{1} << 20U;

/// Makes `path` and what is missing above it, each entry durable in its parent.
Status make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0) {
    const std::size_t slash = path.rfind('/');
    return sync_directory(slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash));
  }
  if (errno == EEXIST) {
    struct stat found {};
    if (::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) {
      return Done{};
    }
    errno = ENOTDIR;
  }
  const std::size_t slash = path.rfind('/');
  if (errno != ENOENT || slash == 0 || slash == std::string::npos) {
    return system_error("cannot make the directory " + path);
  }
  if (auto made = make_directory(path.substr(0, slash)); !made) {
    return made;
  }
  return make_directory(path);
}

Result<std::string> absolute(std::string path) {
  if (path.empty()) {
    return Error{Errc::bad_request, "the state directory has no name"};
  }
  if (path.front() != '/') {
    const std::unique_ptr<char, decltype(&std::free)> here(::get_current_dir_name(), &std::free);
    if (!here) {
      return system_error("cannot tell the current directory");
    }
    path = std::string(here.get()) + "/" + path;
  }
  while (path.size() > 1 && path.back() == '/') {
    path.pop_back();
  }
  return path;
}

/// The content of the lock's file; "" while it has none.
std::string pid_in(const std::string& lock) {
  const Descriptor file(::open(lock.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 32> text{};
  const ssize_t size = file ? ::pread(file.get(), text.data(), text.size() - 1, 0) : 0;
  std::string pid(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!pid.empty() && (pid.back() < '0' || pid.back() > '9')) {
    pid.pop_back();
  }
  return pid;
}

/// The process that daemon.json names, if the file `lock` was removed.
std::string announced_in(const std::string& path) {
  const auto bytes = kernel_files().read(path + "/" + proto::daemon_file_name);
  const auto value = bytes ? proto::parse_json({reinterpret_cast<const char*>(bytes->data()), bytes->size()})
                           : Result<engine::Value>(bytes.error());
  const auto file =
      value ? proto::decode_value<proto::DaemonFile>(*value) : Result<proto::DaemonFile>(value.error());
  return file ? std::to_string(file->pid) : "";
}

/// The process that holds the directory; "" if it cannot be named. A process that has just locked it has not
/// written its pid yet: until then the file is empty, or names a process that ended long ago.
std::string holder_of(const std::string& directory) {
  for (int tries = 0; tries < holder_tries; ++tries) {
    for (const std::string& pid : {pid_in(directory + "/lock"), announced_in(directory)}) {
      if (!pid.empty() && ::kill(static_cast<pid_t>(std::atol(pid.c_str())), 0) == 0) {
        return pid;
      }
    }
    std::this_thread::sleep_for(holder_look_every);
  }
  return "";
}

Error in_use(const std::string& path) {
  const std::string pid = holder_of(path);
  return Error{Errc::wrong_state, "the state directory " + path + " is in use by " +
                                      (pid.empty() ? "another process" : "process " + pid) +
                                      "; stop that process, or use another --state-dir"};
}

/// Locks the directory itself, whatever is in it. Some network file systems have no such lock: there, the
/// database's lock and the owner's record must suffice.
Result<Descriptor> lock_directory(const std::string& path) {
  Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) {
    return system_error("cannot open " + path);
  }
  if (::flock(directory.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return in_use(path);
  }
  return directory;
}

/// Locks the database of a directory, and makes it if there was none.
Result<StoreLock> lock_store(const std::string& directory) {
  const std::string database = directory + "/events.db";
  if (auto there = check_not_missing(kernel_files(), database); !there) {
    return there.error();
  }
  auto store = StoreLock::take(database, StoreLock::Missing::made);
  if (!store) {
    return store.error().code == Errc::wrong_state ? in_use(directory) : store.error();
  }
  return store;
}

/// Takes the lock by which the command line finds out whether a daemon runs. An open-file-description lock
/// belongs to this descriptor, not to any open of the file in this process.
Result<Descriptor> lock_file(const std::string& directory) {
  const std::string path = directory + "/lock";
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file) {
    return system_error("cannot open " + path);
  }
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (::fcntl(file.get(), F_OFD_SETLK, &whole) != 0) {
    return errno == EAGAIN || errno == EACCES ? in_use(directory) : system_error("cannot lock " + path);
  }
  return file;
}

Status write_pid(const Descriptor& lock, const std::string& path) {
  const std::string pid = std::to_string(::getpid()) + "\n";
  return ::ftruncate(lock.get(), 0) == 0 ? write_all(lock.get(), std::as_bytes(std::span(pid)), path)
                                         : Status(system_error("cannot write " + path));
}

}  // namespace

Result<std::unique_ptr<StateDirectory>> StateDirectory::open(const std::string& given,
                                                             NetworkFileSystems network,
                                                             files::FileSystemAt look_at, OtherHosts others,
                                                             Store store_is) {
  auto path = absolute(given);
  if (!path) {
    return path.error();
  }
  files::FileSystemKind on = look_at(*path);
  if (auto accepted = files::accept_place(*path, on, network); !accepted) {
    return accepted.error();
  }
  if (auto made = make_directory(*path); !made) {
    return made.error();
  }
  auto locked = lock_directory(*path);
  if (!locked) {
    return locked.error();
  }
  OwnerFile owner(*path, this_owner());
  if (auto free = owner.check_free(); !free && others == OtherHosts::respected) {
    return free.error();
  }
  // Checked before its locks are relied on, and after the locks that may already show that another process
  // has it.
  if (auto passed = files::check_place(*path, on); !passed) {
    return passed.error();
  }
  std::optional<StoreLock> store;
  if (store_is == Store::here) {
    auto taken = lock_store(*path);
    if (!taken) {
      return taken.error();
    }
    store = std::move(taken).value();
  }
  auto file = lock_file(*path);
  if (!file) {
    return file.error();
  }
  std::unique_ptr<StateDirectory> directory(
      new StateDirectory(std::move(path).value(), std::move(locked).value(), std::move(file).value(),
                         std::move(store), std::move(owner), std::move(on)));
  if (auto taken = directory->take(); !taken) {
    return taken.error();
  }
  return directory;
}

StateDirectory::~StateDirectory() {
  owner_.release();
  if (sockets_) {
    sockets_->remove_if_empty();
  }
}

/// From here on the directory is ours, and may be written.
Status StateDirectory::take() {
  // The daemon.json of a daemon that was killed names addresses where no daemon listens.
  ::unlink((path_ + "/" + proto::daemon_file_name).c_str());
  // It may have been killed because the disk is full. The reserve is removed for that case; it is made again
  // when there is room.
  if (const auto space = disk_space_at(path_); space && space->free < room_to_start) {
    DiskReserve(path_ + "/reserve").give_up();
  }
  if (auto written = write_pid(lock_, path_ + "/lock"); !written) {
    return written;
  }
  if (auto taken = owner_.take(); !taken) {
    return taken;
  }
  if (on_.trust != files::Trust::local) {
    sockets_ = files::SocketDirectory::of(path_);
    if (auto made = sockets_->make(); !made) {
      return made;
    }
    warning_ = files::is_warned(path_, on_) ? "" : files::warning_of(path_, on_);
    files::note_warning(path_, on_);
  }
  return make_directory(checkpoints());
}

Status StateDirectory::check_ours() {
  struct stat ours {};
  struct stat there {};
  if (::fstat(directory_.get(), &ours) != 0 || ::stat(path_.c_str(), &there) != 0 ||
      ours.st_dev != there.st_dev || ours.st_ino != there.st_ino) {
    return Error{Errc::corrupt, "the state directory " + path_ +
                                    " was removed, renamed or replaced while this daemon wrote to it"};
  }
  return owner_.renew();
}

Status StateDirectory::announce(proto::DaemonFile announcement) {
  announcement.pid = ::getpid();
  // Not durable: its content does not outlive this process.
  const auto failed = files::replace_file(path_ + "/" + proto::daemon_file_name,
                                          engine::compact_json(proto::encode_value(announcement)) + "\n",
                                          files::Durability::of_the_process, files::Readers::owner);
  return failed ? Status(failed->as_error()) : Status(Done{});
}

void StateDirectory::retract() noexcept {
  if (!check_ours()) {
    return;  // The file there belongs to another daemon.
  }
  ::unlink((path_ + "/" + proto::daemon_file_name).c_str());
}

}  // namespace hpsearch::daemon
