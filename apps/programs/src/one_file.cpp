#include <sys/prctl.h>

#include <string_view>

#include "cli/verbs/command_line.hpp"
#include "hpsearch/programs/programs.hpp"
#include "hpsearch/searchers/registry.hpp"
#include "hpsearch/workers/determined/harness_program.hpp"
#include "hpsearch/workers/shell/worker_program.hpp"

// The file `hpsearch` if programs are static (HPSEARCH_STATIC). Each program would contain the same
// libraries, which make up most of it, so they are one file: it runs as the program that argv[0] names,
// otherwise as the command line. The files with the other names start it (starter.cpp).

namespace {

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

/// Otherwise process lists show the file's name.
void show_as(const char* name) {
  static_cast<void>(::prctl(PR_SET_NAME, name));
}

}  // namespace

int main(int argc, char** argv) {
  using namespace hpsearch;
  const std::string_view name = argc > 0 ? file_name(argv[0]) : "";
  // A worker starts its own file, as /proc/self/exe, to list its devices.
  const bool lists_devices = name == "exe" && argc > 1 && argv[1] == std::string_view("--list-devices");
  if (name == "hpsearchd") {
    show_as("hpsearchd");
    return programs::run_daemon(argc, argv, searchers::registry());
  }
  if (name == "hpsearch-worker" || lists_devices) {
    show_as("hpsearch-worker");
    return workers::run_worker_program(argc, argv);
  }
  if (name == "hpsearch-determined") {
    show_as("hpsearch-determ");  // At most 15 characters.
    return workers::run_harness_program(argc);
  }
  return cli::run_command_line(argc, argv);
}
