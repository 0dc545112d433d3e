#include "daemon/options.hpp"

#include <CLI/CLI.hpp>

#include "hpsearch/context/context_files.hpp"

namespace hpsearch::daemon {

std::variant<Options, Exit> read_options(int argc, const char* const* argv) {
  Options options;
  CLI::App app("The hpsearch daemon: stores experiments, schedules their trials on workers, serves HTTP.",
               "hpsearchd");
  app.set_version_flag("--version", HPSEARCH_VERSION);
  app.add_option("--state-dir", options.state_dir, "Directory of the store; created if it doesn't exist")
      ->required()
      ->type_name("DIR");
  app.add_option("--http", options.http, "Address for clients; port 0 selects a free port")
      ->capture_default_str()
      ->type_name("HOST:PORT");
  app.add_option("--workers", options.workers, "Address for workers; port 0 selects a free port")
      ->capture_default_str()
      ->type_name("tcp://HOST:PORT");
  app.add_flag("--curve", options.curve,
               "Encrypt worker connections and accept only workers with an allowed key (hpsearch keys)");
  app.add_option("--lost-after", options.lost_after_seconds,
                 "How long a worker may be silent before its trials run elsewhere")
      ->capture_default_str()
      ->check(CLI::Range(1.0, 1e7))
      ->type_name("SECONDS");
  app.add_option("--context-limit", options.context_limit, "Largest context of an experiment")
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{1}, context::largest_limit_megabytes))
      ->type_name("MB");
  app.add_flag("--allow-network-filesystem", options.allow_network_filesystem,
               "Accept a state directory on NFS, SMB, FUSE and similar, at your own risk");
  app.add_flag("--take-over", options.take_over,
               "Start although another host's daemon used the state directory in the last 5 minutes; only if "
               "that daemon or host is gone");
  app.add_option("--log-level", options.log_level, "Minimum log level")
      ->capture_default_str()
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}));
  app.footer(
      "Exit codes: 0 success, 1 failure, 2 wrong arguments, 4 the state directory is in use, 74 disk or "
      "store failed.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? Exit::ok : Exit::usage;
  }
  return options;
}

}  // namespace hpsearch::daemon
