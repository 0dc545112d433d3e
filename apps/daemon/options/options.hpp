#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "daemon/access/unix_groups.hpp"
#include "daemon/sign_on/proxy_header.hpp"
#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/io/configuration/option.hpp"
#include "hpsearch/io/configuration/reading.hpp"

namespace hpsearch::daemon {

/// Exit codes of the program.
enum class Exit : int { ok = 0, failed = 1, usage = 2, not_found = 3, conflict = 4, storage = 74 };

struct Options {
  std::string state_dir;
  std::string store;           ///< Address of a PostgreSQL database; "" = events.db in the state directory.
  std::string store_key_file;  ///< Seals the keys in the database; "" = they stay in the state directory.
  std::string blobs;           ///< Directory of contexts, kept logs and files; "" = the state directory.
  std::string http_socket;     ///< "" = api.sock in the state directory.
  std::vector<GroupRole> groups;  ///< Groups that may use http_socket, which must be set then.
  std::string http;               ///< "" = no TCP port for clients.
  std::string sign_in_file;       ///< Provider and roles of people; "" = only tokens let in over TCP.
  ProxyHeader proxy;              ///< A proxy that names people.
  bool http_open = false;         ///< Over TCP no client needs a token.
  std::string tls_cert;           ///< PEM file; "" = none.
  std::string tls_key;
  bool tls_self_signed = false;
  std::vector<std::string> tls_names;  ///< Names in the self-signed certificate, beside those that the daemon
                                       ///< finds.
  std::string behind_proxy;            ///< The network of a proxy that terminates TLS; "" = none.
  std::string http_base_path;   ///< "/hpsearch": all paths are served below it as well; "" = no base path.
  std::string web_root;         ///< Directory with the pages; "" = those in the program.
  std::string workers;          ///< "" = workers.sock in the state directory.
  std::string advertise;        ///< "HOST" or "HOST:PORT" for workers; "" = as `workers` has it.
  bool workers_open = false;    ///< Over TCP workers need no key.
  std::string checkpoint_root;  ///< For experiments that name no storage; "" = in the state directory.
  double lost_after_seconds = 300;
  double forget_after_seconds = 7.0 * 24 * 3'600;
  std::uint64_t context_limit = 95;                     ///< In megabytes of 10^6 bytes.
  std::uint64_t kept_quota = std::uint64_t{40} << 30U;  ///< Bytes of all kept logs and files.
  bool no_kept_files = false;                           ///< Files stay on workers.
  bool audit_reads = false;
  bool allow_network_filesystem = false;
  bool forget_secrets = false;          ///< Start although secrets of stored experiments cannot be opened.
  bool standby = false;                 ///< Wait until no other daemon has the store in the database.
  double take_over_after_seconds = 15;  ///< Without a sign of life for that long, a daemon counts as dead.
  bool take_over = false;               ///< Take the store over from a daemon that cannot be stopped.
  std::string metrics_listen;  ///< "HOST:PORT" that needs no token; "" = metrics are served on --http only.
  std::uint64_t metrics_per_experiment = 50;  ///< Number of experiments with metrics of their own.
  std::string notify;                         ///< File of the receivers; "" = there are none.
  std::string backup_to;            ///< Directory, or address in an object store; "" = no scheduled backups.
  std::string backup_endpoint_url;  ///< Where the object store is reached; "" = at its provider.
  double backup_every_seconds = 24.0 * 3'600;
  std::uint64_t backup_keep = 7;
  std::string backup_key_file;          ///< "" = needs backup_no_secrets.
  bool backup_no_secrets = false;       ///< Scheduled backups don't have the keys of the state directory.
  double keep_experiments_seconds = 0;  ///< After their end; 0 = for ever.
  std::optional<std::uint64_t> stopped_curve_reports;  ///< In curves of stopped trials; null = all.
  std::uint64_t keep_logs = std::numeric_limits<std::uint64_t>::max();  ///< Bytes; a part of kept_quota.
  std::string log_level = "info";
  std::string log_format;  ///< As set_log_format() takes it.

  configuration::CommandLine command_line{};  ///< SIGHUP reads files and variables again, beside these flags.
  configuration::Values given{};              ///< The texts of the members above.
};

/// All options of the program, which store their values in `options`.
[[nodiscard]] configuration::Program program_of(Options& options);

/// Options that don't fit together. The path of a problem is a key.
[[nodiscard]] engine::Problems conflicts_of(const Options& options);

/// Reads a command line, configuration files and variables: the options, or the exit code after help, a
/// version, a description or problems were printed.
[[nodiscard]] std::variant<Options, Exit> read_options(int argc, const char* const* argv);

/// The options after SIGHUP: those that need no restart are changed. If there is a problem, nothing is.
struct ReloadedOptions {
  Options options;
  configuration::Reread reread;
  configuration::RereadSentences sentences;
};
[[nodiscard]] ReloadedOptions reload(const Options& running);

}  // namespace hpsearch::daemon
