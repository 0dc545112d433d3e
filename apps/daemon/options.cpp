#include "daemon/options.hpp"

#include <CLI/CLI.hpp>

#include "hpsearch/context/context_files.hpp"

namespace hpsearch::daemon {

std::variant<Options, Exit> read_options(int argc, const char* const* argv) {
  Options options;
  CLI::App app("The hpsearch daemon: keeps experiments, leases their trials to workers, answers over HTTP.",
               "hpsearchd");
  app.set_version_flag("--version", HPSEARCH_VERSION);
  app.add_option("--state-dir", options.state_dir, "Where everything is kept; made if it does not exist")
      ->required()
      ->type_name("DIR");
  app.add_option("--http", options.http,
                 "Address for the command line and other clients; port 0 takes a free one")
      ->capture_default_str()
      ->type_name("HOST:PORT");
  app.add_option("--workers", options.workers, "Endpoint for workers; port 0 takes a free one")
      ->capture_default_str()
      ->type_name("tcp://HOST:PORT");
  app.add_flag("--curve", options.curve,
               "Encrypt what is said with workers, and hear only those whose keys were allowed (hpsearch keys)");
  app.add_option("--lost-after", options.lost_after_seconds,
                 "How long a worker may be silent before its trials are given to others")
      ->capture_default_str()
      ->check(CLI::Range(1.0, 1e7))
      ->type_name("SECONDS");
  app.add_option("--snapshot-every", options.snapshot_every,
                 "Events after which the state is saved, so that a start replays fewer of them; 0 never")
      ->capture_default_str()
      ->type_name("EVENTS");
  app.add_option("--context-limit", options.context_limit, "Largest context of an experiment that is taken")
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{1}, context::largest_limit_megabytes))
      ->type_name("MB");
  app.add_flag("--allow-network-filesystem", options.allow_network_filesystem,
               "Accept a state directory on NFS, SMB, FUSE and the like, at your own risk");
  app.add_option("--log-level", options.log_level, "Lowest level that is logged")
      ->capture_default_str()
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}));
  app.footer(
      "Exit codes: 0 ended well, 1 failed, 2 wrong use, 4 the state directory is in use, 74 storage failed.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? Exit::ok : Exit::usage;
  }
  return options;
}

}  // namespace hpsearch::daemon
