#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

namespace hpsearch::workers::test {

/// While it lives no file grows beyond `bytes`: a disk that is full for this process alone.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes = 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit full{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &full);
  }
  ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
};

/// While it lives this process opens no more files.
class NoMoreFiles {
 public:
  NoMoreFiles() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int first_free = ::dup(STDOUT_FILENO);
    ::close(first_free);
    const rlimit none{.rlim_cur = static_cast<rlim_t>(first_free), .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoMoreFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoMoreFiles(const NoMoreFiles&) = delete;
  NoMoreFiles& operator=(const NoMoreFiles&) = delete;

 private:
  rlimit before_{};
};

}  // namespace hpsearch::workers::test
