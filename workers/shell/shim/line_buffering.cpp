#include "hpsearch/workers/shell/shim/line_buffering.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

namespace hpsearch::workers {

namespace {

constexpr std::array<const char*, 4> libraries{
    "/usr/libexec/coreutils/libstdbuf.so",
    "/usr/lib/coreutils/libstdbuf.so",
    "/usr/lib/x86_64-linux-gnu/coreutils/libstdbuf.so",
    "/usr/lib/aarch64-linux-gnu/coreutils/libstdbuf.so",
};

void append(std::string& list, const std::string& item) {
  list.append(list.empty() ? "" : ":").append(item);
}

}  // namespace

void buffer_by_lines(ProgramStart& program) {
  const auto* library = std::find_if(libraries.begin(), libraries.end(),
                                     [](const char* file) { return ::access(file, R_OK) == 0; });
  if (library == libraries.end() || program.environment.contains("_STDBUF_O")) {
    return;
  }
  program.environment["_STDBUF_O"] = "L";
  append(program.environment["LD_PRELOAD"], *library);
  // Programs with the address sanitizer refuse to start after another preloaded library.
  append(program.environment["ASAN_OPTIONS"], "verify_asan_link_order=0");
}

}  // namespace hpsearch::workers
