#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace hpsearch::daemon {

/// What a program's end says to its caller.
enum class Exit : int { ok = 0, failed = 1, usage = 2, not_found = 3, conflict = 4, storage = 74 };

struct Options {
  std::string state_dir;
  std::string http = "127.0.0.1:8077";
  std::string workers = "tcp://127.0.0.1:8078";
  bool curve = false;  ///< Only workers whose keys were allowed are heard.
  double lost_after_seconds = 300;
  std::uint64_t context_limit = 95;  ///< Megabytes, of 10^6 bytes.
  bool allow_network_filesystem = false;
  bool take_over = false;  ///< From a daemon of another host that cannot be stopped.
  std::string log_level = "info";
};

/// Reads a command line: the options, or the code to end with after help, version or a complaint was printed.
[[nodiscard]] std::variant<Options, Exit> read_options(int argc, const char* const* argv);

}  // namespace hpsearch::daemon
