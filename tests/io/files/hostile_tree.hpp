#pragma once

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <new>
#include <string>
#include <vector>

#include "scratch.hpp"

// Trees as a program may leave them, with links, mounts and names that lead to a witness: files outside
// that must stay unchanged when a function handles the tree.

namespace hpsearch::files::test {

namespace fs = std::filesystem;

/// Files that the tested functions must not touch.
class Witness {
 public:
  explicit Witness(fs::path at) : path_(std::move(at)) {
    write_text(path_ / "thesis.tex", "three years of work");
    write_text(path_ / "results/weights", "a month of work");
    // The same names as the worker uses.
    for (const char* name :
         {"manifest.json", "spool", "journal", "process.json", "stdout.log", "usercode/train.py",
          "output/checkpoints/model", "ml/usercode/train.py", "1/0/1-1/manifest.json"}) {
      write_text(path_ / "results" / name, std::string("my own ") + name);
    }
    fs::create_directory(path_ / "results/empty");
    fs::create_symlink("thesis.tex", path_ / "link");
    fs::permissions(path_ / "results/weights", fs::perms(0444));
    fs::permissions(path_ / "results/empty", fs::perms(0500));
    before_ = state();
  }

  [[nodiscard]] const fs::path& path() const noexcept { return path_; }
  [[nodiscard]] fs::path file() const { return path_ / "thesis.tex"; }
  [[nodiscard]] fs::path directory() const { return path_ / "results"; }

  /// The changed files, or "".
  [[nodiscard]] std::string harm() const {
    const auto now = state();
    std::string said;
    for (const auto& [name, was] : before_) {
      const auto found = now.find(name);
      if (found == now.end()) {
        said += name + " is gone\n";
      } else if (found->second != was) {
        said += name + " was " + was + ", is " + found->second + "\n";
      }
    }
    for (const auto& [name, is] : now) {
      said += before_.contains(name) ? "" : name + " is new\n";
    }
    return said;
  }

 private:
  /// The properties of each name that must not change. The inode's change time isn't one: removing a hard
  /// link changes it.
  [[nodiscard]] std::map<std::string, std::string> state() const {
    std::map<std::string, std::string> all;
    const auto add = [&all](const fs::path& path) {
      struct stat info {};
      if (::lstat(path.c_str(), &info) == 0) {
        const std::string content = S_ISREG(info.st_mode)   ? text_of(path)
                                    : S_ISLNK(info.st_mode) ? fs::read_symlink(path).string()
                                                            : "";
        all[path.string()] = std::to_string(info.st_ino) + " " + std::to_string(info.st_mode) + " " +
                             std::to_string(info.st_uid) + " " + std::to_string(info.st_mtim.tv_sec) + "." +
                             std::to_string(info.st_mtim.tv_nsec) + " " + content;
      }
    };
    add(path_);
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path_)) {
      add(entry.path());
    }
    return all;
  }

  fs::path path_;
  std::map<std::string, std::string> before_;
};

/// The contents of a hostile tree: functions that copy must refuse some of them, and are tested without.
struct Hostility {
  bool pipes = true;      ///< Also devices and sockets: entries that are no file, directory or link.
  bool deep = true;       ///< More nested directories than any program needs.
  bool no_rights = true;  ///< Directories that even their owner may not read.
};

/// One level of the tree: links of all kinds, hard links, and unusual names.
inline void lay_hostile_level(const fs::path& at, const Witness& witness, const Hostility& all = {}) {
  fs::create_directories(at);
  write_text(at / "weights", "of the program");
  fs::create_symlink(witness.file(), at / "to-file");
  fs::create_directory_symlink(witness.directory(), at / "to-directory");
  fs::create_symlink(fs::relative(witness.file(), at), at / "to-file-relative");
  // Not "/": a bug in the tested code must destroy only the witness, not the machine.
  fs::create_directory_symlink(witness.path().parent_path(), at / "to-above");
  fs::create_symlink(".", at / "to-itself");
  fs::create_symlink("loop", at / "loop");
  fs::create_symlink("nowhere", at / "dangling");
  fs::create_symlink("/proc/self/cwd", at / "magic");
  fs::create_hard_link(witness.file(), at / "hard-link");
  for (const char* name : {"-rf", "new\nline", "\xff\xfe", " ", "*", "...", "\\"}) {
    write_text(at / name, name);
  }
  write_text(at / std::string(255, 'n'), "long");
  if (all.pipes) {
    ::mkfifo((at / "pipe").c_str(), 0600);
    ::mknod((at / "device").c_str(), S_IFCHR | 0600, makedev(1, 3));  // Only root may do this.
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = (at / "socket").string();
    if (name.size() < sizeof address.sun_path) {
      std::memcpy(address.sun_path, name.c_str(), name.size());
      static_cast<void>(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address));
    }
    ::close(socket);
  }
  if (all.no_rights) {
    write_text(at / "locked/inside/weights", "of the program");
    fs::create_directory_symlink(witness.directory(), at / "locked/inside/link");
    fs::permissions(at / "locked/inside", fs::perms::none);
    fs::permissions(at / "locked", fs::perms::none);
  }
}

