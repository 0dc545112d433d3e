#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

namespace hpsearch::workers::test {

/// Limits a resource of this process while it lives.
class Limited {
 public:
  Limited(__rlimit_resource resource, rlim_t most) : resource_(resource) {
    ::getrlimit(resource_, &before_);
    const rlimit limit{.rlim_cur = most, .rlim_max = before_.rlim_max};
    ::setrlimit(resource_, &limit);
  }
  ~Limited() { ::setrlimit(resource_, &before_); }
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;

 private:
  __rlimit_resource resource_;
  rlimit before_{};
};

/// No file can exceed `bytes`: a disk that is full only for this process.
class FullDisk : Limited {
 public:
  explicit FullDisk(rlim_t bytes = 0) : Limited(RLIMIT_FSIZE, bytes) { ::signal(SIGXFSZ, SIG_IGN); }
};

/// This process can't open more files.
class NoMoreFiles : Limited {
 public:
  NoMoreFiles() : Limited(RLIMIT_NOFILE, static_cast<rlim_t>(first_free())) {}

 private:
  static int first_free() {
    const int file = ::dup(STDOUT_FILENO);
    ::close(file);
    return file;
  }
};

}  // namespace hpsearch::workers::test
