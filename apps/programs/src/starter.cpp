#include <limits.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

// hpsearchd, hpsearch-worker and hpsearch-determined if programs are static: executes the file `hpsearch`
// beside it, which runs as the program that argv[0] names (one_file.cpp).

namespace {

constexpr const char* shared_file = "hpsearch";

}  // namespace

int main(int argc, char** argv) {
  char own[PATH_MAX + 1] = {};  // readlink() fills it.
  char shared[PATH_MAX + sizeof "hpsearch"] = {};
  const ssize_t length = ::readlink("/proc/self/exe", own, PATH_MAX);
  char* slash = length > 0 ? std::strrchr(own, '/') : nullptr;
  if (slash == nullptr || argc < 1) {
    std::fprintf(stderr, "%s: cannot read /proc/self/exe: %s\n", argc > 0 ? argv[0] : "hpsearch",
                 std::strerror(errno));
    return 1;
  }
  const auto directory = static_cast<std::size_t>(slash + 1 - own);
  std::memcpy(shared, own, directory);
  std::strcpy(shared + directory, shared_file);
  argv[0] = own;  // Also if this was started by a link of another name.
  ::execv(shared, argv);
  std::fprintf(stderr, "%s: cannot start %s: %s\n", slash + 1, shared, std::strerror(errno));
  return 1;
}