/// `levels` nested directories, made without a path that is too long.
inline void lay_deep(const fs::path& at, int levels) {
  fs::create_directories(at);
  int directory = ::open(at.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (int level = 0; level < levels; ++level) {
    ::mkdirat(directory, "d", 0777);
    const int next = ::openat(directory, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ::close(directory);
    directory = next;
  }
  ::close(directory);
}

inline void lay_hostile_tree(const fs::path& at, const Witness& witness, const Hostility& all = {}) {
  lay_hostile_level(at, witness, all);
  lay_hostile_level(at / "a", witness, all);
  lay_hostile_level(at / "a/b", witness, all);
  if (all.deep) {
    lay_deep(at / "deep", 100);
  }
}

/// Mounts for one test, visible only to this process. usable() is false if the process may not mount.
class PrivateMounts {
 public:
  PrivateMounts()
      : usable_(::unshare(CLONE_NEWNS) == 0 &&
                ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0) {}
  PrivateMounts(const PrivateMounts&) = delete;
  PrivateMounts& operator=(const PrivateMounts&) = delete;
  ~PrivateMounts() {
    // A mount moves with a directory that is renamed.
    std::ifstream mounts("/proc/self/mounts");
    std::vector<std::string> at;
    for (std::string line; usable_ && std::getline(mounts, line);) {
      const std::size_t begin = line.find(' ') + 1;
      at.push_back(line.substr(begin, line.find(' ', begin) - begin));
    }
    for (auto place = at.rbegin(); place != at.rend(); ++place) {
      if (place->find("/hpsearch-test-") != std::string::npos) {
        ::umount2(place->c_str(), MNT_DETACH);
      }
    }
  }
  [[nodiscard]] bool usable() const noexcept { return usable_; }
  [[nodiscard]] static bool bind(const fs::path& from, const fs::path& at) {
    return ::mount(from.c_str(), at.c_str(), nullptr, MS_BIND, nullptr) == 0;
  }
  /// Mounts a file system of that many bytes.
  [[nodiscard]] static bool memory(const fs::path& at, std::size_t bytes) {
    const std::string size = "size=" + std::to_string(bytes);
    return ::mount("none", at.c_str(), "tmpfs", 0, size.c_str()) == 0;
  }

 private:
  bool usable_;
};

/// A second process that exchanges two names as fast as it can, while this object lives: thousands of times a
/// second.
class Swapper {
 public:
  Swapper(const fs::path& one, const fs::path& other)
      : exchanges_(new (::mmap(nullptr, sizeof(std::atomic<std::uint64_t>), PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0)) std::atomic<std::uint64_t>(0)),
        child_(::fork()) {
    if (child_ == 0) {
      for (;;) {  // Only system calls: other threads of the parent may have held a lock.
        if (::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0) {
          exchanges_->fetch_add(1, std::memory_order_relaxed);
        } else {
          ::sched_yield();  // One of them doesn't exist now.
        }
      }
    }
  }
  Swapper(const Swapper&) = delete;
  Swapper& operator=(const Swapper&) = delete;
  ~Swapper() {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
    ::munmap(exchanges_, sizeof *exchanges_);
  }

  /// Whether a test that has run `done` of its `rounds` needs another: on a busy machine, the other
  /// process may not have run yet.
  [[nodiscard]] bool wants_more(int done, int rounds) const {
    return done < rounds || (exchanges_->load(std::memory_order_relaxed) < 20 && done < 10 * rounds);
  }

 private:
  std::atomic<std::uint64_t>* exchanges_;  ///< Shared with the other process.
  pid_t child_;
};

}  // namespace hpsearch::files::test
