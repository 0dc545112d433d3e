// Kills a process at one of its storage calls: preloaded (LD_PRELOAD) into agents and shims, whose threads
// and children strace counts apart.
//
// KILL_AT names a file that holds "PROGRAM CALL NUMBER before|after|stop". A process of that program reads it
// when it begins, and at its NUMBER-th such call, whichever thread makes it, kills itself with SIGKILL, or
// stops before it until it gets SIGCONT: once in all, by whoever renames the file first, to its name with
// ".done". CALL may be "any".

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace {

template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

struct Order {
  std::string file;
  std::string call;
  long number = 0;
  bool after = false;
  bool stop = false;
  pid_t process = 0;  // A child that has not become its program yet is not meant.
  std::atomic<long> seen{0};

  Order() {
    const char* path = std::getenv("KILL_AT");
    std::string program;
    std::string when;
    if (path != nullptr && std::ifstream(path) >> program >> call >> number >> when &&
        program == program_invocation_short_name) {
      file = path;
      after = when == "after";
      stop = when == "stop";
      process = ::getpid();
    }
  }
};

Order& order() {
  static Order only;
  return only;
}

/// Whether this call is the one.
bool is_due(const char* name) {
  Order& what = order();
  return what.process != 0 && (what.call == name || what.call == "any") && what.process == ::getpid() &&
         ++what.seen == what.number &&
         real<int(const char*, const char*)>("rename")(what.file.c_str(), (what.file + ".done").c_str()) == 0;
}

[[noreturn]] void die() {
  ::kill(::getpid(), SIGKILL);
  for (;;) {
    ::pause();
  }
}

template <typename Call>
auto struck(const char* name, Call call) {
  const bool due = is_due(name);
  if (due && order().stop) {
    ::kill(::getpid(), SIGSTOP);
  } else if (due && !order().after) {
    die();
  }
  const auto result = call();
  if (due && !order().stop) {
    die();
  }
  return result;
}

bool is_file(int descriptor) {
  struct stat info {};
  return ::fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode);
}

__attribute__((constructor)) void read_order() {
  order();
}

}  // namespace

extern "C" {

ssize_t write(int file, const void* bytes, size_t size) {
  const auto call = [&] { return real<ssize_t(int, const void*, size_t)>("write")(file, bytes, size); };
  return order().process != 0 && is_file(file) ? struck("write", call) : call();
}

ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t offset) {
  return struck("pwrite64", [&] {
    return real<ssize_t(int, const void*, size_t, off64_t)>("pwrite64")(file, bytes, size, offset);
  });
}

ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset) {
  return pwrite64(file, bytes, size, offset);
}

int fdatasync(int file) {
  return struck("fdatasync", [&] { return real<int(int)>("fdatasync")(file); });
}

int fsync(int file) {
  return struck("fsync", [&] { return real<int(int)>("fsync")(file); });
}

int ftruncate(int file, off_t size) noexcept {
  return struck("ftruncate", [&] { return real<int(int, off_t)>("ftruncate")(file, size); });
}

int rename(const char* from, const char* to) noexcept {
  return struck("rename", [&] { return real<int(const char*, const char*)>("rename")(from, to); });
}

int unlink(const char* path) noexcept {
  return struck("unlink", [&] { return real<int(const char*)>("unlink")(path); });
}

int flock(int file, int how) noexcept {
  return struck("flock", [&] { return real<int(int, int)>("flock")(file, how); });
}

int link(const char* from, const char* to) noexcept {
  return struck("link", [&] { return real<int(const char*, const char*)>("link")(from, to); });
}

int mkdir(const char* path, mode_t mode) noexcept {
  return struck("mkdir", [&] { return real<int(const char*, mode_t)>("mkdir")(path, mode); });
}

}  // extern "C"
