#include "hpsearch/io/files/file_system_check.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <random>
#include <utility>

namespace hpsearch::files {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Status;
using ChildsLock = FileCalls::ChildsLock;

// More than a page, so that several are read back.
constexpr std::size_t content_bytes = 10'000;

std::string random_name() {
  std::random_device random;
  return ".hpsearch-check-" + std::to_string(random()) + "-" + std::to_string(random());
}

Error lies(std::string sentence) {
  return Error{Errc::bad_request, std::move(sentence)};
}

Error fails(const std::string& what) {
  return lies(what + " failed: " + std::strerror(errno));
}

/// One check. The destructor removes its files.
class Check {
 public:
  Check(const std::string& directory, FileCalls& calls)
      : directory_(directory),
        calls_(calls),
        name_(directory + "/" + random_name()),
        other_(name_ + ".new") {}
  Check(const Check&) = delete;
  Check& operator=(const Check&) = delete;
  ~Check() {
    close(file_);
    close(second_);
    calls_.remove(name_);
    calls_.remove(other_);
  }

  Status run() {
    file_ = calls_.create(name_);
    if (file_ < 0) {
      return Error{Errc::unavailable, "cannot create a file in " + directory_ + ": " + std::strerror(errno)};
    }
    for (const auto step : {&Check::creation_is_exclusive, &Check::child_sees_lock, &Check::syncs,
                            &Check::second_descriptor_reads, &Check::renames, &Check::lock_ends}) {
      if (Status done = (this->*step)(); !done) {
        return done;
      }
    }
    return Done{};
  }

 private:
  void close(int& file) {
    if (const int open = std::exchange(file, -1); open >= 0) {
      calls_.close(open);
    }
  }

  Status creation_is_exclusive() {
    int again = calls_.create(name_);
    if (again >= 0) {
      close(again);
      return lies("O_EXCL has no effect: a file that existed was created a second time");
    }
    return errno == EEXIST ? Status(Done{}) : Status(fails("creating a file that exists (O_EXCL)"));
  }

  Status child_sees_lock() {
    if (calls_.lock(file_) != 0) {
      return fails("locking a file (F_OFD_SETLK)");
    }
    switch (calls_.lock_in_child(name_)) {
      case ChildsLock::granted:
        return lies("a child process got the lock that its parent held");
      case ChildsLock::failed:
        return lies("a child process could not try a lock (F_OFD_SETLK)");
      case ChildsLock::refused:
        break;
    }
    return Done{};
  }

  Status syncs() {
    if (calls_.write(file_, content_) != 0) {
      return fails("writing to a file");
    }
    return calls_.sync(file_) == 0 ? Status(Done{}) : Status(fails("fsync of a file"));
  }

  Status second_descriptor_reads() {
    second_ = calls_.open(name_);
    std::string found;
    if (second_ < 0 || calls_.read(second_, found) != 0) {
      return fails("reading a file through a second descriptor");
    }
    close(second_);
    return found == content_ ? Status(Done{})
                             : Status(lies("a second descriptor read something else than was written"));
  }

  /// Renames over an existing file, as the store does.
  Status renames() {
    second_ = calls_.create(other_);
    if (second_ < 0) {
      return fails("creating a second file");
    }
    close(second_);
    if (calls_.rename(name_, other_) != 0) {
      return fails("renaming a file");
    }
    if (calls_.sync_directory(directory_) != 0) {
      return fails("fsync of the directory");
    }
    second_ = calls_.open(other_);
    std::string found;
    if (second_ < 0 || calls_.read(second_, found) != 0 || found != content_) {
      return lies("a renamed file was not found under its new name");
    }
    close(second_);
    second_ = calls_.open(name_);
    return second_ < 0 && errno == ENOENT ? Status(Done{})
                                          : Status(lies("a renamed file was still there under its old name"));
  }

  Status lock_ends() {
    close(file_);
    return calls_.lock_in_child(other_) == ChildsLock::granted
               ? Status(Done{})
               : Status(lies("a lock did not end when its file was closed"));
  }

  std::string directory_;
  FileCalls& calls_;
  std::string name_;
  std::string other_;
  std::string content_ = std::string(content_bytes, 'x');
  int file_ = -1;
  int second_ = -1;
};

}  // namespace

Status check_file_system(const std::string& directory, FileCalls& calls) {
  return Check(directory, calls).run();
}

}  // namespace hpsearch::files
