#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "daemon/access/unix_groups.hpp"

namespace hpsearch::daemon {

/// What a program's end says to its caller.
enum class Exit : int { ok = 0, failed = 1, usage = 2, not_found = 3, conflict = 4, storage = 74 };

struct Options {
  std::string state_dir;
  std::string http_socket;        ///< "" = api.sock in the state directory.
  std::vector<GroupRole> groups;  ///< Those that may use http_socket, which is named then.
  std::string http;               ///< "" = no TCP port for clients.
  bool http_open = false;         ///< Over TCP nobody needs a token.
  std::string tls_cert;           ///< PEM file; "" = none.
  std::string tls_key;
  bool tls_self_signed = false;
  std::vector<std::string> tls_names;  ///< Of the self-signed one, beside those that the daemon knows.
  std::string behind_proxy;            ///< The network of a proxy that speaks TLS; "" = none.
  std::string http_base_path;          ///< "/hpsearch": all paths are served below it as well; "" = none.
  std::string web_root;                ///< Directory with the pages; "" = those in the program.
  std::string workers;                 ///< "" = workers.sock in the state directory.
  bool workers_open = false;           ///< Over TCP workers need no key.
  std::string checkpoint_root;         ///< For experiments that name no place; "" = in the state directory.
  double lost_after_seconds = 300;
  double forget_after_seconds = 7.0 * 24 * 3'600;
  std::uint64_t context_limit = 95;                     ///< Megabytes, of 10^6 bytes.
  std::uint64_t kept_quota = std::uint64_t{40} << 30U;  ///< Bytes of all kept logs and files.
  bool no_kept_files = false;                           ///< Files stay on workers.
  bool audit_reads = false;
  bool allow_network_filesystem = false;
  bool forget_secrets = false;  ///< Start although secrets of stored experiments cannot be opened.
  bool take_over = false;       ///< From a daemon of another host that cannot be stopped.
  std::string metrics_listen;   ///< "HOST:PORT" without a token; "" = metrics are served on --http alone.
  std::uint64_t metrics_per_experiment = 50;  ///< Experiments with metrics of their own.
  std::string log_level = "info";
};

/// Reads a command line: the options, or the code to end with after help, version or a complaint was printed.
[[nodiscard]] std::variant<Options, Exit> read_options(int argc, const char* const* argv);

}  // namespace hpsearch::daemon
